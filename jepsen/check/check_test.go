package main

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"globalfs.org/jepsen/check/history"
	"globalfs.org/jepsen/check/linear"
	"globalfs.org/jepsen/check/own"
)

var codes = map[string]int{
	"valid": exitValid, "invalid": exitInvalid, "malformed": exitBad, "unknown": exitUnknown}

// Each golden history, NAME.VERDICT.edn, gets its verdict; each workload has valid and invalid ones.
func TestGoldenHistories(t *testing.T) {
	var files []string
	for _, folders := range []string{"golden/*/*.edn", "readable/*/*.edn"} {
		found, err := filepath.Glob(folders)
		if err != nil || len(found) == 0 {
			t.Fatal(folders, found, err)
		}
		files = append(files, found...)
	}
	seen := map[string]bool{}
	for _, file := range files {
		workload := filepath.Base(filepath.Dir(file))
		parts := strings.Split(filepath.Base(file), ".")
		expected, known := codes[parts[1]]
		if !known {
			t.Fatalf("%s: no verdict in its name", file)
		}
		seen[workload+" "+parts[1]] = true
		t.Run(file, func(t *testing.T) {
			code, text := judge(workload, file, options{limit: time.Minute})
			if code != expected {
				t.Errorf("exit code %d, not %d: %s", code, expected, text)
			}
		})
	}
	for workload := range linear.Workloads {
		mustHave(t, seen, workload)
	}
	for workload := range own.Checks {
		mustHave(t, seen, workload)
	}
}

func mustHave(t *testing.T, seen map[string]bool, workload string) {
	for _, verdict := range []string{"valid", "invalid"} {
		if !seen[workload+" "+verdict] {
			t.Errorf("no %s golden history of %s", verdict, workload)
		}
	}
}

func TestTheWorstVerdictCounts(t *testing.T) {
	good, bad := "golden/counter/bounds.valid.edn", "golden/counter/twice.invalid.edn"
	broken := filepath.Join(t.TempDir(), "broken.edn")
	write(t, broken, "{:index 0, :time 0, :type :invoke")
	for _, c := range []struct {
		files []string
		code  int
	}{
		{[]string{good}, exitValid}, {[]string{good, bad}, exitInvalid},
		{[]string{bad, good}, exitInvalid}, {[]string{bad, broken, good}, exitBad},
		{[]string{filepath.Join(t.TempDir(), "absent.edn")}, exitBad},
	} {
		if code := run("counter", c.files, options{limit: time.Minute}); code != c.code {
			t.Errorf("%v: exit code %d, not %d", c.files, code, c.code)
		}
	}
	if code := run("no-such", []string{good}, options{limit: time.Minute}); code != exitBad {
		t.Errorf("an unknown workload: exit code %d", code)
	}
}

// What takes too long is unknown, not valid.
func TestALimitIsKept(t *testing.T) {
	var text strings.Builder
	for i := 0; i < 30; i++ {
		text.WriteString(line("invoke", i, "write", i))
	}
	for i := 0; i < 30; i++ {
		text.WriteString(line("ok", i, "write", i))
	}
	text.WriteString("{:type :invoke, :process 0, :f :read, :value nil}\n")
	text.WriteString("{:type :ok, :process 0, :f :read, :value 77}\n")
	file := filepath.Join(t.TempDir(), "long.edn")
	write(t, file, text.String())
	code, verdict := judge("register", file, options{limit: 50 * time.Millisecond})
	if code != exitUnknown {
		t.Errorf("exit code %d: %s", code, verdict)
	}
}

func TestTooManyOperationsAreRefused(t *testing.T) {
	var text strings.Builder
	for i := 0; i <= linear.MaxOperations; i++ {
		text.WriteString(line("invoke", 0, "append", i))
		text.WriteString(line("ok", 0, "append", i))
	}
	file := filepath.Join(t.TempDir(), "many.edn")
	write(t, file, text.String())
	if code, verdict := judge("append", file, options{limit: time.Minute}); code != exitBad {
		t.Errorf("exit code %d: %s", code, verdict)
	}
}

// Without reads a stale one does no harm; updates still count.
func TestUpdatesOnly(t *testing.T) {
	o := options{limit: time.Minute, updatesOnly: true}
	if code, text := judge("register", "golden/register/stale-read.invalid.edn", o); code != exitValid {
		t.Errorf("exit code %d: %s", code, text)
	}
	if code, text := judge("register", "golden/register/two-winners.invalid.edn", o); code != exitInvalid {
		t.Errorf("exit code %d: %s", code, text)
	}
}

func TestAnInvalidHistoryIsDrawn(t *testing.T) {
	folder := t.TempDir()
	judge("lock", "golden/lock/two-holders.invalid.edn", options{limit: time.Minute, html: folder})
	page, err := os.ReadFile(filepath.Join(folder, "two-holders.invalid.edn.html"))
	if err != nil || !strings.Contains(string(page), "acquire") {
		t.Errorf("no page: %v", err)
	}
}

func TestGapsAreNoHistory(t *testing.T) {
	for text, reason := range map[string]string{
		"{:index 0, :time 5, :type :invoke, :process 0, :f :read}{:index 2, :time 6, :type :ok, :process 0, :f :read}": "missing",
		"{:index 0, :time 5, :type :invoke, :process 0, :f :read}{:index 1, :time 4, :type :ok, :process 0, :f :read}": "goes back",
		"{:index 0, :time 5, :type :ok, :process 0, :f :read}":                                                         "not invoked",
		"{:index 0, :time 5, :type :odd, :process 0, :f :read}":                                                        "not invoked",
		"[1 2]": "",
	} {
		_, err := history.Read(strings.NewReader(text))
		if err == nil || !strings.Contains(err.Error(), reason) {
			t.Errorf("%s: %v", text, err)
		}
	}
}

func line(kind string, process int, f string, value int) string {
	return "{:type :" + kind + ", :process " + strconv.Itoa(process) + ", :f :" + f + ", :value " + strconv.Itoa(value) + "}\n"
}

func write(t *testing.T, file, text string) {
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}
