/* rte_lpm: DIR-24-8 with next hops of 24 bits. */
#include "peer.h"

#include <arpa/inet.h>
#include <errno.h>

#include <rte_errno.h>
#include <rte_lpm.h>
#include <rte_version.h>

#define MAX_ID ((UINT32_C(1) << 24) - 1)

static struct rte_lpm *lpm;

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

static size_t groups_for(const struct route *routes, size_t count)
{
	/* It takes no 0. */
	return count_groups(routes, count, 4) + 1;
}

static int build(const struct route *routes, size_t count, size_t groups, char *why,
		 size_t why_size)
{
	/* Room for the second half of a default route; and it takes no 0. */
	struct rte_lpm_config config = {.max_rules = (uint32_t)count + 2,
					.number_tbl8s = (uint32_t)groups};

	rte_lpm_free(lpm);
	lpm = NULL;
	for (size_t i = 0; i < count; i++) {
		if (routes[i].id > MAX_ID) {
			snprintf(why, why_size, "next hop %u does not fit 24 bits", routes[i].id);
			return -ERANGE;
		}
	}
	lpm = rte_lpm_create("peer", heap_socket, &config);
	if (lpm == NULL) {
		snprintf(why, why_size, "not created: %s", rte_strerror(rte_errno));
		return -rte_errno;
	}
	for (size_t i = 0; i < count; i++) {
		int failed = add(routes, count, &routes[i]);

		if (failed != 0) {
			snprintf(why, why_size, "route %zu, of length %u: %s", i + 1,
				 routes[i].length, rte_strerror(-failed));
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

static inline uint32_t lookup(uint32_t address)
{
	uint32_t next_hop;

	return rte_lpm_lookup(lpm, address, &next_hop) == 0 ? next_hop : 0;
}

/* What a bulk lookup writes is an entry: a next hop, and a bit that says whether it is one. */
static inline uint32_t next_hop_of(uint32_t entry)
{
	return entry & RTE_LPM_LOOKUP_SUCCESS ? entry & MAX_ID : 0;
}

static void answer_one(const void *keys, size_t first, size_t count, uint32_t *answers)
{
	const uint32_t *addresses = keys;

	for (size_t i = 0; i < count; i++)
		answers[i] = lookup(addresses[first + i]);
}

static void answer_batch(const void *keys, size_t first, size_t count, uint32_t *answers)
{
	const uint32_t *addresses = keys;

	rte_lpm_lookup_bulk(lpm, addresses + first, answers, (unsigned int)count);
	for (size_t i = 0; i < count; i++)
		answers[i] = next_hop_of(answers[i]);
}

static uint32_t walk_one(const void *keys, size_t first, size_t count)
{
	const uint32_t *addresses = (const uint32_t *)keys + first;
	uint32_t sum = 0;

	for (size_t i = 0; i < count; i++)
		sum ^= lookup(addresses[i]);
	return sum;
}

static uint32_t walk_batch(const void *keys, size_t first, size_t count, size_t batch)
{
	static uint32_t entries[MAX_BATCH] __rte_cache_aligned;
	const uint32_t *addresses = (const uint32_t *)keys + first;
	uint32_t sum = 0;

	for (size_t at = 0; at < count; at += batch) {
		size_t part = count - at < batch ? count - at : batch;

		rte_lpm_lookup_bulk(lpm, addresses + at, entries, (unsigned int)part);
		/* All entries count as read. */
		__asm__ volatile("" : : "r"(entries) : "memory");
		sum ^= next_hop_of(entries[part - 1]);
	}
	return sum;
}

const struct table lpm_table = {
	.name = "rte_lpm",
	.family = "ipv4",
	.modes = "one,batch",
	.address_size = 4,
	.about = about,
	.groups = groups_for,
	.build = build,
	.convert = convert,
	.answer_one = answer_one,
	.answer_batch = answer_batch,
	.walk_one = walk_one,
	.walk_batch = walk_batch,
};
