package main

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net/netip"
	"os"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
	"time"
)

var addressBytes = map[string]int{"ipv4": 4, "ipv6": 16}

// session has the data loaded so far.
type session struct {
	create newTable
	about  string
	tables map[string]table
	keys   map[string][]netip.Addr
}

type route struct {
	prefix netip.Prefix
	id     uint32
}

// serve answers commands until `quit` or the end of the input: the protocol of docs/peers.md.
func serve(create newTable, about string, in io.Reader, out *bufio.Writer) error {
	s := &session{create, about, map[string]table{}, map[string][]netip.Addr{}}
	lines := bufio.NewScanner(in)
	for lines.Scan() {
		if lines.Text() == "quit" {
			return nil
		}
		answer, err := s.obey(lines.Text())
		if err != nil {
			answer = "error " + strings.ReplaceAll(err.Error(), "\n", " ")
		}
		fmt.Fprintln(out, answer)
		if err := out.Flush(); err != nil {
			return err
		}
	}
	return lines.Err()
}

func (s *session) obey(line string) (string, error) {
	name, rest, _ := strings.Cut(line, " ")
	if name == "hello" {
		about := s.about + " " + version() + ", " + runtime.Version()
		return "longmatch-peer 1 ipv4,ipv6 one,dependent " + about, nil
	}
	family, rest, _ := strings.Cut(rest, " ")
	if addressBytes[family] == 0 {
		return "", fmt.Errorf("unknown command or family: %s %s", name, family)
	}
	switch name {
	case "load":
		return s.load(family, rest)
	case "keys":
		return s.takeKeys(family, rest)
	case "answer":
		return s.answer(family, rest)
	case "time":
		return s.time(family, rest)
	}
	return "", fmt.Errorf("unknown command %s", name)
}

// version is the one of bart that was built in.
func version() string {
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, module := range info.Deps {
			if module.Path == "github.com/gaissmai/bart" {
				return module.Version
			}
		}
	}
	return "of unknown version"
}

func (s *session) load(family, path string) (string, error) {
	delete(s.tables, family)
	routes, err := readRoutes(family, path)
	if err != nil {
		return "", err
	}
	before := heap()
	start := time.Now()
	built := s.create()
	for _, r := range routes {
		built.insert(r.prefix, r.id)
	}
	took := time.Since(start)
	bytes := "-"
	if after := heap(); after > before {
		bytes = strconv.FormatUint(after-before, 10)
	}
	runtime.KeepAlive(routes)
	if built.size() != len(routes) {
		return "", fmt.Errorf("holds %d of %d routes", built.size(), len(routes))
	}
	s.tables[family] = built
	return fmt.Sprintf("loaded %d %d %s", len(routes), took.Nanoseconds(), bytes), nil
}

// heap returns the bytes that are in use.
func heap() uint64 {
	runtime.GC()
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	return stats.HeapAlloc
}

func readRoutes(family, path string) ([]route, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	var routes []route
	lines := bufio.NewScanner(file)
	for lines.Scan() {
		text, id, _ := strings.Cut(lines.Text(), " ")
		prefix, err := netip.ParsePrefix(text)
		if err != nil {
			return nil, err
		}
		number, err := strconv.ParseUint(id, 10, 32)
		if err != nil {
			return nil, err
		}
		if prefix.Addr().BitLen() != 8*addressBytes[family] {
			return nil, fmt.Errorf("%s is not %s", text, family)
		}
		routes = append(routes, route{prefix, uint32(number)})
	}
	return routes, lines.Err()
}

func (s *session) takeKeys(family, path string) (string, error) {
	delete(s.keys, family)
	bytes, err := os.ReadFile(path)
	if err != nil {
		return "", err
	}
	size := addressBytes[family]
	if len(bytes)%size != 0 {
		return "", errors.New("the file has half an address at its end")
	}
	keys := make([]netip.Addr, 0, len(bytes)/size)
	for at := 0; at < len(bytes); at += size {
		key, _ := netip.AddrFromSlice(bytes[at : at+size])
		keys = append(keys, key)
	}
	s.keys[family] = keys
	return fmt.Sprintf("keys %d", len(keys)), nil
}

// ready returns what lookups need.
func (s *session) ready(family, mode string) (table, []netip.Addr, error) {
	if mode != "one" && mode != "dependent" {
		return nil, nil, fmt.Errorf("no mode %s here", mode)
	}
	t, keys := s.tables[family], s.keys[family]
	if t == nil || len(keys) == 0 {
		return nil, nil, fmt.Errorf("%s needs a table and keys first", family)
	}
	return t, keys, nil
}

func (s *session) answer(family, rest string) (string, error) {
	words := strings.SplitN(rest, " ", 3)
	if len(words) != 3 {
		return "", errors.New("expected MODE BATCH PATH")
	}
	t, keys, err := s.ready(family, words[0])
	if err != nil {
		return "", err
	}
	answers := make([]uint32, len(keys))
	t.answer(keys, answers)
	bytes := make([]byte, 0, 4*len(keys))
	for _, id := range answers {
		bytes = binary.LittleEndian.AppendUint32(bytes, id)
	}
	if err := os.WriteFile(words[2], bytes, 0o600); err != nil {
		return "", err
	}
	return fmt.Sprintf("answered %d", len(keys)), nil
}

func (s *session) time(family, rest string) (string, error) {
	var mode string
	var batch, at, lookups int
	if _, err := fmt.Sscan(rest, &mode, &batch, &at, &lookups); err != nil {
		return "", fmt.Errorf("expected MODE BATCH START LOOKUPS: %w", err)
	}
	t, keys, err := s.ready(family, mode)
	if err != nil {
		return "", err
	}
	if at < 0 || at >= len(keys) || lookups < 0 {
		return "", fmt.Errorf("there are %d keys", len(keys))
	}
	walk := t.walk
	if mode == "dependent" {
		walk = t.walkDependent
	}
	var sum uint32
	start := time.Now()
	for lookups > 0 {
		part := min(lookups, len(keys)-at)
		sum ^= walk(keys[at : at+part])
		lookups -= part
		at = 0
	}
	return fmt.Sprintf("timed %d %d", time.Since(start).Nanoseconds(), sum), nil
}
