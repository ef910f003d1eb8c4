package linear

import (
	"fmt"
	"sort"
	"strconv"
	"strings"

	"github.com/anishathalye/porcupine"

	"globalfs.org/jepsen/check/history"
)

// wandering: files move between folders. place {:file n :path}, once a file; rename {:file n :path :to};
// read {:file n :path} → {:mark n}, which the file's content is; readdir {:path} → {:entries [names]}.
// The last part of a file's path is its number, a dot, and what makes the name unique: no name is ever
// given twice.
//
// Each file is judged by itself. Its state is its newest name: a rename that succeeds finds the file under
// that name and gives it the next, and reads show that name and no other. A listing is, for each file at one
// moment, under which name it is in that folder, or that it is not there; a file is never twice in it.
//
// Names are unique for the kernel's sake too: rename(2) looks both names up, one after the other, and
// does nothing, with success, when it finds the same file under both.
var wandering = Workload{
	reads: map[string]bool{"read": true, "readdir": true},
	observed: map[string]map[string]bool{
		"place": {}, "rename": errors("ENOENT"), "read": errors("ENOENT"), "readdir": {}},
	prepare: prepareWandering,
	model: func(*history.History) porcupine.Model {
		return porcupine.Model{
			Partition: byFile,
			Init:      func() interface{} { return nowhere },
			Step:      stepWandering,
		}
	},
}

// nowhere is a file's newest name before it is placed.
const nowhere = ""

type wanderingArguments struct {
	file     int64
	path, to string
	mark     int64
	// listing: of every file; its entries are the paths that it shows, by file.
	listing bool
	entries map[int64][]string
}

func prepareWandering(op *history.Operation) (interface{}, error) {
	var a wanderingArguments
	var err error
	a.listing = op.F == "readdir"
	if a.path, err = history.Text(op.Input, "path"); err != nil {
		return nil, err
	}
	if a.listing {
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

// byFile gives each file its own operations, and all listings.
func byFile(operations []porcupine.Operation) [][]porcupine.Operation {
	parts := map[int64][]porcupine.Operation{}
	for _, operation := range operations {
		a := operation.Input.(*step).arguments.(wanderingArguments)
		if !a.listing {
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
			if a.listing {
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

// shows tells whether a listing shows the file as it is under that name.
func (a wanderingArguments) shows(name string) bool {
	shown := a.entries[a.file]
	if strings.HasPrefix(name, a.path+"/") {
		return len(shown) == 1 && shown[0] == name
	}
	return len(shown) == 0
}

func stepWandering(state, input, _ interface{}) (bool, interface{}) {
	newest, s := state.(string), input.(*step)
	a := s.arguments.(wanderingArguments)
	switch {
	case s.F == "readdir":
		return a.shows(newest), newest
	case s.Outcome == history.Fail:
		return newest != a.path, newest
	case s.F == "read":
		return newest == a.path && a.mark == a.file, newest
	case s.F == "place" && newest == nowhere:
		return true, a.path
	case s.F == "rename" && newest == a.path:
		return true, a.to
	default:
		return s.Outcome == history.Info, newest
	}
}
