// Package history reads histories in Jepsen's format: EDN maps with :index :time :type :process :f
// :value :error, one after the other.
package history

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"math"
	"os"

	"olympos.io/encoding/edn"
)

// Outcome is what became of an operation.
type Outcome int

const (
	// OK took effect between its invocation and its completion.
	OK Outcome = iota
	// Fail certainly took no effect; Error says what was seen.
	Fail
	// Info may have taken effect, at any time from its invocation on, or may never.
	Info
)

// Operation is an invocation with its completion.
type Operation struct {
	Process int64
	F       string
	// Input is the invocation's value, Output the completion's.
	Input, Output interface{}
	Outcome       Outcome
	// Error is the completion's :error, a keyword's name or a text; "" without one.
	Error string
	// Call and Return are positions in the history, not times: no two are equal. An Info returns after
	// everything else.
	Call, Return int64
	// Node is where its client's mount is; "" when the history does not say.
	Node string
	// CallTime and ReturnTime are in nanoseconds from the history's beginning on; ReturnTime is 0 of what
	// was never completed.
	CallTime, ReturnTime int64
	// Refused are the times at which a try began that failed with EIO and was followed by others, or was the
	// last, and at which it ended, in turns.
	Refused []int64
}

// Fault is something that was wrong with the cluster for a while.
type Fault struct {
	// From and To are in nanoseconds from the history's beginning on.
	From, To int64
	// Readable are "CLIENT>PARTITION" where all content has to be readable meanwhile, Writable where content
	// can be written.
	Readable, Writable map[string]bool
}

// History is what one file holds. The nemesis's operations are not among the others.
type History struct {
	// Operations are in the order of their invocations.
	Operations []*Operation
	// Crashed are the processes of which an operation's outcome is not known.
	Crashed map[int64]bool
	// Partitions are those that its operations are in; none when the history does not say.
	Partitions []string
	// Faults are in the order of their beginnings.
	Faults []*Fault
}

// Readable says whether a client of a node had, from one time to the other, to be able to read all content
// of the history's partitions: nothing was broken, or nothing that it takes.
func (h *History) Readable(node string, from, to int64) bool {
	return h.spared(node, from, to, func(fault *Fault) map[string]bool { return fault.Readable })
}

// Writable says the same of writing content there.
func (h *History) Writable(node string, from, to int64) bool {
	return h.spared(node, from, to, func(fault *Fault) map[string]bool { return fault.Writable })
}

func (h *History) spared(node string, from, to int64, by func(*Fault) map[string]bool) bool {
	if len(h.Partitions) == 0 || node == "" {
		return false
	}
	for _, fault := range h.Faults {
		if fault.From > to || fault.To < from {
			continue
		}
		for _, partition := range h.Partitions {
			if !by(fault)[node+">"+partition] {
				return false
			}
		}
	}
	return true
}

// Malformed says that a file is no history; such a file has no verdict.
type Malformed struct {
	At     int
	Reason string
}

func (m *Malformed) Error() string {
	return fmt.Sprintf("entry %d: %s", m.At, m.Reason)
}

type entry struct {
	Index   *int64      `edn:"index"`
	Time    int64       `edn:"time"`
	Type    edn.Keyword `edn:"type"`
	Process interface{} `edn:"process"`
	F       edn.Keyword `edn:"f"`
	Value   interface{} `edn:"value"`
	Error   interface{} `edn:"error"`
	Node    interface{} `edn:"node"`
	// Partitions, Readable and Writable are the nemesis's, vectors of texts.
	Partitions interface{} `edn:"partitions"`
	Readable   interface{} `edn:"readable"`
	Writable   interface{} `edn:"writable"`
	// Refused is a completion's, a vector of times.
	Refused interface{} `edn:"refused"`
}

// ReadFile reads a file's history.
func ReadFile(path string) (*History, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	return Read(bufio.NewReader(file))
}

// Read pairs invocations with completions. What was never completed is Info.
func Read(from io.Reader) (*History, error) {
	r := reader{history: &History{Crashed: map[int64]bool{}}, open: map[int64]*Operation{}}
	decoder := edn.NewDecoder(from)
	for at := 0; ; at++ {
		var e entry
		err := decoder.Decode(&e)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, &Malformed{at, err.Error()}
		}
		if reason := r.take(int64(at), &e); reason != "" {
			return nil, &Malformed{at, reason}
		}
	}
	for _, left := range r.open {
		r.crashed(left)
	}
	for _, operation := range r.history.Operations {
		if operation.Outcome == Info {
			operation.Return = r.next + operation.Call
		}
	}
	return r.history, nil
}

