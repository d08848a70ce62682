package main

import (
	"net/netip"

	"github.com/gaissmai/bart"
)

// table is one of bart's, with the loops that are timed: each is written for its concrete type, as
// a user's loop would be, so that no call of an interface is in it.
type table interface {
	insert(prefix netip.Prefix, id uint32)
	size() int
	// answer looks up all keys.
	answer(keys []netip.Addr, answers []uint32)
	// walk returns the exclusive or of all answers.
	walk(keys []netip.Addr) uint32
	// walkDependent does so too, and computes the position of each key from the previous answer.
	walkDependent(keys []netip.Addr) uint32
}

// zero is always 0, which the compiler does not know.
var zero uint32

type newTable func() table

// compressed is the table that the package recommends for most uses.
type compressed struct{ t bart.Table[uint32] }

func newCompressed() table { return new(compressed) }

func (c *compressed) insert(prefix netip.Prefix, id uint32) { c.t.Insert(prefix, id) }

func (c *compressed) size() int { return c.t.Size() }

func (c *compressed) answer(keys []netip.Addr, answers []uint32) {
	for i, key := range keys {
		// Without a match the value is 0.
		answers[i], _ = c.t.Lookup(key)
	}
}

func (c *compressed) walk(keys []netip.Addr) uint32 {
	var sum uint32
	for _, key := range keys {
		id, _ := c.t.Lookup(key)
		sum ^= id
	}
	return sum
}

func (c *compressed) walkDependent(keys []netip.Addr) uint32 {
	var sum, id uint32
	mask := zero
	for i := range keys {
		id, _ = c.t.Lookup(keys[i^int(id&mask)])
		sum ^= id
	}
	return sum
}

// fast takes more memory for faster lookups.
type fast struct{ t bart.Fast[uint32] }

func newFast() table { return new(fast) }

func (f *fast) insert(prefix netip.Prefix, id uint32) { f.t.Insert(prefix, id) }

func (f *fast) size() int { return f.t.Size() }

func (f *fast) answer(keys []netip.Addr, answers []uint32) {
	for i, key := range keys {
		answers[i], _ = f.t.Lookup(key)
	}
}

func (f *fast) walk(keys []netip.Addr) uint32 {
	var sum uint32
	for _, key := range keys {
		id, _ := f.t.Lookup(key)
		sum ^= id
	}
	return sum
}

func (f *fast) walkDependent(keys []netip.Addr) uint32 {
	var sum, id uint32
	mask := zero
	for i := range keys {
		id, _ = f.t.Lookup(keys[i^int(id&mask)])
		sum ^= id
	}
	return sum
}
