// Package linear holds the models whose histories porcupine checks for linearizability.
//
// An operation of unknown outcome is open to the end of the history: its step is always possible, and
// without effect where it could not have one. One that failed is an observation where its error says
// what it saw, and is left out where the error only says that it was refused.
package linear

import (
	"fmt"
	"time"

	"github.com/anishathalye/porcupine"

	"globalfs.org/jepsen/check/history"
)

// MaxOperations is how many operations a history may have, or each part of one whose parts are searched
// on their own: the search grows with it.
const MaxOperations = 200

// Workload is a model with what it does with reads.
type Workload struct {
	// reads are operations that change nothing.
	reads map[string]bool
	// observed are errors that tell what an operation saw, by operation.
	observed map[string]map[string]bool
	// unneeded operations make no difference: with or without them there is an order; nil: none is.
	unneeded func(h *history.History) func(op *history.Operation) bool
	// refused are errors that only say that an operation was not done, by operation, besides those of all.
	refused map[string]map[string]bool
	// prepare turns values into what step works on; an error: the history is malformed.
	prepare func(op *history.Operation) (interface{}, error)
	model   func(h *history.History) porcupine.Model
}

// refused are errors that only say that an operation was not done.
var refused = map[string]bool{"ENOSPC": true, "EDQUOT": true, "EMFILE": true, "ENFILE": true}

// Workloads by name.
var Workloads = map[string]Workload{
	"register":  register,
	"append":    appendList,
	"namespace": namespace,
	"lock":      lock,
	"wandering": wandering,
}

// step is an operation as the models see it.
type step struct {
	*history.Operation
	arguments interface{}
}

// Verdict of one history. Unknown: the time limit came first.
type Verdict struct {
	Result porcupine.CheckResult
	Model  porcupine.Model
	Info   porcupine.LinearizationInfo
	Count  int
}

// Check looks for an order of the operations that the model allows. Without reads, operations that
// changed nothing are left out, those that failed too: what is checked is that updates are linearizable.
func Check(w Workload, h *history.History, reads bool, limit time.Duration) (*Verdict, error) {
	unneeded := func(*history.Operation) bool { return false }
	if w.unneeded != nil {
		unneeded = w.unneeded(h)
	}
	var operations []porcupine.Operation
	for _, op := range h.Operations {
		skip, err := w.skipped(op, reads)
		if err != nil {
			return nil, err
		}
		if skip || unneeded(op) {
			continue
		}
		arguments, err := w.prepare(op)
		if err != nil {
			return nil, fmt.Errorf("entry %d, %s: %w", op.Call, op.F, err)
		}
		operations = append(operations, porcupine.Operation{
			ClientId: int(op.Process), Input: &step{op, arguments}, Call: op.Call, Return: op.Return})
	}
	model := w.model(h)
	parts := [][]porcupine.Operation{operations}
	if model.Partition != nil {
		parts = model.Partition(operations)
	}
	for _, part := range parts {
		if len(part) > MaxOperations {
			return nil, fmt.Errorf("%d operations; at most %d can be checked", len(part), MaxOperations)
		}
	}
	model.DescribeOperation = func(input, _ interface{}) string { return describe(input.(*step)) }
	result, info := porcupine.CheckOperationsVerbose(model, operations, limit)
	return &Verdict{result, model, info, len(operations)}, nil
}

func (w Workload) skipped(op *history.Operation, reads bool) (bool, error) {
	if _, known := w.observed[op.F]; !known {
		return false, fmt.Errorf("entry %d: unknown operation %s", op.Call, op.F)
	}
	if w.reads[op.F] && (!reads || op.Outcome == history.Info) {
		return true, nil
	}
	if op.Outcome != history.Fail {
		return false, nil
	}
	notDone := refused[op.Error] || w.refused[op.F][op.Error]
	if !w.observed[op.F][op.Error] && !notDone {
		return false, fmt.Errorf("entry %d: %s must not fail with %q", op.Call, op.F, op.Error)
	}
	return !reads || notDone, nil
}

func describe(s *step) string {
	switch s.Outcome {
	case history.OK:
		return fmt.Sprintf("%s %v → %v", s.F, s.Input, s.Output)
	case history.Fail:
		return fmt.Sprintf("%s %v → %s", s.F, s.Input, s.Error)
	default:
		return fmt.Sprintf("%s %v → ?", s.F, s.Input)
	}
}

func errors(names ...string) map[string]bool {
	set := map[string]bool{}
	for _, name := range names {
		set[name] = true
	}
	return set
}
