package main

import (
	"os"
	"strconv"
)

// markPlace makes a file whose content is the number, in one step, in its folder.
func markPlace(c *client, r *request) (interface{}, error) {
	return registerWriteTo(c, r, c.path(r.Path), r.Value)
}

// markRead gives -1 for content that is no number.
func markRead(c *client, r *request) (interface{}, error) {
	text, err := os.ReadFile(c.path(r.Path))
	if err != nil {
		return nil, seen(err)
	}
	mark, err := strconv.ParseInt(string(text), 10, 64)
	if err != nil {
		mark = -1
	}
	return map[string]int64{"mark": mark}, nil
}
