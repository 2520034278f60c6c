package upgrade

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
)

func archiveEnd(system string) string {
	if system == "windows" {
		return ".zip"
	}
	return ".tar.gz"
}

// ProgramName is the name of the program in an archive for a system.
func ProgramName(system string) string {
	if system == "windows" {
		return "anamnesis.exe"
	}
	return "anamnesis"
}

// unpack returns the program of an archive. Nothing else of it is read, and nothing written.
func unpack(archive []byte, system string) ([]byte, error) {
	open := untar
	if system == "windows" {
		open = unzip
	}
	program, err := open(archive, ProgramName(system))
	if err != nil {
		return nil, fmt.Errorf("read the archive: %w", err)
	}
	return program, nil
}

func untar(archive []byte, name string) ([]byte, error) {
	gz, err := gzip.NewReader(bytes.NewReader(archive))
	if err != nil {
		return nil, err
	}
	for tr := tar.NewReader(gz); ; {
		h, err := tr.Next()
		if errors.Is(err, io.EOF) {
			return nil, errors.New("no program is in it")
		}
		if err != nil {
			return nil, err
		}
		if h.Name == name && h.Typeflag == tar.TypeReg {
			return bounded(tr)
		}
	}
}

func unzip(archive []byte, name string) ([]byte, error) {
	zr, err := zip.NewReader(bytes.NewReader(archive), int64(len(archive)))
	if err != nil {
		return nil, err
	}
	for _, f := range zr.File {
		if f.Name == name && f.Mode().IsRegular() {
			r, err := f.Open()
			if err != nil {
				return nil, err
			}
			defer func() { _ = r.Close() }() // what was read counts
			return bounded(r)
		}
	}
	return nil, errors.New("no program is in it")
}

func bounded(r io.Reader) ([]byte, error) {
	data, err := io.ReadAll(io.LimitReader(r, maxProgram+1))
	if err == nil && len(data) > maxProgram {
		err = errors.New("the program in it is too large")
	}
	return data, err
}
