package web_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"sync"
	"time"
)

// A browser is a Chromium that we drive by its own protocol, over a pipe: no port, no
// library. It is safe for concurrent use.
type browser struct {
	cmd *exec.Cmd
	out *os.File

	mu      sync.Mutex
	next    int
	waiting map[int]chan message
	heard   func(method string, params json.RawMessage)
}

// A message is a command, an answer or an event.
type message struct {
	ID      int             `json:"id,omitempty"`
	Session string          `json:"sessionId,omitempty"`
	Method  string          `json:"method,omitempty"`
	Params  json.RawMessage `json:"params,omitempty"`
	Result  json.RawMessage `json:"result,omitempty"`
	Error   *struct {
		Message string `json:"message"`
	} `json:"error,omitempty"`
}

// startBrowser starts a Chromium with a separate folder for what it keeps.
func startBrowser(ctx context.Context, program, folder string, heard func(string, json.RawMessage)) (*browser, error) {
	inR, inW, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	outR, outW, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	cmd := exec.CommandContext(ctx, program, "--headless", "--remote-debugging-pipe", "--user-data-dir="+folder, "--no-first-run",
		"--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--disable-background-networking", "--disable-sync", "--hide-scrollbars",
		"--disable-component-update", "about:blank")
	cmd.ExtraFiles = []*os.File{inR, outW} // the browser reads 3 and writes 4
	cmd.Env = append(os.Environ(), "HOME="+folder)
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	_, _ = inR.Close(), outW.Close()
	b := &browser{cmd: cmd, out: inW, waiting: make(map[int]chan message), heard: heard}
	go b.listen(outR)
	return b, nil
}

