package linear

import (
	"fmt"
	"reflect"
	"sort"
	"strconv"
	"strings"

	"github.com/anishathalye/porcupine"

	"globalfs.org/jepsen/check/history"
)

// wandering: files move between folders. place {:file n :path}, once a file; rename {:file n :path :to};
// read {:file n :path} → {:mark n}, which the file's content is; readdir {:path} → {:entries [names]}; settle.
// The last part of a file's path is its number, a dot, and what makes the name unique: no name is ever
// given twice.
//
// Each file is judged by itself, as the sequence of its names. Placing and renaming are linearizable: a
// rename that succeeds finds the file under its newest name and appends one. Reads are not, when the name
// was changed from another partition: a session may be shown the past for a moment, but never what lies
// before what it has done, or was shown in folders of the same partition; what a mount knows by grant of
// another partition may be older. A file is never twice in a listing. A listing is, for each file at one moment, under which name it is in that folder, or that it is
// not there. After settle, which waits until no answer of before can still be in use, reads show the
// newest name: who lists all folders then sees each file once. A rename of unknown outcome that is done
// still later ends that.
//
// Names are unique for the kernel's sake too: rename(2) looks both names up, one after the other, and
// does nothing, with success, when it finds the same file under both.
var wandering = wanderers(false)

// wanderingStrong is the same with reads that always show the newest name.
var wanderingStrong = wanderers(true)

func wanderers(strong bool) Workload {
	return Workload{
		reads: map[string]bool{"read": true, "readdir": true},
		observed: map[string]map[string]bool{
			"place": {}, "rename": errors("ENOENT"), "read": errors("ENOENT"), "readdir": {}, "settle": {}},
		prepare: prepareWandering,
		model: func(*history.History) porcupine.Model {
			return porcupine.Model{
				Partition: byFile,
				Init:      func() interface{} { return wanderer{names: []string{nowhere}, settled: strong} },
				Step: func(state, input, _ interface{}) (bool, interface{}) {
					return stepWandering(state.(wanderer), input.(*step), strong)
				},
				Equal:         func(a, b interface{}) bool { return reflect.DeepEqual(a, b) },
				DescribeState: func(state interface{}) string { return fmt.Sprint(state) },
			}
		},
	}
}

// nowhere is a file's name before it is placed.
const nowhere = ""

type wanderingArguments struct {
	file     int64
	path, to string
	mark     int64
	// everyFile: a listing, whose entries are the paths that it shows, by file; or settle.
	everyFile bool
	entries   map[int64][]string
}

func prepareWandering(op *history.Operation) (interface{}, error) {
	var a wanderingArguments
	var err error
	a.everyFile = op.F == "readdir" || op.F == "settle"
	if op.F == "settle" {
		return a, nil
	}
	if a.path, err = history.Text(op.Input, "path"); err != nil {
		return nil, err
	}
	if op.F == "readdir" {
		a.entries, err = listed(a.path, op.Output)
		return a, err
	}
	if a.file, err = history.Integer(history.Field(op.Input, "file")); err != nil {
		return nil, err
	}
	switch {
	case op.F == "rename":
		a.to, err = history.Text(op.Input, "to")
	case op.F == "read" && op.Outcome == history.OK:
		a.mark, err = history.Integer(history.Field(op.Output, "mark"))
	}
	return a, err
}

func listed(folder string, value interface{}) (map[int64][]string, error) {
	elements, ok := history.Field(value, "entries").([]interface{})
	if !ok {
		return nil, fmt.Errorf("%v has no vector :entries", value)
	}
	entries := map[int64][]string{}
	for _, element := range elements {
		name := fmt.Sprint(element)
		number, _, _ := strings.Cut(name, ".")
		file, err := strconv.ParseInt(number, 10, 64)
		if err != nil {
			return nil, fmt.Errorf("%q is not the name of a file that wanders", name)
		}
		entries[file] = append(entries[file], folder+"/"+name)
	}
	return entries, nil
}

// byFile gives each file its own operations, and those that are about every file.
func byFile(operations []porcupine.Operation) [][]porcupine.Operation {
	parts := map[int64][]porcupine.Operation{}
	for _, operation := range operations {
		a := operation.Input.(*step).arguments.(wanderingArguments)
		if !a.everyFile {
			parts[a.file] = nil
		}
		for file := range a.entries {
			parts[file] = nil
		}
	}
	var files []int64
	for file := range parts {
		files = append(files, file)
	}
	sort.Slice(files, func(i, j int) bool { return files[i] < files[j] })
	all := make([][]porcupine.Operation, 0, len(files))
	for _, file := range files {
		var part []porcupine.Operation
		for _, operation := range operations {
			s := operation.Input.(*step)
			a := s.arguments.(wanderingArguments)
			if a.everyFile {
				a.file = file
				operation.Input = &step{s.Operation, a}
			}
			if a.file == file {
				part = append(part, operation)
			}
		}
		all = append(all, part)
	}
	return all
}

// wanderer is a file: all names that it has had, and which of them each process was shown last in each
// partition.
type wanderer struct {
	names   []string
	seen    map[view]int
	settled bool
}

// view is what a process has of a partition.
type view struct {
	process   int64
	partition string
}

func viewOf(process int64, path string) view {
	partition, _, _ := strings.Cut(path, "/")
	return view{process, partition}
}

// shows tells whether a name of that kind may be shown there now, the earliest that may be.
func (w wanderer) shows(there view, kind func(name string) bool) (bool, wanderer) {
	from := w.seen[there]
	if w.settled {
		from = len(w.names) - 1
	}
	for at := from; at < len(w.names); at++ {
		if kind(w.names[at]) {
			return true, w.shown(there, at)
		}
	}
	return false, w
}

func (w wanderer) shown(there view, at int) wanderer {
	if w.seen[there] == at {
		return w
	}
	seen := map[view]int{there: at}
	for other, last := range w.seen {
		if other != there {
			seen[other] = last
		}
	}
	w.seen = seen
	return w
}

// named is told in both partitions: where the file was, and where it is.
func (w wanderer) named(process int64, name string) wanderer {
	before := w.names[len(w.names)-1]
	w.names = append(append([]string{}, w.names...), name)
	newest := len(w.names) - 1
	return w.shown(viewOf(process, before), newest).shown(viewOf(process, name), newest)
}

func stepWandering(w wanderer, s *step, strong bool) (bool, wanderer) {
	a := s.arguments.(wanderingArguments)
	newest := w.names[len(w.names)-1]
	switch {
	case s.F == "settle":
		w.settled = w.settled || s.Outcome == history.OK
		return true, w
	case s.F == "readdir":
		shown := a.entries[a.file]
		return w.shows(viewOf(s.Process, a.path), func(name string) bool {
			if strings.HasPrefix(name, a.path+"/") {
				return len(shown) == 1 && shown[0] == name
			}
			return len(shown) == 0
		})
	case s.Outcome == history.Fail:
		return w.shows(viewOf(s.Process, a.path), func(name string) bool { return name != a.path })
	case s.F == "read":
		there, after := w.shows(viewOf(s.Process, a.path), func(name string) bool { return name == a.path })
		return there && a.mark == a.file, after
	case s.F == "place" && newest == nowhere:
		return true, w.named(s.Process, a.path)
	case s.F == "rename" && newest == a.path:
		w.settled = w.settled && (strong || s.Outcome == history.OK)
		return true, w.named(s.Process, a.to)
	default:
		return s.Outcome == history.Info, w
	}
}
