package own

import (
	"fmt"

	"globalfs.org/jepsen/check/history"
)

// Content: write {:file n :sum text}, each file once, ok once fsync returned; read {:file n} → {:sum text},
// or fails with ENOENT. A read that begins after the write was acknowledged shows its bytes. What an
// earlier one shows, or one of a write of unknown outcome, is not judged: it may be any part. A read of
// unknown outcome is judged by how long it took, see unreadable, and a write that fails by what there was
// for it, see unwritable.
func Content(h *history.History) (*Verdict, error) {
	writes, sums, err := writesOf(h, "read")
	if err != nil {
		return nil, err
	}
	v := &Verdict{Violations: append(unreadable(h, writes), unwritable(h)...)}
	reads := 0
	for _, op := range h.Operations {
		if op.F != "read" || op.Outcome == history.Info {
			continue
		}
		file := fileOf(op)
		reads++
		if violation := read(op, writes[file], sums[file]); violation != "" {
			v.Violations = append(v.Violations, fmt.Sprintf("entry %d: file %d %s", op.Return, file, violation))
		}
	}
	v.Complete = reads > 0
	v.Notes = fmt.Sprintf("%d files, %d reads", len(writes), reads)
	return v, nil
}

// writesOf are the writes of files and the sums of their bytes; an error: something else than writes and
// these operations was done, or a file was written twice.
func writesOf(h *history.History, others ...string) (map[int64]*history.Operation, map[int64]string, error) {
	writes := map[int64]*history.Operation{}
	sums := map[int64]string{}
	for _, op := range h.Operations {
		file, err := history.Integer(history.Field(op.Input, "file"))
		if err != nil {
			return nil, nil, fmt.Errorf("entry %d: %w", op.Call, err)
		}
		if op.F != "write" {
			if !contains(others, op.F) {
				return nil, nil, fmt.Errorf("entry %d: unknown operation %s", op.Call, op.F)
			}
			continue
		}
		if writes[file] != nil {
			return nil, nil, fmt.Errorf("entry %d: file %d is written a second time", op.Call, file)
		}
		writes[file] = op
		if sums[file], err = history.Text(op.Input, "sum"); err != nil {
			return nil, nil, fmt.Errorf("entry %d: %w", op.Call, err)
		}
	}
	return writes, sums, nil
}

func contains(all []string, one string) bool {
	for _, each := range all {
		if each == one {
			return true
		}
	}
	return false
}

// fileOf is the number of an operation's file, which writesOf has seen to be one.
func fileOf(op *history.Operation) int64 {
	file, _ := history.Integer(history.Field(op.Input, "file"))
	return file
}

func read(op, write *history.Operation, sum string) string {
	acknowledged := write != nil && write.Outcome == history.OK && write.Return < op.Call
	if op.Outcome == history.Fail {
		if op.Error != "ENOENT" {
			return "cannot be read: " + op.Error
		}
		if acknowledged {
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
	case acknowledged && shown != sum:
		return fmt.Sprintf("shows %q, not %q", shown, sum)
	}
	return ""
}
