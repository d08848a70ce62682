/* What DPDK's tables share. */
#ifndef DPDK_H
#define DPDK_H

#include "../c/peer.h"

/* What DPDK calls the memory for tables, in place of a NUMA socket. */
extern int heap_socket;

/* The keys of the present table; those of IPv4 are in host order. */
extern void *keys;

extern const struct table lpm_table, fib_table, fib6_table;

/*
 * The blocks of 24 bits, and of 32, 40 ... of IPv6, that have longer prefixes inside: each needs a
 * group of 256 entries behind the table of 2^24. The routes are in order.
 */
size_t count_groups(const struct route *routes, size_t count, size_t address_size);

/* What lookups read: the entries of the first level and of the groups behind it. */
uint64_t table_bytes(size_t groups, size_t entry_size);

/* Makes memory available for a number of routes and a table of a size in bytes; 0, or a negative errno. */
int reserve(size_t routes, size_t bytes);

/* An IPv4 prefix as DPDK takes it. */
uint32_t host_order(const struct route *route);

/* Copies keys to `keys`. */
int set_keys(const struct table *table, const void *addresses, size_t count, char *why);

#endif
