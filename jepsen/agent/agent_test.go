package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
)

// controller is a client of an agent that serves a folder of this machine.
type controller struct {
	t          *testing.T
	connection net.Conn
	answers    *bufio.Scanner
}

func agentFor(t *testing.T, folder string) net.Listener {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { listener.Close() })
	go serve(listener, func() (*os.File, error) { return os.Open(folder) })
	return listener
}

func connect(t *testing.T, listener net.Listener) *controller {
	connection, err := net.Dial("tcp", listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { connection.Close() })
	return &controller{t, connection, bufio.NewScanner(connection)}
}

func (c *controller) ask(text string, arguments ...interface{}) string {
	c.t.Helper()
	if _, err := fmt.Fprintf(c.connection, text+"\n", arguments...); err != nil {
		c.t.Fatal(err)
	}
	if !c.answers.Scan() {
		c.t.Fatal("no answer to ", text)
	}
	return c.answers.Text()
}

func (c *controller) expect(answer, text string, arguments ...interface{}) {
	c.t.Helper()
	if got := c.ask(text, arguments...); got != answer {
		c.t.Errorf("%s: %s, not %s", text, got, answer)
	}
}

func TestRegisters(t *testing.T) {
	c := connect(t, agentFor(t, t.TempDir()))
	c.expect(`{"type":"ok"}`, `{"f":"mkdir","dir":"r"}`)
	c.expect(`{"type":"ok"}`, `{"f":"reg.read","dir":"r"}`)
	c.expect(`{"type":"ok"}`, `{"f":"reg.write","dir":"r","value":4}`)
	c.expect(`{"type":"ok","value":4}`, `{"f":"reg.read","dir":"r"}`)
	c.expect(`{"type":"ok"}`, `{"f":"mkdir","dir":"v"}`)
	c.expect(`{"type":"ok"}`, `{"f":"ver.read","dir":"v"}`)
	c.expect(`{"type":"ok"}`, `{"f":"ver.write","dir":"v","value":1}`)
	c.expect(`{"type":"ok"}`, `{"f":"ver.cas","dir":"v","old":1,"value":2}`)
	c.expect(`{"type":"fail","error":"mismatch"}`, `{"f":"ver.cas","dir":"v","old":1,"value":3}`)
	c.expect(`{"type":"ok","value":2}`, `{"f":"ver.read","dir":"v"}`)
}

// Of many who exchange the same value at once, one succeeds.
func TestOneExchangeWins(t *testing.T) {
	listener := agentFor(t, t.TempDir())
	first := connect(t, listener)
	first.ask(`{"f":"mkdir","dir":"v"}`)
	first.ask(`{"f":"ver.write","dir":"v","value":0}`)
	var wait sync.WaitGroup
	won := make(chan int, 8)
	for i := 1; i <= 8; i++ {
		wait.Add(1)
		c := connect(t, listener)
		go func(i int) {
			defer wait.Done()
			if strings.Contains(c.ask(`{"f":"ver.cas","dir":"v","old":0,"value":%d}`, i), `"ok"`) {
				won <- i
			}
		}(i)
	}
	wait.Wait()
	if len(won) != 1 {
		t.Fatalf("%d have won", len(won))
	}
	first.expect(fmt.Sprintf(`{"type":"ok","value":%d}`, <-won), `{"f":"ver.read","dir":"v"}`)
}

