/* What the kernel's tables share. */
#ifndef KERNEL_H
#define KERNEL_H

#include "../c/peer.h"

/* A table of the kernel, with the programs that look up keys in it. */
struct state {
	/* The map of type LPM_TRIE; or the network namespace and a device in it. */
	int map, namespace, device;
	/* Whether there are routes, and keys, for addresses that are never forwarded. */
	int local_routes, local_keys;
	/* The keys: a map with one value, of the next power of two of keys. */
	int keys_map;
	void *keys;
	uint64_t room;
	/* Programs for independent and for dependent lookups; 0 if the maps have changed since. */
	int programs[2];
};

extern const struct table trie4_table, trie6_table, route4_table, route6_table;

/* Writes what failed, with the reason in errno; returns it as a negative number. */
int failed(const char *what, char *why);

/* Writes the name of a table, the kernel's version and what a lookup is. */
void about_kernel(const char *name, const char *lookup, char *text, size_t size);

/* Discards the programs after a change of the table or the keys. */
void discard_programs(struct state *state);

/* Functions of all tables: see `struct table`. */
int set_keys(const struct table *table, const void *addresses, size_t count, char *why);
int ready(const struct table *table, char *why);
uint32_t walk(const struct table *table, size_t first, size_t count, int dependent);

#endif
