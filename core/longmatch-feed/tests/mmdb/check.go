// Lookups by the Go reader, after it has verified the file: check FILE QUESTIONS. Questions as those of check.py.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"net/netip"
	"os"
	"reflect"
	"strings"

	"github.com/oschwald/maxminddb-golang/v2"
)

func must(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// same is a value as JSON has it.
func same(value any) any {
	text, err := json.Marshal(value)
	must(err)
	var back any
	must(json.Unmarshal(text, &back))
	return back
}

func main() {
	reader, err := maxminddb.Open(os.Args[1])
	must(err)
	must(reader.Verify())
	questions, err := os.Open(os.Args[2])
	must(err)
	scanner := bufio.NewScanner(questions)
	scanner.Buffer(nil, 1<<24)
	count := 0
	for scanner.Scan() {
		address, expected, _ := strings.Cut(scanner.Text(), "\t")
		var found, wanted any
		must(reader.Lookup(netip.MustParseAddr(address)).Decode(&found))
		must(json.Unmarshal([]byte(expected), &wanted))
		if !reflect.DeepEqual(same(found), wanted) {
			must(fmt.Errorf("%s: %v, not %s", address, found, expected))
		}
		count++
	}
	must(scanner.Err())
	fmt.Println(count)
}
