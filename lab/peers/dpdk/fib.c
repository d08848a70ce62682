/*
 * rte_fib, DIR-24-8; and, included by fib6.c, rte_fib6, a trie of 24 bits and then 8 a level. Their
 * functions differ in names, and in how they take an address.
 */
#include "dpdk.h"

#include <errno.h>
#include <stdio.h>

#include <rte_common.h>
#include <rte_errno.h>
#include <rte_fib.h>
#include <rte_fib6.h>
#include <rte_version.h>

#ifdef IPV6
#define FIB(name) rte_fib6_##name
#define FIB_STRUCT rte_fib6
#define TYPE RTE_FIB6_TRIE
/* With 8 bytes the vectors of DPDK 22.11 take a next hop's bit 31 for the mark of a group. */
#define LOOKUP                                                                                     \
	(entry_size == LARGEST ? RTE_FIB6_LOOKUP_TRIE_SCALAR : RTE_FIB6_LOOKUP_TRIE_VECTOR_AVX512)
#define PART trie
#define SMALLEST RTE_FIB6_TRIE_2B
#define LARGEST RTE_FIB6_TRIE_8B
#define ADDRESS(route) ((route)->address)
#define TABLE fib6_table
typedef uint8_t address[16];
#else
#define FIB(name) rte_fib_##name
#define FIB_STRUCT rte_fib
#define TYPE RTE_FIB_DIR24_8
#define LOOKUP RTE_FIB_LOOKUP_DIR24_8_VECTOR_AVX512
#define PART dir24_8
#define SMALLEST RTE_FIB_DIR24_8_1B
#define LARGEST RTE_FIB_DIR24_8_8B
#define ADDRESS(route) host_order(route)
#define TABLE fib_table
typedef uint32_t address;
#endif

static struct FIB_STRUCT *fib;
static size_t groups;
/* The logarithm of an entry's bytes, which is also the library's constant for it. */
static unsigned int entry_size = SMALLEST;

static struct FIB_STRUCT *create(size_t routes)
{
	struct FIB(conf) config = {
		.type = TYPE,
		/* No route has this id. */
		.default_nh = 0,
		.max_routes = (int)routes,
		.PART = {.nh_sz = entry_size, .num_tbl8 = (uint32_t)groups + 1},
	};
	struct FIB_STRUCT *created = FIB(create)("peer", heap_socket, &config);

	/* Where the CPU has no vectors, this fails and changes nothing. */
	if (created != NULL)
		FIB(select_lookup)(created, LOOKUP);
	return created;
}

static void about(char *text, size_t size)
{
	struct FIB_STRUCT *probe = create(1);
	int vectors = probe != NULL && FIB(select_lookup)(probe, LOOKUP) == 0;

	FIB(free)(probe);
	snprintf(text, size, "%s of %s, smallest next hops that fit, %s", TABLE.name, rte_version(),
		 vectors ? "AVX-512" : "scalar");
}

static int build(const struct table *table, const struct route *routes, size_t count, char *why)
{
	FIB(free)(fib);
	fib = create(count + 1);
	if (fib == NULL) {
		snprintf(why, REASON, "not created: %s", rte_strerror(rte_errno));
		return -rte_errno;
	}
	for (size_t i = 0; i < count; i++) {
		int failed = FIB(add)(fib, ADDRESS(&routes[i]), routes[i].length, routes[i].id);

		if (failed != 0) {
			snprintf(why, REASON, "route %zu, of length %u and next hop %u: %s", i + 1,
				 routes[i].length, routes[i].id, rte_strerror(-failed));
			return failed;
		}
	}
	return 0;
}

/* Chooses the smallest entries that hold a next hop or a group's number and one bit. */
static int choose_entries(uint32_t largest_id, size_t count, char *why)
{
	size_t largest = RTE_MAX(largest_id, groups + 1);

	for (entry_size = SMALLEST; entry_size < LARGEST; entry_size++) {
		if (largest >> ((8 << entry_size) - 1) == 0)
			break;
	}
	if (reserve(count, table_bytes(groups + 1, (size_t)1 << entry_size)) == 0)
		return 0;
	snprintf(why, REASON, "not enough memory for %zu groups", groups);
	return -ENOMEM;
}

static int prepare(const struct table *table, const struct route *routes, size_t count, char *why)
{
	uint32_t largest = 0;

	for (size_t i = 0; i < count; i++)
		largest = RTE_MAX(largest, routes[i].id);
	groups = count_groups(routes, count, table->address_size);
	int failed = choose_entries(largest, count, why);
#ifdef IPV6
	/*
	 * The library reserves more groups than it uses, depending on how routes lie beside each
	 * other: so this tries. No route reserves more than a group for every 8 bits after the 24th.
	 */
	size_t most = 1;

	for (size_t i = 0; i < count; i++)
		most += routes[i].length > 24 ? (routes[i].length - 17) / 8 : 0;
	while (failed == 0 && groups < most && build(table, routes, count, why) == -ENOSPC) {
		groups = RTE_MIN(2 * groups + 1, most);
		failed = choose_entries(largest, count, why);
	}
#endif
	return failed;
}

static uint64_t bytes(const struct route *routes, size_t count)
{
	return table_bytes(count_groups(routes, count, sizeof(address)), (size_t)1 << entry_size);
}

static uint64_t next_hops[MAX_BATCH] __rte_cache_aligned;

static void look_up_batch(size_t first, size_t count)
{
	FIB(lookup_bulk)(fib, (address *)keys + first, next_hops, (int)count);
}

static uint32_t answer(size_t index)
{
	return (uint32_t)next_hops[index];
}

const struct table TABLE = {
	.name = RTE_STR(FIB_STRUCT),
	.family = sizeof(address) == 4 ? "ipv4" : "ipv6",
	.modes = "batch",
	.address_size = sizeof(address),
	.about = about,
	.prepare = prepare,
	.build = build,
	.bytes = bytes,
	.set_keys = set_keys,
	.look_up_batch = look_up_batch,
	.answer = answer,
};
