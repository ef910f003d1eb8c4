package own

import (
	"fmt"

	"globalfs.org/jepsen/check/history"
)

// CausalContent: write {:file n :sum text}, each file once, under another name first; read {:file n} →
// {:sum text}, or fails with ENOENT; settled the same, after an update and all that the mount remembered.
// Whoever finds a file finds all its bytes. Each process is a session: what it wrote, or read, or what
// whoever wrote that had written or read before, it finds from then on. A settled read also finds what
// anybody's write had acknowledged before it began. A read of unknown outcome is judged by how long it
// took, see unreadable, and a write that fails by what there was for it, see unwritable.
func CausalContent(h *history.History) (*Verdict, error) {
	writes, sums, err := writesOf(h, "read", "settled")
	if err != nil {
		return nil, err
	}
	c := causalContent{writes: writes, sums: sums, seen: map[int64]vector{}, past: map[int64]vector{}}
	v := &Verdict{Violations: append(unreadable(h, writes), unwritable(h)...)}
	for _, e := range byEntry(h) {
		if violation := c.take(e); violation != "" {
			v.Violations = append(v.Violations, fmt.Sprintf("entry %d: file %d %s", e.at, fileOf(e.op), violation))
		}
	}
	v.Complete = c.reads > 0
	v.Notes = fmt.Sprintf("%d files, %d reads by %d sessions", len(writes), c.reads, len(c.seen))
	return v, nil
}

type causalContent struct {
	writes map[int64]*history.Operation
	sums   map[int64]string
	// seen are the files that a session has to find; past those that whoever wrote a file had to find, and
	// that file itself.
	seen, past map[int64]vector
	reads      int
}

func (c *causalContent) of(process int64) vector {
	if c.seen[process] == nil {
		c.seen[process] = vector{}
	}
	return c.seen[process]
}

func (c *causalContent) take(e event) string {
	op, file := e.op, fileOf(e.op)
	switch {
	case op.F == "write" && !e.end:
		c.past[file] = vector{file: 1}
		c.past[file].join(c.of(op.Process))
	case op.F == "write" && op.Outcome == history.OK:
		c.of(op.Process).join(c.past[file])
	case op.F != "write" && e.end && op.Outcome != history.Info:
		c.reads++
		return c.read(op, file)
	}
	return ""
}

func (c *causalContent) read(op *history.Operation, file int64) string {
	write := c.writes[file]
	if op.Outcome == history.Fail {
		acknowledged := write != nil && write.Outcome == history.OK && write.Return < op.Call
		switch {
		case op.Error != "ENOENT":
			return "cannot be read: " + op.Error
		case c.of(op.Process)[file] > 0:
			return fmt.Sprintf("is not there, and session %d was to see it", op.Process)
		case op.F == "settled" && acknowledged:
			return fmt.Sprintf("was acknowledged (entry %d) and is not there", write.Return)
		}
		return ""
	}
	shown, err := history.Text(op.Output, "sum")
	switch {
	case err != nil:
		return err.Error()
	case write == nil || write.Call > op.Return:
		return "is there before it was written"
	case write.Outcome == history.Fail:
		return "is there, its write had failed"
	case shown != c.sums[file]:
		return fmt.Sprintf("shows %q, not %q", shown, c.sums[file])
	}
	c.of(op.Process).join(c.past[file])
	return ""
}
