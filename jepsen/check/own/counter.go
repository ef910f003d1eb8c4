package own

import (
	"fmt"

	"globalfs.org/jepsen/check/history"
)

// Counter: add n > 0, read → sum. A read is at least what was acknowledged before it began, and at most
// that and all that was invoked before it ended and did not fail: an update applied twice exceeds it
// once no unknown outcome can hide it.
func Counter(h *history.History) (*Verdict, error) {
	v := &Verdict{}
	reads := 0
	for _, read := range h.Operations {
		if read.F != "read" && read.F != "add" {
			return nil, fmt.Errorf("entry %d: unknown operation %s", read.Call, read.F)
		}
		if read.F != "read" || read.Outcome != history.OK {
			continue
		}
		value, err := history.Integer(read.Output)
		if err != nil {
			return nil, err
		}
		reads++
		var least, most int64
		for _, add := range h.Operations {
			if add.F != "add" || add.Outcome == history.Fail {
				continue
			}
			n, err := history.Integer(add.Input)
			if err != nil || n <= 0 {
				return nil, fmt.Errorf("entry %d: add %v", add.Call, add.Input)
			}
			if add.Outcome == history.OK && add.Return < read.Call {
				least += n
			}
			if add.Call < read.Return {
				most += n
			}
		}
		if value < least || value > most {
			v.Violations = append(v.Violations, fmt.Sprintf("entry %d: %d is not within %d and %d", read.Return, value, least, most))
		}
	}
	v.Complete = reads > 0
	v.Notes = fmt.Sprintf("%d reads", reads)
	return v, nil
}
