package own

import (
	"fmt"
	"time"

	"globalfs.org/jepsen/check/history"
)

// A read that has failed for so long, tried again all the while, or got no answer, has failed.
const readPatience = 20 * time.Second

// unreadable are reads of acknowledged files that failed, or were not answered, for longer than that while
// the history says all the time that there was all they needed; and those of which a single try failed while
// there was that, and since a while before: a program that reads does not try again.
func unreadable(h *history.History, writes map[int64]*history.Operation) []string {
	var violations []string
	for _, op := range h.Operations {
		if op.F == "write" {
			continue
		}
		write := writes[fileOf(op)]
		if write == nil || write.Outcome != history.OK || write.Return > op.Call {
			continue
		}
		took := time.Duration(op.ReturnTime - op.CallTime)
		long := op.Outcome == history.Info && took >= readPatience
		if long && h.Readable(op.Node, op.CallTime, op.ReturnTime) {
			violations = append(violations, fmt.Sprintf(
				"entry %d: file %d could not be read for %s, and there was all that it takes: %s",
				op.Call, fileOf(op), took.Round(time.Second), op.Error))
		} else if after, refused := refused(h, op); refused {
			violations = append(violations, fmt.Sprintf(
				"entry %d: file %d could not be read at first, and there was all that it takes: EIO after %s",
				op.Call, fileOf(op), after.Round(time.Millisecond)))
		}
	}
	return violations
}

// refused says whether a try of a read failed that had to succeed, and when, since the read began.
func refused(h *history.History, op *history.Operation) (time.Duration, bool) {
	for i := 0; i < len(op.Refused); i += 2 {
		from, to := op.Refused[i], op.Refused[i+1]
		if h.Readable(op.Node, from-int64(settling), to) {
			return time.Duration(to - op.CallTime), true
		}
	}
	return 0, false
}
