// check gives verdicts on histories: "valid", "invalid" or "unknown" a file.
//
//	check [-limit 60s] [-updates-only] [-html FOLDER] WORKLOAD FILE...
//
// Exit code: 0 all valid; 1 at least one invalid; 3 none invalid, at least one unknown; 2 not to be
// judged: malformed, or a wrong argument.
package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"sort"
	"strings"
	"time"

	"github.com/anishathalye/porcupine"

	"globalfs.org/jepsen/check/history"
	"globalfs.org/jepsen/check/linear"
	"globalfs.org/jepsen/check/own"
)

const (
	exitValid   = 0
	exitInvalid = 1
	exitBad     = 2
	exitUnknown = 3
)

type options struct {
	limit       time.Duration
	updatesOnly bool
	html        string
}

func main() {
	var o options
	flag.DurationVar(&o.limit, "limit", 60*time.Second, "how long one history may take")
	flag.BoolVar(&o.updatesOnly, "updates-only", false, "leave out operations that change nothing")
	flag.StringVar(&o.html, "html", "", "where to draw histories that are not linearizable")
	flag.Usage = usage
	flag.Parse()
	if flag.NArg() < 2 {
		usage()
		os.Exit(exitBad)
	}
	if o.limit <= 0 {
		fmt.Fprintln(os.Stderr, "check: -limit must be longer than 0")
		os.Exit(exitBad)
	}
	os.Exit(run(flag.Arg(0), flag.Args()[1:], o))
}

func usage() {
	var names []string
	for name := range linear.Workloads {
		names = append(names, name)
	}
	for name := range own.Checks {
		names = append(names, name)
	}
	sort.Strings(names)
	fmt.Fprintf(os.Stderr, "usage: check [options] WORKLOAD FILE...\nworkloads: %s\n", strings.Join(names, ", "))
	flag.PrintDefaults()
}

func run(workload string, files []string, o options) int {
	worst := exitValid
	for _, file := range files {
		code, text := judge(workload, file, o)
		fmt.Printf("%s: %s\n", file, text)
		if rank(code) > rank(worst) {
			worst = code
		}
	}
	return worst
}

func rank(code int) int {
	return map[int]int{exitValid: 0, exitUnknown: 1, exitInvalid: 2, exitBad: 3}[code]
}

func judge(workload, file string, o options) (int, string) {
	h, err := history.ReadFile(file)
	if err != nil {
		return exitBad, "no history: " + err.Error()
	}
	if model, known := linear.Workloads[workload]; known {
		return judgeLinear(model, h, file, o)
	}
	check, known := own.Checks[workload]
	if !known {
		return exitBad, "unknown workload " + workload
	}
	verdict, err := check(h)
	switch {
	case err != nil:
		return exitBad, "no history of this workload: " + err.Error()
	case len(verdict.Violations) > 0:
		sort.Strings(verdict.Violations)
		return exitInvalid, "invalid\n  " + strings.Join(verdict.Violations, "\n  ")
	case !verdict.Complete:
		return exitUnknown, "unknown: nothing was read"
	}
	return exitValid, "valid, " + verdict.Notes
}

func judgeLinear(model linear.Workload, h *history.History, file string, o options) (int, string) {
	verdict, err := linear.Check(model, h, !o.updatesOnly, o.limit)
	if err != nil {
		return exitBad, "no history of this workload: " + err.Error()
	}
	switch verdict.Result {
	case porcupine.Ok:
		return exitValid, fmt.Sprintf("valid, %d operations", verdict.Count)
	case porcupine.Unknown:
		return exitUnknown, fmt.Sprintf("unknown: %d operations took longer than %s", verdict.Count, o.limit)
	}
	text := "invalid: no order of the operations explains what they returned"
	if o.html != "" {
		page := filepath.Join(o.html, filepath.Base(file)+".html")
		if err := porcupine.VisualizePath(verdict.Model, verdict.Info, page); err != nil {
			return exitInvalid, text + "; not drawn: " + err.Error()
		}
		text += "; see " + page
	}
	return exitInvalid, text
}
