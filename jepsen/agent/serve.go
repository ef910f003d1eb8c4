package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
)

// request is an operation in a folder below the mount. Which fields count depends on f.
type request struct {
	F    string `json:"f"`
	Dir  string `json:"dir"`
	Path string `json:"path"`
	To   string `json:"to"`
	// Value is a number to write, append or add; Old what an exchange expects.
	Value int64 `json:"value"`
	Old   int64 `json:"old"`
	// Bytes is how much content to write.
	Bytes int64 `json:"bytes"`
	// Kind of lock: flock or ofd.
	Kind string `json:"kind"`
}

// outcome is Jepsen's: ok, fail (certainly without effect) or info (unknown).
type outcome struct {
	Type  string      `json:"type"`
	Value interface{} `json:"value,omitempty"`
	Error string      `json:"error,omitempty"`
}

// observation is an error that says what was found, and that nothing was done.
type observation string

func (o observation) Error() string { return string(o) }

// client is a connection's state.
type client struct {
	// mount is the mount's root as it was when the client came: a path through an open descriptor, which
	// leads to the same mount, or nowhere, when the mount dies and another takes its place.
	mount  string
	number int64
	made   int64
	locks  map[string]*heldLock
}

var clients int64

type operation func(c *client, r *request) (interface{}, error)

var operations = map[string]operation{
	"reg.read": registerRead, "reg.write": registerWrite,
	"ver.read": versionRead, "ver.write": versionWrite, "ver.cas": versionExchange,
	"log.append": logAppend, "log.read": logRead,
	"ns.create": nsCreate, "ns.unlink": nsUnlink, "ns.rename": nsRename, "ns.link": nsLink,
	"ns.exists": nsExists, "ns.stat": nsStat, "ns.readdir": nsReaddir,
	"lock.acquire": lockAcquire, "lock.release": lockRelease,
	"set.add": setAdd, "set.read": setRead,
	"counter.add": counterAdd, "counter.read": counterRead,
	"content.write": contentWrite, "content.read": contentRead, "large.write": largeWrite,
	"whole.write": wholeWrite, "whole.settled": wholeSettled,
	"mark.place": markPlace, "mark.read": markRead,
	"mkdir": makeDirectory,
}

// place opens the root of what is served.
type place func() (*os.File, error)

// mounted is the root of a mount, not the folder that lies below while nothing is mounted.
func mounted(folder string) place {
	return func() (*os.File, error) {
		root, err := os.Open(folder)
		if err != nil {
			return nil, err
		}
		var about syscall.Statfs_t
		if err := syscall.Fstatfs(int(root.Fd()), &about); err != nil {
			root.Close()
			return nil, err
		}
		if about.Type != fuseMagic {
			root.Close()
			return nil, errors.New(folder + " is not mounted")
		}
		return root, nil
	}
}

const fuseMagic = 0x65735546

func serve(listener net.Listener, root place) {
	for {
		connection, err := listener.Accept()
		if err != nil {
			return
		}
		c := &client{number: atomic.AddInt64(&clients, 1), locks: map[string]*heldLock{}}
		go c.serve(connection, root)
	}
}

func (c *client) serve(connection net.Conn, at place) {
	defer connection.Close()
	defer c.releaseAll()
	root, gone := at()
	if gone == nil {
		defer root.Close()
		c.mount = fmt.Sprintf("/proc/self/fd/%d", root.Fd())
	}
	lines := bufio.NewScanner(connection)
	answers := json.NewEncoder(connection)
	for lines.Scan() {
		var r request
		var answer outcome
		if err := json.Unmarshal(lines.Bytes(), &r); err != nil {
			answer = outcome{Type: "bad", Error: err.Error()}
		} else if gone != nil {
			answer = outcome{Type: "info", Error: name(gone)}
		} else {
			answer = c.do(&r)
		}
		if answers.Encode(answer) != nil {
			return
		}
	}
}

func (c *client) do(r *request) outcome {
	do, known := operations[r.F]
	if !known {
		return outcome{Type: "bad", Error: "unknown operation " + r.F}
	}
	for _, path := range []string{r.Dir, r.Path, r.To} {
		if filepath.IsAbs(path) || strings.Contains("/"+path+"/", "/../") {
			return outcome{Type: "bad", Error: "path " + path + " leaves the mount"}
		}
	}
	value, err := do(c, r)
	return classify(value, err)
}

// classify tells what a controller may conclude. An operation returns the plain error of a call that
// changes nothing when it fails, and wraps in unsure whatever comes once something may have been done.
func classify(value interface{}, err error) outcome {
	var seen observation
	var number syscall.Errno
	var doubtful *unsure
	switch {
	case err == nil:
		return outcome{Type: "ok", Value: value}
	case errors.As(err, &seen):
		return outcome{Type: "fail", Error: string(seen)}
	case errors.As(err, &doubtful):
		return outcome{Type: "info", Error: name(err)}
	case errors.As(err, &number) && without[number]:
		return outcome{Type: "fail", Error: name(err)}
	default:
		return outcome{Type: "info", Error: name(err)}
	}
}

// without are errors by which a single call says that it did nothing.
var without = map[syscall.Errno]bool{
	syscall.ENOENT: true, syscall.EEXIST: true, syscall.ENOSPC: true, syscall.EDQUOT: true,
	syscall.EMFILE: true, syscall.ENFILE: true}

var names = map[syscall.Errno]string{
	syscall.ENOENT: "ENOENT", syscall.EEXIST: "EEXIST", syscall.ENOSPC: "ENOSPC", syscall.EDQUOT: "EDQUOT",
	syscall.EMFILE: "EMFILE", syscall.ENFILE: "ENFILE", syscall.EIO: "EIO", syscall.ENOTCONN: "ENOTCONN",
	syscall.ETIMEDOUT: "ETIMEDOUT", syscall.EINTR: "EINTR", syscall.ECONNABORTED: "ECONNABORTED"}

func name(err error) string {
	var number syscall.Errno
	if errors.As(err, &number) {
		if known := names[number]; known != "" {
			return known
		}
	}
	return err.Error()
}

type unsure struct{ err error }

func (u *unsure) Error() string { return u.err.Error() }
func (u *unsure) Unwrap() error { return u.err }

// afterwards marks an error that leaves open what was done.
func afterwards(err error) error {
	if err == nil {
		return nil
	}
	return &unsure{err}
}

func (c *client) folder(r *request) string { return filepath.Join(c.mount, r.Dir) }

func (c *client) path(relative string) string { return filepath.Join(c.mount, relative) }

// temporary is a name that nobody else uses.
func (c *client) temporary(r *request) string {
	c.made++
	return filepath.Join(c.folder(r), fmt.Sprintf(".tmp-%d-%d-%d", pid, c.number, c.made))
}
