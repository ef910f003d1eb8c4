package own

import (
	"fmt"

	"globalfs.org/jepsen/check/history"
)

// FsyncSet: add n, ok once fsync returned; read → vector of all numbers. What was acknowledged before the
// last read began is in it, and no read shows what nobody added, what failed, or anything twice.
func FsyncSet(h *history.History) (*Verdict, error) {
	v := &Verdict{}
	invoked := map[int64]*history.Operation{}
	var last *history.Operation
	for _, op := range h.Operations {
		switch {
		case op.F == "add":
			n, err := history.Integer(op.Input)
			if err != nil {
				return nil, err
			}
			if invoked[n] != nil {
				return nil, fmt.Errorf("entry %d: %d is added a second time", op.Call, n)
			}
			invoked[n] = op
		case op.F != "read":
			return nil, fmt.Errorf("entry %d: unknown operation %s", op.Call, op.F)
		case op.Outcome == history.OK:
			last = op
		}
	}
	unsure := 0
	for _, op := range h.Operations {
		if op.F != "read" || op.Outcome != history.OK {
			continue
		}
		numbers, err := history.Integers(op.Output)
		if err != nil {
			return nil, err
		}
		seen := map[int64]bool{}
		for _, n := range numbers {
			add := invoked[n]
			switch {
			case seen[n]:
				v.Violations = append(v.Violations, fmt.Sprintf("entry %d: %d is there twice", op.Return, n))
			case add == nil || add.Call > op.Return:
				v.Violations = append(v.Violations, fmt.Sprintf("entry %d: nobody had added %d", op.Return, n))
			case add.Outcome == history.Fail:
				v.Violations = append(v.Violations, fmt.Sprintf("entry %d: %d is there, its add had failed", op.Return, n))
			}
			seen[n] = true
		}
		if op == last {
			for n, add := range invoked {
				if add.Outcome == history.OK && add.Return < op.Call && !seen[n] {
					v.Violations = append(v.Violations, fmt.Sprintf("entry %d: %d was acknowledged (entry %d) and is lost", op.Return, n, add.Return))
				}
				if add.Outcome == history.Info && seen[n] {
					unsure++
				}
			}
		}
	}
	v.Complete = last != nil
	v.Notes = fmt.Sprintf("%d adds, %d of unknown outcome there", len(invoked), unsure)
	return v, nil
}