type reader struct {
	history *History
	open    map[int64]*Operation
	time    int64
	next    int64
}

func (r *reader) take(at int64, e *entry) string {
	if e.Index != nil && *e.Index != at {
		return fmt.Sprintf(":index is %d, not %d: entries are missing", *e.Index, at)
	}
	if e.Time < r.time {
		return ":time goes back"
	}
	r.time = e.Time
	r.next = at + 1
	process, isClient := e.Process.(int64)
	if !isClient {
		if _, isName := e.Process.(edn.Keyword); isName {
			r.byNemesis(e)
			return ""
		}
		return ":process is neither a number nor a keyword"
	}
	if e.F == "" {
		return "no :f"
	}
	current := r.open[process]
	if e.Type == "invoke" {
		if current != nil {
			return fmt.Sprintf("process %d invokes %s before its %s has ended", process, e.F, current.F)
		}
		if r.history.Crashed[process] {
			return fmt.Sprintf("process %d goes on after an unknown outcome", process)
		}
		current = &Operation{Process: process, F: string(e.F), Input: e.Value, Call: at,
			Node: text(e.Node), CallTime: e.Time}
		r.open[process] = current
		r.history.Operations = append(r.history.Operations, current)
		return ""
	}
	if current == nil || current.F != string(e.F) {
		return fmt.Sprintf("process %d ends a %s that it has not invoked", process, e.F)
	}
	delete(r.open, process)
	current.Output = e.Value
	current.Error = text(e.Error)
	current.Return = at
	current.ReturnTime = e.Time
	if e.Refused != nil {
		refused, err := Integers(e.Refused)
		if err != nil || len(refused)%2 != 0 {
			return ":refused is no vector of beginnings and ends"
		}
		current.Refused = refused
	}
	switch e.Type {
	case "ok":
		current.Outcome = OK
	case "fail":
		current.Outcome = Fail
	case "info":
		r.crashed(current)
	default:
		return fmt.Sprintf("unknown :type %q", e.Type)
	}
	return ""
}

// byNemesis notes where the history's operations are, and what was broken.
func (r *reader) byNemesis(e *entry) {
	h := r.history
	switch e.F {
	case "begun":
		h.Partitions = texts(e.Partitions)
	case "healed":
		if n := len(h.Faults); n > 0 {
			h.Faults[n-1].To = e.Time
		}
	default:
		h.Faults = append(h.Faults,
			&Fault{From: e.Time, To: math.MaxInt64, Readable: set(e.Readable), Writable: set(e.Writable)})
	}
}

func set(value interface{}) map[string]bool {
	members := map[string]bool{}
	for _, each := range texts(value) {
		members[each] = true
	}
	return members
}

func texts(value interface{}) []string {
	var all []string
	if elements, ok := value.([]interface{}); ok {
		for _, element := range elements {
			all = append(all, text(element))
		}
	}
	return all
}

func (r *reader) crashed(operation *Operation) {
	operation.Outcome = Info
	r.history.Crashed[operation.Process] = true
}

func text(value interface{}) string {
	switch v := value.(type) {
	case nil:
		return ""
	case edn.Keyword:
		return string(v)
	case []interface{}:
		if len(v) > 0 {
			return text(v[0])
		}
		return ""
	default:
		return fmt.Sprint(v)
	}
}

// Integer is a value that has to be a whole number.
func Integer(value interface{}) (int64, error) {
	if n, ok := value.(int64); ok {
		return n, nil
	}
	return 0, fmt.Errorf("%v is no whole number", value)
}

// Integers is a value that has to be a vector of whole numbers.
func Integers(value interface{}) ([]int64, error) {
	elements, ok := value.([]interface{})
	if !ok {
		return nil, fmt.Errorf("%v is no vector", value)
	}
	numbers := make([]int64, 0, len(elements))
	for _, element := range elements {
		n, err := Integer(element)
		if err != nil {
			return nil, err
		}
		numbers = append(numbers, n)
	}
	return numbers, nil
}

// Field is the value of a map under a keyword; nil: absent.
func Field(value interface{}, name string) interface{} {
	if fields, ok := value.(map[interface{}]interface{}); ok {
		return fields[edn.Keyword(name)]
	}
	return nil
}

// Text is a field that has to be a text.
func Text(value interface{}, name string) (string, error) {
	if s, ok := Field(value, name).(string); ok {
		return s, nil
	}
	return "", fmt.Errorf("%v has no text :%s", value, name)
}
