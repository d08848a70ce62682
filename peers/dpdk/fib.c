/* rte_fib: DIR-24-8 with next hops of 4 bytes. */
#include "peer.h"

#include <arpa/inet.h>

#include <rte_errno.h>
#include <rte_common.h>
#include <rte_fib.h>
#include <rte_version.h>

static struct rte_fib *fib;

static struct rte_fib *create(size_t routes, size_t groups)
{
	struct rte_fib_conf config = {
		.type = RTE_FIB_DIR24_8,
		/* No route has this id. */
		.default_nh = 0,
		.max_routes = (int)routes,
		.dir24_8 = {.nh_sz = RTE_FIB_DIR24_8_4B, .num_tbl8 = (uint32_t)groups},
	};
	struct rte_fib *created = rte_fib_create("peer", heap_socket, &config);

	/* Vectors are not what it begins with; without them this fails and changes nothing. */
	if (created != NULL)
		rte_fib_select_lookup(created, RTE_FIB_LOOKUP_DIR24_8_VECTOR_AVX512);
	return created;
}

static void about(char *text, size_t size)
{
	struct rte_fib *probe = create(1, 1);
	const char *lookup = "scalar";

	if (probe != NULL &&
	    rte_fib_select_lookup(probe, RTE_FIB_LOOKUP_DIR24_8_VECTOR_AVX512) == 0)
		lookup = "AVX-512";
	rte_fib_free(probe);
	snprintf(text, size, "rte_fib of %s, DIR24_8, next hops of 4 bytes, %s", rte_version(),
		 lookup);
}

static size_t groups_for(const struct route *routes, size_t count)
{
	/* One more: a group that is replaced is freed after the new one was made. */
	return count_groups(routes, count, 4) + 1;
}

static int build(const struct route *routes, size_t count, size_t groups, char *why,
		 size_t why_size)
{
	rte_fib_free(fib);
	fib = create(count + 1, groups);
	if (fib == NULL) {
		snprintf(why, why_size, "not created: %s", rte_strerror(rte_errno));
		return -rte_errno;
	}
	for (size_t i = 0; i < count; i++) {
		int failed = rte_fib_add(fib, host_order(&routes[i]), routes[i].length,
					 routes[i].id);

		if (failed != 0) {
			snprintf(why, why_size, "route %zu, of length %u and next hop %u: %s",
				 i + 1, routes[i].length, routes[i].id, rte_strerror(-failed));
			return failed;
		}
	}
	return 0;
}

static void convert(void *keys, size_t count)
{
	uint32_t *addresses = keys;

	for (size_t i = 0; i < count; i++)
		addresses[i] = ntohl(addresses[i]);
}

static uint64_t next_hops[MAX_BATCH] __rte_cache_aligned;

static void answer_batch(const void *keys, size_t first, size_t count, uint32_t *answers)
{
	/* The call does not change them, but its type does not say so. */
	uint32_t *addresses = (uint32_t *)(uintptr_t)keys + first;

	rte_fib_lookup_bulk(fib, addresses, next_hops, (int)count);
	for (size_t i = 0; i < count; i++)
		answers[i] = (uint32_t)next_hops[i];
}

static uint32_t walk_batch(const void *keys, size_t first, size_t count, size_t batch)
{
	uint32_t *addresses = (uint32_t *)(uintptr_t)keys + first;
	uint64_t sum = 0;

	for (size_t at = 0; at < count; at += batch) {
		size_t part = count - at < batch ? count - at : batch;

		rte_fib_lookup_bulk(fib, addresses + at, next_hops, (int)part);
		sum ^= next_hops[part - 1];
	}
	return (uint32_t)sum;
}

const struct table fib_table = {
	.name = "rte_fib",
	.family = "ipv4",
	.modes = "batch",
	.address_size = 4,
	.about = about,
	.groups = groups_for,
	.build = build,
	.convert = convert,
	.answer_batch = answer_batch,
	.walk_batch = walk_batch,
};
