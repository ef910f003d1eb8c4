package own

import (
	"fmt"
	"time"

	"globalfs.org/jepsen/check/history"
)

// A write that got no answer for so long has failed.
const writePatience = 60 * time.Second

// What was broken just before may still be found out, or on its way up: what fails so soon afterwards is
// not judged.
const settling = 5 * time.Second

// By these errors a file system says that it could not store anything.
var refusals = map[string]bool{"EIO": true, "ENOSPC": true, "ETIMEDOUT": true}

// unwritable are writes that failed, or were not answered, while the history says all the time, and since a
// while before, that there was all they needed. None is tried again: one error is one too many.
func unwritable(h *history.History) []string {
	var violations []string
	for _, op := range h.Operations {
		took := time.Duration(op.ReturnTime - op.CallTime)
		silent := op.Outcome == history.Info && took >= writePatience
		if op.F != "write" || op.Outcome == history.OK || !silent && !refusals[op.Error] {
			continue
		}
		if h.Writable(op.Node, op.CallTime-int64(settling), op.ReturnTime) {
			violations = append(violations, fmt.Sprintf(
				"entry %d: file %d could not be written, after %s, and there was all that it takes: %s",
				op.Call, fileOf(op), took.Round(time.Millisecond), op.Error))
		}
	}
	return violations
}
