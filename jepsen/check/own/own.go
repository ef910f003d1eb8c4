// Package own holds checkers of GlobalFS's own making, for claims that no published checker covers. Each
// is small enough to be read; none says more than its comment.
package own

import "globalfs.org/jepsen/check/history"

// Verdict of one history: no violations and Complete is valid; not Complete is unknown.
type Verdict struct {
	// Violations name entries of the history.
	Violations []string
	// Complete says that the history has what a verdict needs, such as a last read.
	Complete bool
	// Notes are what a reader wants to know besides.
	Notes string
}

// Check looks at a history; an error: it is malformed.
type Check func(h *history.History) (*Verdict, error)

// Checks by workload.
var Checks = map[string]Check{
	"fsync-set":      FsyncSet,
	"counter":        Counter,
	"sessions":       Sessions,
	"content":        Content,
	"causal-content": CausalContent,
}
