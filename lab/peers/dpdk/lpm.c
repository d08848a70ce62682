/* rte_lpm: DIR-24-8 with next hops of 24 bits. */
#include "dpdk.h"

#include <errno.h>
#include <stdio.h>

#include <rte_errno.h>
#include <rte_lpm.h>
#include <rte_version.h>

#define MAX_ID ((UINT32_C(1) << 24) - 1)

static struct rte_lpm *lpm;
static size_t groups;

static void about(char *text, size_t size)
{
	snprintf(text, size, "rte_lpm of %s, next hops of 24 bits", rte_version());
}

/*
 * rte_lpm takes no prefix of length 0. Two of length 1 say the same, where the table has none of
 * its own there.
 */
static int add_default(const struct route *routes, size_t count, uint32_t id)
{
	int taken[2] = {0, 0};

	for (size_t i = 0; i < count; i++) {
		if (routes[i].length == 1)
			taken[routes[i].address[0] >> 7] = 1;
	}
	for (uint32_t half = 0; half < 2; half++) {
		int failed = taken[half] ? 0 : rte_lpm_add(lpm, half << 31, 1, id);

		if (failed != 0)
			return failed;
	}
	return 0;
}

static int add(const struct route *routes, size_t count, const struct route *route)
{
	if (route->length == 0)
		return add_default(routes, count, route->id);
	return rte_lpm_add(lpm, host_order(route), route->length, route->id);
}

static int prepare(const struct table *table, const struct route *routes, size_t count, char *why)
{
	for (size_t i = 0; i < count; i++) {
		if (routes[i].id > MAX_ID) {
			snprintf(why, REASON, "next hop %u does not fit 24 bits", routes[i].id);
			return -ERANGE;
		}
	}
	groups = count_groups(routes, count, table->address_size);
	if (reserve(count, table_bytes(groups + 1, sizeof(uint32_t))) != 0) {
		snprintf(why, REASON, "not enough memory");
		return -ENOMEM;
	}
	return 0;
}

static int build(const struct table *table, const struct route *routes, size_t count, char *why)
{
	/* Room for the second half of a default route; and it takes no 0. */
	struct rte_lpm_config config = {.max_rules = (uint32_t)count + 2,
					.number_tbl8s = (uint32_t)groups + 1};

	rte_lpm_free(lpm);
	lpm = rte_lpm_create(table->name, heap_socket, &config);
	if (lpm == NULL) {
		snprintf(why, REASON, "not created: %s", rte_strerror(rte_errno));
		return -rte_errno;
	}
	for (size_t i = 0; i < count; i++) {
		int failed = add(routes, count, &routes[i]);

		if (failed != 0) {
			snprintf(why, REASON, "route %zu, of length %u: %s", i + 1,
				 routes[i].length, rte_strerror(-failed));
			return failed;
		}
	}
	return 0;
}

static uint64_t bytes(const struct route *routes, size_t count)
{
	return table_bytes(count_groups(routes, count, 4), sizeof(uint32_t));
}

static inline uint32_t walk_keys(size_t first, size_t count, int dependent)
{
	const uint32_t *addresses = (const uint32_t *)keys + first;
	uint32_t sum = 0, answer = 0, zero = 0;

	/* The compiler does not know that it is 0. */
	__asm__("" : "+r"(zero));
	for (size_t i = 0; i < count; i++) {
		uint32_t address = addresses[i] ^ (dependent ? answer & zero : 0);

		if (rte_lpm_lookup(lpm, address, &answer) != 0)
			answer = 0;
		sum ^= answer;
	}
	return sum;
}

static uint32_t walk(const struct table *table, size_t first, size_t count, int dependent)
{
	return dependent ? walk_keys(first, count, 1) : walk_keys(first, count, 0);
}

/* What a bulk lookup writes is an entry: a next hop, and a bit that says whether it is one. */
static uint32_t entries[MAX_BATCH] __rte_cache_aligned;

static void look_up_batch(size_t first, size_t count)
{
	rte_lpm_lookup_bulk(lpm, (const uint32_t *)keys + first, entries, (unsigned int)count);
	/* All entries count as read. */
	__asm__ volatile("" : : "r"(entries) : "memory");
}

static uint32_t answer(size_t index)
{
	return entries[index] & RTE_LPM_LOOKUP_SUCCESS ? entries[index] & MAX_ID : 0;
}

const struct table lpm_table = {
	.name = "rte_lpm",
	.family = "ipv4",
	.modes = "one,batch,dependent",
	.address_size = 4,
	.about = about,
	.prepare = prepare,
	.build = build,
	.bytes = bytes,
	.set_keys = set_keys,
	.walk = walk,
	.look_up_batch = look_up_batch,
	.answer = answer,
};
