// agent does file operations in one mount for a controller, which may be on another machine.
//
//	agent -mount FOLDER [-listen 127.0.0.1:0]
//
// It prints "listening ADDRESS" and serves until its input ends. A connection is a client of its own:
// it sends requests, a JSON object a line, and gets each one's outcome before the next is looked at.
package main

import (
	"flag"
	"fmt"
	"io"
	"net"
	"os"
)

func main() {
	mount := flag.String("mount", "", "mount in which the operations are done")
	listen := flag.String("listen", "127.0.0.1:0", "address to listen at")
	flag.Parse()
	if *mount == "" || flag.NArg() > 0 {
		flag.Usage()
		os.Exit(2)
	}
	listener, err := net.Listen("tcp", *listen)
	if err != nil {
		fmt.Fprintf(os.Stderr, "agent: cannot listen at %s: %v\n", *listen, err)
		os.Exit(1)
	}
	fmt.Println("listening", listener.Addr())
	go serve(listener, mounted(*mount))
	// A controller that dies takes its agents along.
	if _, err := io.Copy(io.Discard, os.Stdin); err != nil {
		fmt.Fprintln(os.Stderr, "agent:", err)
	}
}
