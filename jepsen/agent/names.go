package main

import (
	"errors"
	"io/fs"
	"os"
	"sort"
	"strings"
	"syscall"
)

// seen makes the errors that say what was found observations; others stay what they are.
func seen(err error) error {
	for _, number := range []syscall.Errno{syscall.ENOENT, syscall.EEXIST} {
		if errors.Is(err, number) {
			return observation(names[number])
		}
	}
	return err
}

func nsCreate(c *client, r *request) (interface{}, error) {
	file, err := os.OpenFile(c.path(r.Path), os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644)
	if err != nil {
		return nil, seen(err)
	}
	return nil, afterwards(file.Close())
}

func nsUnlink(c *client, r *request) (interface{}, error) {
	return nil, seen(syscallUnlink(c.path(r.Path)))
}

// syscallUnlink does not try rmdir(2) after it, as os.Remove does.
func syscallUnlink(path string) error {
	for {
		if err := syscall.Unlink(path); err != syscall.EINTR {
			if err == nil {
				return nil
			}
			return &fs.PathError{Op: "unlink", Path: path, Err: err}
		}
	}
}

func nsRename(c *client, r *request) (interface{}, error) {
	return nil, seen(os.Rename(c.path(r.Path), c.path(r.To)))
}

func nsLink(c *client, r *request) (interface{}, error) {
	return nil, seen(os.Link(c.path(r.Path), c.path(r.To)))
}

func nsStat(c *client, r *request) (interface{}, error) {
	info, err := os.Lstat(c.path(r.Path))
	if err != nil {
		return nil, seen(err)
	}
	return map[string]uint64{"nlink": uint64(info.Sys().(*syscall.Stat_t).Nlink)}, nil
}

func nsExists(c *client, r *request) (interface{}, error) {
	_, err := os.Lstat(c.path(r.Path))
	return nil, seen(err)
}

func nsReaddir(c *client, r *request) (interface{}, error) {
	folder, err := os.Open(c.path(r.Path))
	if err != nil {
		return nil, seen(err)
	}
	entries, err := folder.Readdirnames(-1)
	err = both(err, folder.Close())
	if err != nil {
		return nil, err
	}
	shown := []string{}
	for _, entry := range entries {
		if !strings.HasPrefix(entry, ".") {
			shown = append(shown, entry)
		}
	}
	sort.Strings(shown)
	return map[string][]string{"entries": shown}, nil
}

func makeDirectory(c *client, r *request) (interface{}, error) {
	return nil, seen(os.MkdirAll(c.folder(r), 0o755))
}
