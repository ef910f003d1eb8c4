module globalfs.org/jepsen/check

go 1.19

require (
	github.com/anishathalye/porcupine v1.3.1
	olympos.io/encoding/edn v0.0.0-20201019073823-d3554ca0b0a3
)
