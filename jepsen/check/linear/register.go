package linear

import (
	"fmt"

	"github.com/anishathalye/porcupine"

	"globalfs.org/jepsen/check/history"
)

// register: read → nil or a number; write n; cas [old new], which fails with :mismatch.
var register = Workload{
	reads:    map[string]bool{"read": true},
	observed: map[string]map[string]bool{"read": {}, "write": {}, "cas": errors("mismatch")},
	prepare: func(op *history.Operation) (interface{}, error) {
		switch op.F {
		case "read":
			if op.Output == nil {
				return nil, nil
			}
			return history.Integer(op.Output)
		case "write":
			return history.Integer(op.Input)
		default:
			pair, err := history.Integers(op.Input)
			if err == nil && len(pair) != 2 {
				err = fmt.Errorf("%v is no [old new]", op.Input)
			}
			return pair, err
		}
	},
	model: func(*history.History) porcupine.Model {
		return porcupine.Model{Init: func() interface{} { return nil }, Step: stepRegister}
	},
}

func stepRegister(state, input, _ interface{}) (bool, interface{}) {
	s := input.(*step)
	switch s.F {
	case "read":
		return s.arguments == state, state
	case "write":
		return true, s.arguments
	default:
		pair := s.arguments.([]int64)
		matches := state == interface{}(pair[0])
		switch {
		case s.Outcome == history.Fail:
			return !matches, state
		case matches:
			return true, pair[1]
		default:
			return s.Outcome == history.Info, state
		}
	}
}
