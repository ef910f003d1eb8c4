package own

import (
	"fmt"

	"globalfs.org/jepsen/check/history"
)

// Sessions: write [key n] and read [key nil] → [key n]; each key has one writer, which writes 1, 2, 3, …;
// nil reads as 0. Each process is a session. Checked are the four session guarantees, together, as
// causality: what a session has written, or read, or what whoever wrote that had written or read before,
// is the least that it may read from then on. Real time is not looked at.
func Sessions(h *history.History) (*Verdict, error) {
	s := sessions{
		seen:   map[int64]vector{},
		past:   map[version]vector{},
		writer: map[int64]int64{},
		last:   map[int64]int64{},
	}
	v := &Verdict{}
	for _, e := range byEntry(h) {
		violation, err := s.take(e)
		if err != nil {
			return nil, fmt.Errorf("entry %d: %w", e.at, err)
		}
		if violation != "" {
			v.Violations = append(v.Violations, fmt.Sprintf("entry %d: %s", e.at, violation))
		}
	}
	v.Complete = s.reads > 0
	v.Notes = fmt.Sprintf("%d reads by %d sessions", s.reads, len(s.seen))
	return v, nil
}

// vector is the least version of each key that a session may read.
type vector map[int64]int64

type version struct{ key, n int64 }

type sessions struct {
	seen         map[int64]vector
	past         map[version]vector
	writer, last map[int64]int64
	reads        int
}

// event is an operation's invocation or its completion.
type event struct {
	at  int64
	op  *history.Operation
	end bool
}

func byEntry(h *history.History) []event {
	byPosition := map[int64]event{}
	var most int64
	for _, op := range h.Operations {
		byPosition[op.Call] = event{op.Call, op, false}
		byPosition[op.Return] = event{op.Return, op, true}
		if op.Return > most {
			most = op.Return
		}
	}
	var events []event
	for at := int64(0); at <= most; at++ {
		if e, there := byPosition[at]; there {
			events = append(events, e)
		}
	}
	return events
}

func (s *sessions) of(process int64) vector {
	if s.seen[process] == nil {
		s.seen[process] = vector{}
	}
	return s.seen[process]
}

func (s *sessions) take(e event) (string, error) {
	op := e.op
	switch {
	case op.F == "write" && !e.end:
		written, err := pair(op.Input)
		if err != nil {
			return "", err
		}
		return "", s.invoked(op.Process, written)
	case op.F == "write" && op.Outcome == history.OK:
		written, err := pair(op.Input)
		if err == nil {
			s.of(op.Process).atLeast(written.key, written.n)
		}
		return "", err
	case op.F == "read" && e.end && op.Outcome == history.OK:
		read, err := pair(op.Output)
		if err != nil {
			return "", err
		}
		s.reads++
		return s.read(op.Process, read)
	case op.F != "read" && op.F != "write":
		return "", fmt.Errorf("unknown operation %s", op.F)
	}
	return "", nil
}

func (s *sessions) invoked(process int64, written version) error {
	writer, known := s.writer[written.key]
	if known && writer != process {
		return fmt.Errorf("key %d has two writers", written.key)
	}
	if written.n != s.last[written.key]+1 {
		return fmt.Errorf("key %d: %d does not follow %d", written.key, written.n, s.last[written.key])
	}
	s.writer[written.key] = process
	s.last[written.key] = written.n
	past := vector{}
	past.join(s.of(process))
	past.atLeast(written.key, written.n)
	s.past[written] = past
	return nil
}

func (s *sessions) read(process int64, read version) (string, error) {
	if read.n > s.last[read.key] {
		return fmt.Sprintf("session %d reads key %d as %d, which nobody has written", process, read.key, read.n), nil
	}
	seen := s.of(process)
	if read.n < seen[read.key] {
		return fmt.Sprintf("session %d reads key %d as %d after it was to see %d", process, read.key, read.n, seen[read.key]), nil
	}
	seen.join(s.past[read])
	return "", nil
}

func (v vector) atLeast(key, n int64) {
	if v[key] < n {
		v[key] = n
	}
}

func (v vector) join(other vector) {
	for key, n := range other {
		v.atLeast(key, n)
	}
}

func pair(value interface{}) (version, error) {
	elements, ok := value.([]interface{})
	if !ok || len(elements) != 2 {
		return version{}, fmt.Errorf("%v is no [key n]", value)
	}
	key, err := history.Integer(elements[0])
	if err != nil {
		return version{}, err
	}
	if elements[1] == nil {
		return version{key, 0}, nil
	}
	n, err := history.Integer(elements[1])
	return version{key, n}, err
}
