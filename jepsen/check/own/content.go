package own

import (
	"fmt"

	"globalfs.org/jepsen/check/history"
)

// Content: write {:file n :sum text}, each file once, ok once fsync returned; read {:file n} → {:sum text},
// or fails with ENOENT. A read that begins after the write was acknowledged shows its bytes. What an
// earlier one shows, or one of a write of unknown outcome, is not judged: it may be any part.
func Content(h *history.History) (*Verdict, error) {
	v := &Verdict{}
	writes := map[int64]*history.Operation{}
	sums := map[int64]string{}
	reads := 0
	for _, op := range h.Operations {
		file, err := history.Integer(history.Field(op.Input, "file"))
		if err != nil {
			return nil, fmt.Errorf("entry %d: %w", op.Call, err)
		}
		switch op.F {
		case "write":
			if writes[file] != nil {
				return nil, fmt.Errorf("entry %d: file %d is written a second time", op.Call, file)
			}
			writes[file] = op
			if sums[file], err = history.Text(op.Input, "sum"); err != nil {
				return nil, fmt.Errorf("entry %d: %w", op.Call, err)
			}
		case "read":
		default:
			return nil, fmt.Errorf("entry %d: unknown operation %s", op.Call, op.F)
		}
	}
	for _, op := range h.Operations {
		if op.F != "read" || op.Outcome == history.Info {
			continue
		}
		file, _ := history.Integer(history.Field(op.Input, "file"))
		reads++
		if violation := read(op, writes[file], sums[file]); violation != "" {
			v.Violations = append(v.Violations, fmt.Sprintf("entry %d: file %d %s", op.Return, file, violation))
		}
	}
	v.Complete = reads > 0
	v.Notes = fmt.Sprintf("%d files, %d reads", len(writes), reads)
	return v, nil
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
