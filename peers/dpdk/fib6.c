/* rte_fib6: a trie of 24 bits, then 8 a level, with next hops of 4 bytes. */
#include "peer.h"

#include <errno.h>

#include <rte_errno.h>
#include <rte_common.h>
#include <rte_fib6.h>
#include <rte_version.h>

static struct rte_fib6 *fib;

static struct rte_fib6 *create(size_t routes, size_t groups)
{
	struct rte_fib6_conf config = {
		.type = RTE_FIB6_TRIE,
		/* No route has this id. */
		.default_nh = 0,
		.max_routes = (int)routes,
		.trie = {.nh_sz = RTE_FIB6_TRIE_4B, .num_tbl8 = (uint32_t)groups},
	};
	struct rte_fib6 *created = rte_fib6_create("peer", heap_socket, &config);

	/* Vectors are not what it begins with; without them this fails and changes nothing. */
	if (created != NULL)
		rte_fib6_select_lookup(created, RTE_FIB6_LOOKUP_TRIE_VECTOR_AVX512);
	return created;
}

static void about(char *text, size_t size)
{
	struct rte_fib6 *probe = create(1, 1);
	const char *lookup = "scalar";

	if (probe != NULL &&
	    rte_fib6_select_lookup(probe, RTE_FIB6_LOOKUP_TRIE_VECTOR_AVX512) == 0)
		lookup = "AVX-512";
	rte_fib6_free(probe);
	snprintf(text, size, "rte_fib6 of %s, TRIE, next hops of 4 bytes, %s", rte_version(),
		 lookup);
}

static int build(const struct route *routes, size_t count, size_t groups, char *why,
		 size_t why_size)
{
	rte_fib6_free(fib);
	fib = create(count + 1, groups);
	if (fib == NULL) {
		snprintf(why, why_size, "not created: %s", rte_strerror(rte_errno));
		return -rte_errno;
	}
	for (size_t i = 0; i < count; i++) {
		int failed = rte_fib6_add(fib, routes[i].address, routes[i].length, routes[i].id);

		if (failed != 0) {
			snprintf(why, why_size, "route %zu, of length %u and next hop %u: %s",
				 i + 1, routes[i].length, routes[i].id, rte_strerror(-failed));
			return failed;
		}
	}
	return 0;
}

/*
 * The library reserves more groups than it uses, in a way that depends on how routes lie beside
 * each other: so this tries. No route reserves more than a group for every 8 bits after the 24th.
 */
static size_t groups_for(const struct route *routes, size_t count)
{
	size_t groups = count_groups(routes, count, 16) + 1, most = 1;
	char why[256];

	for (size_t i = 0; i < count; i++)
		most += routes[i].length > 24 ? (routes[i].length - 17) / 8 : 0;
	while (groups < most && build(routes, count, groups, why, sizeof(why)) == -ENOSPC)
		groups = 2 * groups < most ? 2 * groups : most;
	return groups;
}

static void convert(void *keys, size_t count)
{
	/* It takes addresses as they are on the wire. */
	(void)keys;
	(void)count;
}

static uint64_t next_hops[MAX_BATCH] __rte_cache_aligned;

static void answer_batch(const void *keys, size_t first, size_t count, uint32_t *answers)
{
	/* The call does not change them, but its type does not say so. */
	uint8_t(*addresses)[16] = (uint8_t(*)[16])(uintptr_t)keys + first;

	rte_fib6_lookup_bulk(fib, addresses, next_hops, (int)count);
	for (size_t i = 0; i < count; i++)
		answers[i] = (uint32_t)next_hops[i];
}

static uint32_t walk_batch(const void *keys, size_t first, size_t count, size_t batch)
{
	uint8_t(*addresses)[16] = (uint8_t(*)[16])(uintptr_t)keys + first;
	uint64_t sum = 0;

	for (size_t at = 0; at < count; at += batch) {
		size_t part = count - at < batch ? count - at : batch;

		rte_fib6_lookup_bulk(fib, addresses + at, next_hops, (int)part);
		sum ^= next_hops[part - 1];
	}
	return (uint32_t)sum;
}

const struct table fib6_table = {
	.name = "rte_fib6",
	.family = "ipv6",
	.modes = "batch",
	.address_size = 16,
	.about = about,
	.groups = groups_for,
	.build = build,
	.convert = convert,
	.answer_batch = answer_batch,
	.walk_batch = walk_batch,
};
