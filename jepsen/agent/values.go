package main

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

var pid = os.Getpid()

// registerWrite replaces the file "value" by rename: readers see the old number or the new one.
func registerWrite(c *client, r *request) (interface{}, error) {
	return registerWriteTo(c, r, filepath.Join(c.folder(r), "value"), r.Value)
}

func registerWriteTo(c *client, r *request, path string, value int64) (interface{}, error) {
	temporary := c.temporary(r)
	if err := writeFile(temporary, strconv.FormatInt(value, 10)); err != nil {
		return nil, err
	}
	return nil, afterwards(os.Rename(temporary, path))
}

func registerRead(c *client, r *request) (interface{}, error) {
	return number(filepath.Join(c.folder(r), "value"))
}

func number(path string) (interface{}, error) {
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return strconv.ParseInt(string(text), 10, 64)
}

// versionExchange links the successor of the version that it saw: one client alone can. The value is that
// of the highest version.
func versionExchange(c *client, r *request) (interface{}, error) {
	return nil, c.succeed(r, func(value interface{}) error {
		if value != interface{}(r.Old) {
			return observation("mismatch")
		}
		return nil
	})
}

func versionWrite(c *client, r *request) (interface{}, error) {
	return nil, c.succeed(r, func(interface{}) error { return nil })
}

// succeed makes the next version once the present value is right.
func (c *client) succeed(r *request, right func(value interface{}) error) error {
	temporary := c.temporary(r)
	if err := writeFile(temporary, strconv.FormatInt(r.Value, 10)); err != nil {
		return err
	}
	defer os.Remove(temporary)
	for {
		version, value, err := highest(c.folder(r))
		if err == nil {
			err = right(value)
		}
		if err != nil {
			return err
		}
		err = os.Link(temporary, filepath.Join(c.folder(r), fmt.Sprintf("v%d", version+1)))
		if !errors.Is(err, fs.ErrExist) {
			return afterwards(err)
		}
	}
}

func versionRead(c *client, r *request) (interface{}, error) {
	_, value, err := highest(c.folder(r))
	return value, err
}

// highest is version 0, of no value, where nobody has written anything.
func highest(folder string) (int64, interface{}, error) {
	entries, err := os.ReadDir(folder)
	if err != nil {
		return 0, nil, err
	}
	var most int64
	for _, entry := range entries {
		if n, err := strconv.ParseInt(strings.TrimPrefix(entry.Name(), "v"), 10, 64); err == nil && n > most {
			most = n
		}
	}
	if most == 0 {
		return 0, nil, nil
	}
	value, err := number(filepath.Join(folder, fmt.Sprintf("v%d", most)))
	return most, value, err
}

const recordBytes = 20

// logAppend appends a record of fixed length in one write.
func logAppend(c *client, r *request) (interface{}, error) {
	file, err := os.OpenFile(filepath.Join(c.folder(r), "log"), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o644)
	if err != nil {
		return nil, err
	}
	_, err = fmt.Fprintf(file, "%0*d\n", recordBytes-1, r.Value)
	err = both(err, file.Close())
	if errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) {
		return nil, err // the record found no room, and is gone
	}
	return nil, afterwards(err)
}

