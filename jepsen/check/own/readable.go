package own

import (
	"fmt"
	"time"

	"globalfs.org/jepsen/check/history"
)

// A read that has failed for so long, tried again all the while, or got no answer, has failed.
const readPatience = 20 * time.Second

// unreadable are reads of acknowledged files that failed, or were not answered, for longer than that while
// the history says all the time that there was all they needed.
func unreadable(h *history.History, writes map[int64]*history.Operation) []string {
	var violations []string
	for _, op := range h.Operations {
		took := time.Duration(op.ReturnTime - op.CallTime)
		if op.F == "write" || op.Outcome != history.Info || took < readPatience {
			continue
		}
		file := fileOf(op)
		write := writes[file]
		acknowledged := write != nil && write.Outcome == history.OK && write.Return < op.Call
		if acknowledged && h.Readable(op.Node, op.CallTime, op.ReturnTime) {
			violations = append(violations, fmt.Sprintf(
				"entry %d: file %d could not be read for %s, and there was all that it takes: %s",
				op.Call, file, took.Round(time.Second), op.Error))
		}
	}
	return violations
}
