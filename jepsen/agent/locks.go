package main

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
)

// heldLock is a lock with the open file that it ends with.
type heldLock struct {
	file *os.File
	kind string
}

const ofdSetLock = 37 // F_OFD_SETLK

// lockAcquire tries the lock on the file "lock", and under it takes the next token from the file "token".
func lockAcquire(c *client, r *request) (interface{}, error) {
	key := r.Dir + " " + r.Kind
	if c.locks[key] != nil {
		return nil, errors.New("this client holds it already")
	}
	file, err := os.OpenFile(filepath.Join(c.folder(r), "lock"), os.O_CREATE|os.O_RDWR, 0o644)
	if err != nil {
		return nil, err
	}
	held := &heldLock{file, r.Kind}
	err = held.set(true)
	if errors.Is(err, syscall.EAGAIN) {
		file.Close()
		return nil, observation("busy")
	}
	if err != nil {
		file.Close()
		return nil, afterwards(err)
	}
	c.locks[key] = held
	path := filepath.Join(c.folder(r), "token")
	last, err := number(path)
	if err != nil {
		return nil, afterwards(err)
	}
	next := int64(1)
	if last != nil {
		next = last.(int64) + 1
	}
	if _, err := registerWriteTo(c, r, path, next); err != nil {
		return nil, afterwards(err)
	}
	return map[string]int64{"token": next}, nil
}

func lockRelease(c *client, r *request) (interface{}, error) {
	key := r.Dir + " " + r.Kind
	held := c.locks[key]
	if held == nil {
		return nil, errors.New("this client does not hold it")
	}
	delete(c.locks, key)
	err := held.set(false)
	return nil, afterwards(both(err, held.file.Close()))
}

func (c *client) releaseAll() {
	for _, held := range c.locks {
		held.file.Close()
	}
}

func (l *heldLock) set(wanted bool) error {
	for {
		var err error
		switch l.kind {
		case "flock":
			how := syscall.LOCK_UN
			if wanted {
				how = syscall.LOCK_EX | syscall.LOCK_NB
			}
			err = syscall.Flock(int(l.file.Fd()), how)
		case "ofd":
			kind := int16(syscall.F_UNLCK)
			if wanted {
				kind = syscall.F_WRLCK
			}
			err = syscall.FcntlFlock(l.file.Fd(), ofdSetLock, &syscall.Flock_t{Type: kind})
		default:
			return errors.New("unknown kind of lock " + l.kind)
		}
		if err != syscall.EINTR {
			return err
		}
	}
}