// logRead gives -1 for what is no whole record.
func logRead(c *client, r *request) (interface{}, error) {
	text, err := os.ReadFile(filepath.Join(c.folder(r), "log"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	values := []int64{}
	for at := 0; at < len(text); at += recordBytes {
		values = append(values, record(text[at:]))
	}
	return values, nil
}

func record(text []byte) int64 {
	if len(text) < recordBytes || text[recordBytes-1] != '\n' {
		return -1
	}
	value, err := strconv.ParseInt(string(text[:recordBytes-1]), 10, 64)
	if err != nil {
		return -1
	}
	return value
}

// setAdd makes a file of the number's name, and has it and its name on disk.
func setAdd(c *client, r *request) (interface{}, error) {
	text := strconv.FormatInt(r.Value, 10)
	path := filepath.Join(c.folder(r), text)
	file, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644)
	if err != nil {
		return nil, err
	}
	_, err = file.WriteString(text)
	err = both(err, both(file.Sync(), file.Close()))
	if err != nil {
		return nil, afterwards(err)
	}
	folder, err := os.Open(c.folder(r))
	if err != nil {
		return nil, afterwards(err)
	}
	return nil, afterwards(both(folder.Sync(), folder.Close()))
}

// setRead takes those files for elements whose content says their name.
func setRead(c *client, r *request) (interface{}, error) {
	entries, err := os.ReadDir(c.folder(r))
	if err != nil {
		return nil, err
	}
	values := []int64{}
	for _, entry := range entries {
		text, err := os.ReadFile(filepath.Join(c.folder(r), entry.Name()))
		if err != nil {
			return nil, err
		}
		if value, err := strconv.ParseInt(entry.Name(), 10, 64); err == nil && string(text) == entry.Name() {
			values = append(values, value)
		}
	}
	return values, nil
}

// counterAdd makes the file "count" as many bytes longer.
func counterAdd(c *client, r *request) (interface{}, error) {
	file, err := os.OpenFile(filepath.Join(c.folder(r), "count"), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o644)
	if err != nil {
		return nil, err
	}
	_, err = file.Write(make([]byte, r.Value))
	return nil, afterwards(both(err, file.Close()))
}

func counterRead(c *client, r *request) (interface{}, error) {
	info, err := os.Stat(filepath.Join(c.folder(r), "count"))
	if errors.Is(err, fs.ErrNotExist) {
		return int64(0), nil
	}
	if err != nil {
		return nil, err
	}
	return info.Size(), nil
}

// contentWrite writes as many bytes, made from the number, with fsync, and returns their SHA-256.
func contentWrite(c *client, r *request) (interface{}, error) {
	return writeContent(c, r, r.Bytes)
}

const pieceBytes = 3_000_000

// largeWrite does the same, with fsync after each piece.
func largeWrite(c *client, r *request) (interface{}, error) {
	return writeContent(c, r, pieceBytes)
}

func writeContent(c *client, r *request, piece int64) (interface{}, error) {
	return writeContentTo(contentPath(c, r), r, piece)
}

func contentPath(c *client, r *request) string {
	return filepath.Join(c.folder(r), fmt.Sprintf("file-%d", r.Value))
}

// wholeWrite writes as largeWrite does, under another name: readers find all of it, or nothing.
func wholeWrite(c *client, r *request) (interface{}, error) {
	temporary := c.temporary(r)
	sum, err := writeContentTo(temporary, r, pieceBytes)
	if err != nil {
		return nil, err
	}
	return sum, afterwards(os.Rename(temporary, contentPath(c, r)))
}

// Where reads are causal a mount goes by what it remembers of names for a second at most.
var remembered = 5 * time.Second

const rememberedPause = 100 * time.Millisecond

// wholeSettled reads what had been acknowledged before, also where reads are causal: it makes an update
// first, whose answer is from after all that was acknowledged, and outwaits what the mount remembers.
func wholeSettled(c *client, r *request) (interface{}, error) {
	temporary := c.temporary(r)
	if err := writeFile(temporary, ""); err != nil {
		return nil, afterwards(err)
	}
	if err := os.Remove(temporary); err != nil {
		return nil, afterwards(err)
	}
	for end := time.Now().Add(remembered); ; time.Sleep(rememberedPause) {
		sum, err := contentRead(c, r)
		if !errors.Is(err, fs.ErrNotExist) || time.Now().After(end) {
			return sum, err
		}
	}
}

func writeContentTo(path string, r *request, piece int64) (interface{}, error) {
	file, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644)
	if err != nil {
		return nil, err
	}
	sum := sha256.New()
	from := &content{state: uint64(r.Value)}
	for left := r.Bytes; left > 0 && err == nil; left -= piece {
		if piece > left {
			piece = left
		}
		_, err = io.CopyN(io.MultiWriter(file, sum), from, piece)
		err = both(err, file.Sync())
	}
	err = both(err, file.Close())
	return hex.EncodeToString(sum.Sum(nil)), afterwards(err)
}

// content is the words of SplitMix64, least byte first: a controller can make the same.
type content struct {
	state uint64
	word  uint64
	left  int
}

func (c *content) Read(into []byte) (int, error) {
	for i := range into {
		if c.left == 0 {
			c.state += 0x9e3779b97f4a7c15
			mixed := (c.state ^ (c.state >> 30)) * 0xbf58476d1ce4e5b9
			mixed = (mixed ^ (mixed >> 27)) * 0x94d049bb133111eb
			c.word = mixed ^ (mixed >> 31)
			c.left = 8
		}
		into[i] = byte(c.word)
		c.word >>= 8
		c.left--
	}
	return len(into), nil
}

func contentRead(c *client, r *request) (interface{}, error) {
	file, err := os.Open(contentPath(c, r))
	if err != nil {
		return nil, err
	}
	sum := sha256.New()
	_, err = io.Copy(sum, file)
	return hex.EncodeToString(sum.Sum(nil)), both(err, file.Close())
}

func writeFile(path, text string) error {
	file, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	_, err = file.WriteString(text)
	return both(err, file.Close())
}

func both(first, second error) error {
	if first != nil {
		return first
	}
	return second
}
