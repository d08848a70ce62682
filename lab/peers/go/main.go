// Go's bart as a peer of longmatch: `go bart|bart-fast`.
package main

import (
	"bufio"
	"fmt"
	"os"
)

func main() {
	tables := map[string]newTable{"bart": newCompressed, "bart-fast": newFast}
	about := map[string]string{"bart": "bart.Table", "bart-fast": "bart.Fast"}
	var name string
	if len(os.Args) == 2 {
		name = os.Args[1]
	}
	if tables[name] == nil {
		fmt.Fprintln(os.Stderr, "usage: go bart|bart-fast")
		os.Exit(2)
	}
	out := bufio.NewWriter(os.Stdout)
	if err := serve(tables[name], about[name], os.Stdin, out); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
