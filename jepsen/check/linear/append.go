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
	model: func(*history.History) porcupine.Model {
		return porcupine.Model{
			Init: func() interface{} { return "" },
			Step: func(state, input, _ interface{}) (bool, interface{}) {
				s := input.(*step)
				if s.F == "append" {
					return true, appended(state.(string), s.arguments.(int64))
				}
				return s.arguments == state, state
			},
			DescribeState: func(state interface{}) string { return strings.TrimSpace(state.(string)) },
		}
	},
}

func appended(list string, n int64) string {
	return list + strconv.FormatInt(n, 10) + " "
}
