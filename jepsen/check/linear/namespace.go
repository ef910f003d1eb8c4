package linear

import (
	"fmt"
	"sort"
	"strings"

	"github.com/anishathalye/porcupine"

	"globalfs.org/jepsen/check/history"
)

// namespace: files below directories that stay. create {:path} (O_EXCL), unlink {:path}, rename and link
// {:path :to}, exists {:path}, stat {:path} → {:nlink}, readdir {:path} → {:entries [names]}; ENOENT and
// EEXIST are what was seen.
//
// link(2) and stat(2) look their file up and then act on it, on a local file system too: only on names
// that nobody renames or removes are they one step, and no others should be linked from, or asked for
// link counts.
var namespace = Workload{
	reads: map[string]bool{"exists": true, "stat": true, "readdir": true},
	observed: map[string]map[string]bool{
		"create": errors("EEXIST"), "unlink": errors("ENOENT"), "rename": errors("ENOENT"),
		"link": errors("EEXIST"), "exists": errors("ENOENT"), "stat": errors("ENOENT"), "readdir": {}},
	// Linux refuses to link to a file of which it believes that no name is left, and does not ask: it counts
	// what this mount removes down from a link count that may be older than others' links.
	refused: map[string]map[string]bool{"link": errors("ENOENT")},
	prepare: prepareNamespace,
	model: func(*history.History) porcupine.Model {
		return porcupine.Model{
			Init:          func() interface{} { return "" },
			Step:          stepNamespace,
			DescribeState: func(state interface{}) string { return state.(string) },
		}
	},
}

type namespaceArguments struct {
	path, to string
	// seen is what a read saw: the link count, or the names.
	seen string
}

func prepareNamespace(op *history.Operation) (interface{}, error) {
	var arguments namespaceArguments
	var err error
	if arguments.path, err = history.Text(op.Input, "path"); err != nil {
		return nil, err
	}
	switch op.F {
	case "rename", "link":
		arguments.to, err = history.Text(op.Input, "to")
	case "stat":
		arguments.seen = fmt.Sprint(history.Field(op.Output, "nlink"))
	case "readdir":
		elements, ok := history.Field(op.Output, "entries").([]interface{})
		if !ok {
			return nil, fmt.Errorf("%v has no vector :entries", op.Output)
		}
		names := make([]string, 0, len(elements))
		for _, element := range elements {
			names = append(names, fmt.Sprint(element))
		}
		sort.Strings(names)
		arguments.seen = strings.Join(names, " ")
	}
	return arguments, err
}

// tree maps paths to files. Its text, with files numbered by first path, is the model's state.
type tree map[string]int

func parse(state string) tree {
	t := tree{}
	for _, entry := range strings.Fields(state) {
		var file int
		at := strings.LastIndexByte(entry, '=')
		if _, err := fmt.Sscan(entry[at+1:], &file); err != nil {
			panic(err)
		}
		t[entry[:at]] = file
	}
	return t
}

func (t tree) String() string {
	paths := make([]string, 0, len(t))
	for path := range t {
		paths = append(paths, path)
	}
	sort.Strings(paths)
	numbers := map[int]int{}
	entries := make([]string, 0, len(t))
	for _, path := range paths {
		number, known := numbers[t[path]]
		if !known {
			number = len(numbers)
			numbers[t[path]] = number
		}
		entries = append(entries, fmt.Sprintf("%s=%d", path, number))
	}
	return strings.Join(entries, " ")
}

func (t tree) links(file int) int {
	count := 0
	for _, other := range t {
		if other == file {
			count++
		}
	}
	return count
}

func (t tree) names(directory string) string {
	var names []string
	for path := range t {
		if strings.HasPrefix(path, directory+"/") {
			names = append(names, path[len(directory)+1:])
		}
	}
	sort.Strings(names)
	return strings.Join(names, " ")
}

// apply does an update; the error is what a local file system says.
func (t tree) apply(f string, a namespaceArguments) string {
	file, exists := t[a.path]
	other, taken := t[a.to]
	switch {
	case f == "create" && exists:
		return "EEXIST"
	case f == "create":
		t[a.path] = len(t) + 1
	case !exists:
		return "ENOENT"
	case f == "unlink":
		delete(t, a.path)
	case f == "link" && taken:
		return "EEXIST"
	case f == "link":
		t[a.to] = file
	case taken && other == file: // rename of one name of a file to another does nothing
	default:
		t[a.to] = file
		delete(t, a.path)
	}
	return ""
}

func stepNamespace(state, input, _ interface{}) (bool, interface{}) {
	s := input.(*step)
	a := s.arguments.(namespaceArguments)
	t := parse(state.(string))
	switch s.F {
	case "exists":
		_, exists := t[a.path]
		return exists == (s.Outcome == history.OK), state
	case "stat":
		file, exists := t[a.path]
		if s.Outcome == history.Fail {
			return !exists, state
		}
		return exists && fmt.Sprint(t.links(file)) == a.seen, state
	case "readdir":
		return t.names(a.path) == a.seen, state
	}
	failure := t.apply(s.F, a)
	_, taken := t[a.to]
	switch {
	case s.F == "rename" && s.Outcome == history.OK && failure == "ENOENT" && taken:
		// The kernel looks both names up, one after the other, and does nothing, with success, when it finds
		// the same file under both: another's rename between the two has done it.
		return true, state
	case failure != "":
		return s.Outcome == history.Info || s.Error == failure, state
	default:
		return s.Outcome != history.Fail, t.String()
	}
}