// listen hands answers to those who wait for them.
func (b *browser) listen(from *os.File) {
	defer from.Close()
	r := bufio.NewReaderSize(from, 1<<20)
	for {
		data, err := r.ReadBytes(0)
		if err != nil {
			break
		}
		var m message
		if json.Unmarshal(data[:len(data)-1], &m) != nil {
			continue
		}
		if m.ID == 0 {
			b.heard(m.Method, m.Params)
			continue
		}
		b.mu.Lock()
		answer := b.waiting[m.ID]
		delete(b.waiting, m.ID)
		b.mu.Unlock()
		if answer != nil {
			answer <- m
		}
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	for id, answer := range b.waiting {
		delete(b.waiting, id)
		close(answer)
	}
}

// call sends a command and waits for its answer; result may be nil.
func (b *browser) call(ctx context.Context, session, method string, params, result any) error {
	data, err := json.Marshal(params)
	if err != nil {
		return err
	}
	answer := make(chan message, 1)
	b.mu.Lock()
	b.next++
	m := message{ID: b.next, Session: session, Method: method, Params: data}
	b.waiting[m.ID] = answer
	data, err = json.Marshal(m)
	if err == nil {
		_, err = b.out.Write(append(data, 0))
	}
	b.mu.Unlock()
	if err != nil {
		return fmt.Errorf("%s: %w", method, err)
	}
	select {
	case <-ctx.Done():
		return fmt.Errorf("%s: %w", method, ctx.Err())
	case m, ok := <-answer:
		switch {
		case !ok:
			return fmt.Errorf("%s: the browser is gone", method)
		case m.Error != nil:
			return fmt.Errorf("%s: %s", method, m.Error.Message)
		case result != nil:
			return json.Unmarshal(m.Result, result)
		}
		return nil
	}
}

// close ends the browser.
func (b *browser) close() {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	_ = b.call(ctx, "", "Browser.close", map[string]any{}, nil)
	_ = b.out.Close()
	_ = b.cmd.Wait()
}

// A tab is a page of a browser.
type tab struct {
	b       *browser
	ctx     context.Context
	session string
}

type object = map[string]any

// open opens a tab.
func (b *browser) open(ctx context.Context) (*tab, error) {
	var target struct{ TargetID string }
	if err := b.call(ctx, "", "Target.createTarget", object{"url": "about:blank"}, &target); err != nil {
		return nil, err
	}
	var attached struct{ SessionID string }
	if err := b.call(ctx, "", "Target.attachToTarget", object{"targetId": target.TargetID, "flatten": true}, &attached); err != nil {
		return nil, err
	}
	t := &tab{b, ctx, attached.SessionID}
	for _, domain := range []string{"Page", "Runtime", "Log", "Network"} {
		if err := t.call(domain+".enable", object{}, nil); err != nil {
			return nil, err
		}
	}
	return t, nil
}

func (t *tab) call(method string, params, result any) error {
	return t.b.call(t.ctx, t.session, method, params, result)
}

// eval evaluates JavaScript, waits for what it promises, and reads its value into v.
func (t *tab) eval(script string, v any) error {
	var answer struct {
		Result struct {
			Value json.RawMessage `json:"value"`
		} `json:"result"`
		Exception *struct {
			Text      string `json:"text"`
			Exception struct {
				Description string `json:"description"`
			} `json:"exception"`
		} `json:"exceptionDetails"`
	}
	err := t.call("Runtime.evaluate", object{"expression": script, "returnByValue": true, "awaitPromise": true}, &answer)
	switch {
	case err != nil:
		return err
	case answer.Exception != nil:
		return errors.New(answer.Exception.Text + " " + answer.Exception.Exception.Description)
	case v == nil || len(answer.Result.Value) == 0:
		return nil
	}
	return json.Unmarshal(answer.Result.Value, v)
}

// until waits for a condition; a page that is just being left is no failure.
func (t *tab) until(condition string) error {
	last := error(nil)
	for end := time.Now().Add(30 * time.Second); time.Now().Before(end) && t.ctx.Err() == nil; time.Sleep(15 * time.Millisecond) {
		var ok bool
		if last = t.eval("Boolean("+condition+")", &ok); last == nil && ok {
			return nil
		}
	}
	return errors.Join(errors.New("waited in vain for "+condition), last, t.ctx.Err())
}

// visit goes to an address and waits until the page is there with its scripts.
func (t *tab) visit(address string) error {
	if err := t.eval("window.left = true", nil); err != nil {
		return err
	}
	var failed struct{ ErrorText string }
	if err := t.call("Page.navigate", object{"url": address}, &failed); err != nil {
		return err
	}
	if failed.ErrorText != "" {
		return fmt.Errorf("visit %s: %s", address, failed.ErrorText)
	}
	return t.until("!window.left && document.readyState === 'complete'")
}

// resize sets the size of the window, in CSS pixels.
func (t *tab) resize(width, height int) error {
	return t.call("Emulation.setDeviceMetricsOverride", object{"width": width, "height": height, "deviceScaleFactor": 1, "mobile": false}, nil)
}

// picture takes a screenshot of what is seen, or of the whole page.
func (t *tab) picture(whole bool) (png []byte, err error) {
	var shot struct {
		Data []byte `json:"data"`
	}
	err = t.call("Page.captureScreenshot", object{"format": "png", "captureBeyondViewport": whole}, &shot)
	return shot.Data, err
}

// keys are those that have no text.
var keys = map[string]int{"Enter": 13, "Escape": 27, "Tab": 9, "ArrowDown": 40, "ArrowUp": 38}

// press presses a key.
func (t *tab) press(key string, control bool) error {
	p := object{"key": key}
	if code, ok := keys[key]; ok {
		p["windowsVirtualKeyCode"] = code
		if key == "Enter" {
			p["text"] = "\r"
		}
	} else {
		p["windowsVirtualKeyCode"] = int(key[0]) &^ 0x20
		if !control {
			p["text"] = key
		}
	}
	if control {
		p["modifiers"] = 2
	}
	p["type"] = "keyDown"
	if err := t.call("Input.dispatchKeyEvent", p, nil); err != nil {
		return err
	}
	delete(p, "text")
	p["type"] = "keyUp"
	return t.call("Input.dispatchKeyEvent", p, nil)
}

// write types a text into what has the focus.
func (t *tab) write(text string) error { return t.call("Input.insertText", object{"text": text}, nil) }
