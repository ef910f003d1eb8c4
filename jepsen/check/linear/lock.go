package linear

import (
	"fmt"

	"github.com/anishathalye/porcupine"

	"globalfs.org/jepsen/check/history"
)

// lock: acquire → {:token n}, fails with :busy; release. Tokens grow from holder to holder. A process of
// which an outcome is unknown may lose the lock at any time: its client is dead, or its session ended.
var lock = Workload{
	reads:    map[string]bool{},
	observed: map[string]map[string]bool{"acquire": errors("busy"), "release": {}},
	prepare: func(op *history.Operation) (interface{}, error) {
		if op.F == "acquire" && op.Outcome == history.OK {
			return history.Integer(history.Field(op.Output, "token"))
		}
		return int64(0), nil
	},
	model: func(h *history.History) porcupine.Model {
		return porcupine.Model{
			Init: func() interface{} { return mutex{holder: nobody} },
			Step: func(state, input, _ interface{}) (bool, interface{}) {
				return stepLock(h, state.(mutex), input.(*step))
			},
			DescribeState: func(state interface{}) string { return fmt.Sprintf("%+v", state) },
		}
	},
}

const nobody = -1

type mutex struct {
	holder int64
	token  int64
}

func stepLock(h *history.History, m mutex, s *step) (bool, interface{}) {
	free := m.holder == nobody || h.Crashed[m.holder]
	switch {
	case s.F == "acquire" && s.Outcome == history.OK:
		token := s.arguments.(int64)
		return free && token > m.token, mutex{s.Process, token}
	case s.F == "acquire" && s.Outcome == history.Fail:
		return m.holder != nobody, m
	case s.F == "acquire":
		if free {
			return true, mutex{s.Process, m.token}
		}
		return true, m
	case m.holder == s.Process:
		return true, mutex{nobody, m.token}
	default:
		return s.Outcome == history.Info, m
	}
}