func TestLogsSetsCountersAndContent(t *testing.T) {
	folder := t.TempDir()
	c := connect(t, agentFor(t, folder))
	c.expect(`{"type":"ok","value":[]}`, `{"f":"log.read"}`)
	c.expect(`{"type":"ok"}`, `{"f":"log.append","value":7}`)
	c.expect(`{"type":"ok"}`, `{"f":"log.append","value":8}`)
	c.expect(`{"type":"ok","value":[7,8]}`, `{"f":"log.read"}`)
	if err := os.Truncate(filepath.Join(folder, "log"), 25); err != nil {
		t.Fatal(err)
	}
	c.expect(`{"type":"ok","value":[7,-1]}`, `{"f":"log.read"}`)
	if err := os.WriteFile(filepath.Join(folder, "log"), make([]byte, 20), 0o600); err != nil {
		t.Fatal(err)
	}
	c.expect(`{"type":"ok","value":[-1]}`, `{"f":"log.read"}`)

	c.ask(`{"f":"mkdir","dir":"s"}`)
	c.expect(`{"type":"ok"}`, `{"f":"set.add","dir":"s","value":3}`)
	c.expect(`{"type":"fail","error":"EEXIST"}`, `{"f":"set.add","dir":"s","value":3}`)
	if err := os.WriteFile(filepath.Join(folder, "s/4"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	c.expect(`{"type":"ok","value":[3]}`, `{"f":"set.read","dir":"s"}`)

	c.expect(`{"type":"ok","value":0}`, `{"f":"counter.read"}`)
	c.expect(`{"type":"ok"}`, `{"f":"counter.add","value":2}`)
	c.expect(`{"type":"ok"}`, `{"f":"counter.add","value":1}`)
	c.expect(`{"type":"ok","value":3}`, `{"f":"counter.read"}`)

	written := c.ask(`{"f":"content.write","value":1,"bytes":100000}`)
	c.expect(written, `{"f":"content.read","value":1}`)
	c.expect(`{"type":"fail","error":"ENOENT"}`, `{"f":"content.read","value":2}`)
	large := c.ask(`{"f":"large.write","dir":"s","value":1,"bytes":7000000}`)
	c.expect(large, `{"f":"content.read","dir":"s","value":1}`)
	c.ask(`{"f":"mkdir","dir":"t"}`)
	c.expect(large, `{"f":"content.write","dir":"t","value":1,"bytes":7000000}`)
}

func TestNames(t *testing.T) {
	c := connect(t, agentFor(t, t.TempDir()))
	c.ask(`{"f":"mkdir","dir":"d"}`)
	c.expect(`{"type":"ok"}`, `{"f":"ns.create","path":"d/a"}`)
	c.expect(`{"type":"fail","error":"EEXIST"}`, `{"f":"ns.create","path":"d/a"}`)
	c.expect(`{"type":"ok"}`, `{"f":"ns.link","path":"d/a","to":"d/b"}`)
	c.expect(`{"type":"ok","value":{"nlink":2}}`, `{"f":"ns.stat","path":"d/b"}`)
	c.expect(`{"type":"ok"}`, `{"f":"ns.rename","path":"d/b","to":"d/c"}`)
	c.expect(`{"type":"ok","value":{"entries":["a","c"]}}`, `{"f":"ns.readdir","path":"d"}`)
	c.expect(`{"type":"ok"}`, `{"f":"ns.exists","path":"d/a"}`)
	c.expect(`{"type":"ok"}`, `{"f":"ns.unlink","path":"d/a"}`)
	c.expect(`{"type":"fail","error":"ENOENT"}`, `{"f":"ns.exists","path":"d/a"}`)
	c.expect(`{"type":"fail","error":"ENOENT"}`, `{"f":"ns.unlink","path":"d/a"}`)
	c.expect(`{"type":"fail","error":"ENOENT"}`, `{"f":"ns.stat","path":"d/a"}`)
	c.expect(`{"type":"fail","error":"ENOENT"}`, `{"f":"ns.rename","path":"d/a","to":"d/x"}`)
}

func TestMarks(t *testing.T) {
	folder := t.TempDir()
	c := connect(t, agentFor(t, folder))
	c.ask(`{"f":"mkdir","dir":"w"}`)
	c.expect(`{"type":"fail","error":"ENOENT"}`, `{"f":"mark.read","path":"w/3.1"}`)
	c.expect(`{"type":"ok"}`, `{"f":"mark.place","dir":"w","path":"w/3.1","value":3}`)
	c.expect(`{"type":"ok","value":{"mark":3}}`, `{"f":"mark.read","path":"w/3.1"}`)
	c.expect(`{"type":"ok","value":{"entries":["3.1"]}}`, `{"f":"ns.readdir","path":"w"}`)
	if err := os.WriteFile(filepath.Join(folder, "w/3.1"), make([]byte, 1), 0o600); err != nil {
		t.Fatal(err)
	}
	c.expect(`{"type":"ok","value":{"mark":-1}}`, `{"f":"mark.read","path":"w/3.1"}`)
}

func TestLocksOfEachKind(t *testing.T) {
	for _, kind := range []string{"flock", "ofd"} {
		listener := agentFor(t, t.TempDir())
		one, two := connect(t, listener), connect(t, listener)
		acquire, release := `{"f":"lock.acquire","kind":"`+kind+`"}`, `{"f":"lock.release","kind":"`+kind+`"}`
		one.expect(`{"type":"ok","value":{"token":1}}`, acquire)
		two.expect(`{"type":"fail","error":"busy"}`, acquire)
		one.expect(`{"type":"ok"}`, release)
		two.expect(`{"type":"ok","value":{"token":2}}`, acquire)
		// A client that goes away leaves no lock.
		two.connection.Close()
		for !strings.Contains(one.ask(acquire), `"token":3`) {
			continue
		}
	}
}

func TestWhatMayBeConcluded(t *testing.T) {
	failed := func(number syscall.Errno) error { return &fs.PathError{Op: "x", Path: "y", Err: number} }
	for _, c := range []struct {
		err      error
		expected outcome
	}{
		{nil, outcome{Type: "ok"}},
		{failed(syscall.ENOSPC), outcome{Type: "fail", Error: "ENOSPC"}},
		{afterwards(failed(syscall.ENOSPC)), outcome{Type: "info", Error: "ENOSPC"}},
		{failed(syscall.EIO), outcome{Type: "info", Error: "EIO"}},
		{failed(syscall.ENOTCONN), outcome{Type: "info", Error: "ENOTCONN"}},
		{seen(failed(syscall.EEXIST)), outcome{Type: "fail", Error: "EEXIST"}},
		{seen(failed(syscall.EIO)), outcome{Type: "info", Error: "EIO"}},
		{errors.New("odd"), outcome{Type: "info", Error: "odd"}},
	} {
		if got := classify(nil, c.err); got != c.expected {
			t.Errorf("%v: %v, not %v", c.err, got, c.expected)
		}
	}
}

// What lies below a mount that is gone is not the mount.
func TestNothingIsDoneWhereNothingIsMounted(t *testing.T) {
	folder := t.TempDir()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { listener.Close() })
	go serve(listener, mounted(folder))
	c := connect(t, listener)
	c.expect(`{"type":"info","error":"`+folder+` is not mounted"}`, `{"f":"mkdir","dir":"d"}`)
	if entries, err := os.ReadDir(folder); err != nil || len(entries) > 0 {
		t.Errorf("%v %v", entries, err)
	}
}

func TestNonsense(t *testing.T) {
	c := connect(t, agentFor(t, t.TempDir()))
	for _, text := range []string{`{`, `{"f":"no"}`, `{"f":"log.read","dir":"../x"}`, `{"f":"ns.stat","path":"/etc"}`} {
		var answer outcome
		if err := json.Unmarshal([]byte(c.ask(text)), &answer); err != nil || answer.Type != "bad" {
			t.Errorf("%s: %v %v", text, answer, err)
		}
	}
}

// A large file of the global partition has its name once it is whole, with the same bytes as any.
func TestWholeFiles(t *testing.T) {
	remembered = 0
	folder := t.TempDir()
	c := connect(t, agentFor(t, folder))
	c.ask(`{"f":"mkdir","dir":"g"}`)
	c.ask(`{"f":"mkdir","dir":"l"}`)
	written := c.ask(`{"f":"whole.write","dir":"g","value":3,"bytes":7000000}`)
	c.expect(c.ask(`{"f":"large.write","dir":"l","value":3,"bytes":7000000}`), `{"f":"content.read","dir":"g","value":3}`)
	c.expect(written, `{"f":"whole.settled","dir":"g","value":3}`)
	c.expect(`{"type":"fail","error":"ENOENT"}`, `{"f":"whole.settled","dir":"g","value":4}`)
	entries, err := os.ReadDir(filepath.Join(folder, "g"))
	if err != nil || len(entries) != 1 {
		t.Errorf("more than the file is left: %v, %v", entries, err)
	}
}
