/* The protocol of docs/peers.md for implementations in C. */
#ifndef PEER_H
#define PEER_H

#include <stddef.h>
#include <stdint.h>

/* The longest batch that is answered. */
#define MAX_BATCH 65536
/* The size of the text of a reason. */
#define REASON 256

/* A route: the prefix's address as it is on the wire (IPv4 in the first 4 bytes). */
struct route {
	uint8_t address[16];
	uint8_t length;
	uint32_t id;
};

/*
 * The table of one family of an implementation. Functions that return an int return 0, or a
 * negative errno with a reason in `why`.
 */
struct table {
	const char *name;
	const char *family;
	const char *modes;
	/* Bytes of an address. */
	size_t address_size;
	/* Writes the implementation's own name and version. */
	void (*about)(char *text, size_t size);
	/* Does what building needs and is not timed; optional. */
	int (*prepare)(const struct table *table, const struct route *routes, size_t count,
		       char *why);
	/* Builds the structure, which replaces the one before; this is timed. */
	int (*build)(const struct table *table, const struct route *routes, size_t count,
		     char *why);
	/* Returns the bytes of the structure; optional. */
	uint64_t (*bytes)(const struct route *routes, size_t count);
	/* Keeps keys, which are as on the wire, in the form that lookups take. */
	int (*set_keys)(const struct table *table, const void *addresses, size_t count, char *why);
	/* Makes lookups of the present table and keys possible; optional. */
	int (*ready)(const struct table *table, char *why);
	/*
	 * Looks up keys one by one and returns the exclusive or of the answers. If `dependent`, each
	 * key is computed from the previous answer.
	 */
	uint32_t (*walk)(const struct table *table, size_t first, size_t count, int dependent);
	/* Looks up keys in one call; `answer` reads the answers. */
	void (*look_up_batch)(size_t first, size_t count);
	uint32_t (*answer)(size_t index);
	/* What else the table's functions need. */
	void *state;
};

/*
 * Reads commands and writes answers to standard output until the end. There is a table for one
 * family, or for each.
 */
int serve(const struct table *const *tables, size_t count);

#endif
