package linear

import (
	"strconv"
	"strings"

	"github.com/anishathalye/porcupine"

	"globalfs.org/jepsen/check/history"
)

// appendList: append n, each n once; read → all numbers in order. A torn record is no number, so a read
// that shows one is malformed to whoever reads strictly: the agent writes -1 for it, which nobody appends.
var appendList = Workload{
	reads:    map[string]bool{"read": true},
	observed: map[string]map[string]bool{"read": {}, "append": {}},
	unneeded: func(h *history.History) func(op *history.Operation) bool {
		place := places(h)
		return func(op *history.Operation) bool {
			if op.F != "append" || op.Outcome != history.Info {
				return false
			}
			n, err := history.Integer(op.Input)
			_, seen := place[n]
			return err == nil && !seen // it may have come to nothing
		}
	},
	prepare: func(op *history.Operation) (interface{}, error) {
		if op.F == "append" {
			return history.Integer(op.Input)
		}
		numbers, err := history.Integers(op.Output)
		list := ""
		for _, n := range numbers {
			list = appended(list, n)
		}
		return list, err
	},
	model: func(h *history.History) porcupine.Model {
		place := places(h)
		return porcupine.Model{
			Init: func() interface{} { return records{} },
			Step: func(state, input, _ interface{}) (bool, interface{}) {
				s, now := input.(*step), state.(records)
				if s.F != "append" {
					return s.arguments == now.list, now
				}
				n := s.arguments.(int64)
				if at, seen := place[n]; seen {
					return at == now.count, records{appended(now.list, n), now.count + 1}
				}
				return now.count >= len(place), records{now.list + "? ", now.count + 1}
			},
			DescribeState: func(state interface{}) string {
				return strings.TrimSpace(state.(records).list)
			},
		}
	},
}

// records are the file's. A question mark is one that no read shows: which of them comes first makes no
// difference, and so the search need not try.
type records struct {
	list  string
	count int
}

// places are where the longest read has its numbers. A number that it has can be appended there only, and
// one that it has not only behind all of them; a search without that knowledge may take very long.
func places(h *history.History) map[int64]int {
	var longest []int64
	for _, op := range h.Operations {
		if op.F == "read" && op.Outcome == history.OK {
			if numbers, err := history.Integers(op.Output); err == nil && len(numbers) > len(longest) {
				longest = numbers
			}
		}
	}
	place := map[int64]int{}
	for at, n := range longest {
		place[n] = at
	}
	return place
}

func appended(list string, n int64) string {
	return list + strconv.FormatInt(n, 10) + " "
}
