/* What the parts of this program know of each other. */
#ifndef PEER_H
#define PEER_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* A route: the prefix's address as it is on the wire (IPv4 in the first 4 bytes). */
struct route {
	uint8_t address[16];
	uint8_t length;
	uint32_t id;
};

/* An implementation. There is at most one table at a time. */
struct table {
	const char *name;
	const char *family;
	const char *modes;
	/* Bytes of an address. */
	size_t address_size;
	/* Writes the implementation's own name and version. */
	void (*about)(char *text, size_t size);
	/*
	 * The groups of the second level to ask for, so that the table fits. This is not timed, as
	 * users know the size of their tables.
	 */
	size_t (*groups)(const struct route *routes, size_t count);
	/*
	 * Builds the structure, having freed the one before. Returns 0, or a negative errno with a
	 * reason in `why`.
	 */
	int (*build)(const struct route *routes, size_t count, size_t groups, char *why,
		     size_t why_size);
	/* Brings keys, as they are on the wire, into the form that lookups take, in place. */
	void (*convert)(void *keys, size_t count);
	/* Answers `count` keys from number `first` on. Of one call in mode batch. */
	void (*answer_one)(const void *keys, size_t first, size_t count, uint32_t *answers);
	void (*answer_batch)(const void *keys, size_t first, size_t count, uint32_t *answers);
	/*
	 * What is timed: goes through keys `first` to `first + count`. Returns the exclusive or of
	 * all answers, or of the last one of each batch.
	 */
	uint32_t (*walk_one)(const void *keys, size_t first, size_t count);
	uint32_t (*walk_batch)(const void *keys, size_t first, size_t count, size_t batch);
};

/* What DPDK calls the memory for tables, in place of a NUMA socket. */
extern int heap_socket;

extern const struct table lpm_table, fib_table, fib6_table;

/* The longest batch that is answered. */
#define MAX_BATCH 65536

/*
 * The blocks of 24 bits, and of 32, 40 ... of IPv6, that have longer prefixes inside: each needs a
 * group of 256 entries behind the table of 2^24. The routes are in order.
 */
size_t count_groups(const struct route *routes, size_t count, size_t address_size);

/* An IPv4 prefix as DPDK takes it. */
uint32_t host_order(const struct route *route);

/* Reads commands and writes answers until the end. */
void serve(const struct table *table, FILE *in, FILE *out);

#endif
