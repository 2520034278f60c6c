package lifecycle

import (
	"errors"
	"fmt"
	"os/exec"
	"syscall"
	"unsafe"

	"golang.org/x/sys/windows"
)

// A group is a program and all that it starts, in a job that ends them when it is closed.
type group struct {
	cmd *exec.Cmd
	job windows.Handle
}

// prepare makes the job before the program is started.
func (g *group) prepare(cmd *exec.Cmd) (err error) {
	cmd.SysProcAttr = &syscall.SysProcAttr{CreationFlags: windows.CREATE_NEW_PROCESS_GROUP | windows.CREATE_NO_WINDOW}
	cmd.Cancel, g.cmd = g.kill, cmd
	if g.job, err = windows.CreateJobObject(nil, nil); err != nil {
		return fmt.Errorf("make a job for it: %w", err)
	}
	limits := windows.JOBOBJECT_EXTENDED_LIMIT_INFORMATION{
		BasicLimitInformation: windows.JOBOBJECT_BASIC_LIMIT_INFORMATION{LimitFlags: windows.JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE},
	}
	_, err = windows.SetInformationJobObject(g.job, windows.JobObjectExtendedLimitInformation,
		uintptr(unsafe.Pointer(&limits)), uint32(unsafe.Sizeof(limits)))
	if err != nil {
		return fmt.Errorf("limit its job: %w", err)
	}
	return nil
}

// started puts the program into the job; what it starts is in it from then on.
func (g *group) started() error {
	h, err := windows.OpenProcess(windows.PROCESS_SET_QUOTA|windows.PROCESS_TERMINATE, false, uint32(g.cmd.Process.Pid))
	if err != nil {
		return err
	}
	defer func() { _ = windows.CloseHandle(h) }()
	return windows.AssignProcessToJobObject(g.job, h)
}

// kill ends the program and all that is in the job.
func (g *group) kill() error {
	return errors.Join(windows.TerminateJobObject(g.job, 1), g.cmd.Process.Kill())
}

func (g *group) close() {
	if g.job != 0 {
		_ = windows.CloseHandle(g.job)
	}
}
