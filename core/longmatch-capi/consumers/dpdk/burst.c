/*
 * burst ROUTES [ROUNDS]: a forwarder's loop over bursts of 32 packets, with liblongmatch, rte_fib and rte_fib6.
 *
 * ROUTES has lines `PREFIX NEXT-HOP` of one family; next hops are numbers from 1 on. Each implementation looks up the
 * destinations of the same packets, from the headers: rte_fib takes an array of addresses (in host order), which its
 * loop fills; liblongmatch reads the headers where they lie. All answers are compared before a time is printed.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <inttypes.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#include <longmatch.h>
#include <rte_eal.h>
#include <rte_errno.h>
#include <rte_fib.h>
#include <rte_fib6.h>
#include <rte_malloc.h>
#include <rte_version.h>

#ifndef BURST
#define BURST 32
#endif

enum {
	/* Received packets are in the caches: bursts are read from a ring of this size, which is filled between times. */
	RING = 4096,
	SLOT = 64,
	/* Of the destination, after Ethernet's header. */
	DESTINATION4 = 14 + 16,
	DESTINATION6 = 14 + 24,
	PACKETS = 1 << 20,
	MAX_ROUNDS = 101,
	ENGINES = 3,
};

#define HEAP "burst"
#define HUGE_PAGE ((size_t)2 << 20)

struct engine {
	char name[48];
	void (*burst)(const struct engine *engine, const uint8_t *packets, void *hops);
	void *table;
	size_t width; /* Bytes of a next hop, as its call gives them. */
};

static struct {
	uint8_t *prefixes, *lengths;
	uint32_t *hops;
	size_t count, size; /* Routes, and the bytes of an address. */
} routes;

static uint8_t ring[RING][SLOT] __rte_cache_aligned;
static uint8_t *destinations;
static struct engine engines[ENGINES];
static size_t engine_count;
static uint64_t seed = 1;

static void fail(const char *what, const char *why)
{
	fprintf(stderr, "burst: %s: %s\n", what, why);
	exit(1);
}

static void *memory(size_t size)
{
	void *found = calloc(size, 1);

	if (found == NULL)
		fail("memory", strerror(ENOMEM));
	return found;
}

static uint64_t next_random(void)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return seed * UINT64_C(0x2545f4914f6cdd1d);
}

static void read_routes(const char *path)
{
	FILE *file = fopen(path, "r");
	char text[64];
	unsigned int length, hop;
	size_t room = 0;

	if (file == NULL)
		fail(path, strerror(errno));
	while (fscanf(file, "%63[^/]/%u %u ", text, &length, &hop) == 3) {
		if (routes.size == 0)
			routes.size = strchr(text, ':') == NULL ? 4 : 16;
		if (routes.count == room) {
			room = 2 * room + 1024;
			routes.prefixes = realloc(routes.prefixes, room * routes.size);
			routes.lengths = realloc(routes.lengths, room);
			routes.hops = realloc(routes.hops, room * sizeof(*routes.hops));
			if (routes.prefixes == NULL || routes.lengths == NULL || routes.hops == NULL)
				fail(path, strerror(ENOMEM));
		}
		if (inet_pton(routes.size == 4 ? AF_INET : AF_INET6, text, routes.prefixes + routes.count * routes.size) != 1 ||
		    length > 8 * routes.size || hop == 0 || hop > LM_MAX_ID)
			fail(path, text);
		routes.lengths[routes.count] = (uint8_t)length;
		routes.hops[routes.count++] = hop;
	}
	if (routes.count == 0 || !feof(file))
		fail(path, "lines are `PREFIX NEXT-HOP` of one family");
	fclose(file);
}

/* The system's huge pages on request, as liblongmatch asks for: those of DPDK itself take an administrator. */
static int heap(void)
{
	static int socket = -1;
	/* The routes of two tables, then their arrays. */
	size_t size = (2048 * routes.count + ((size_t)1 << 30)) & ~(HUGE_PAGE - 1);
	char *area;

	if (socket >= 0)
		return socket;
	area = mmap(NULL, size + HUGE_PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (area == MAP_FAILED)
		fail("memory", strerror(errno));
	area += HUGE_PAGE - ((uintptr_t)area & (HUGE_PAGE - 1));
	madvise(area, size, MADV_HUGEPAGE);
	if (rte_malloc_heap_create(HEAP) != 0 || rte_malloc_heap_memory_add(HEAP, area, size, NULL, 0, HUGE_PAGE) != 0)
		fail("heap", rte_strerror(rte_errno));
	socket = rte_malloc_heap_get_socket(HEAP);
	return socket;
}

static void burst_lm(const struct engine *engine, const uint8_t *packets, void *hops)
{
	lm_status status = routes.size == 4 ? lm_lookup_bulk4n(engine->table, packets + DESTINATION4, SLOT, BURST, hops)
					    : lm_lookup_bulk6(engine->table, packets + DESTINATION6, SLOT, BURST, hops);

	if (unlikely(status != LM_OK))
		fail("lookup", lm_last_error());
}

static void burst_fib(const struct engine *engine, const uint8_t *packets, void *hops)
{
	uint32_t addresses[BURST];

	for (int i = 0; i < BURST; i++) {
		memcpy(&addresses[i], packets + i * SLOT + DESTINATION4, 4);
		addresses[i] = ntohl(addresses[i]);
	}
	rte_fib_lookup_bulk(engine->table, addresses, hops, BURST);
}

static void burst_fib6(const struct engine *engine, const uint8_t *packets, void *hops)
{
	uint8_t addresses[BURST][16];

	for (int i = 0; i < BURST; i++)
		memcpy(addresses[i], packets + i * SLOT + DESTINATION6, 16);
	rte_fib6_lookup_bulk(engine->table, addresses, hops, BURST);
}

static void make_lm(void)
{
	struct engine *engine = &engines[engine_count++];
	const lm_routes all = {routes.prefixes, routes.lengths, routes.hops, routes.count};
	int ipv4 = routes.size == 4;
	lm_table *table;

	if (lm_build(ipv4 ? &all : NULL, ipv4 ? NULL : &all, sizeof(all), 0, &table) != LM_OK)
		fail("lm_build", lm_last_error());
	snprintf(engine->name, sizeof(engine->name), "liblongmatch %s, %s", lm_version(), lm_instructions());
	engine->burst = burst_lm;
	engine->width = 4;
	engine->table = table;
}

/* A table of rte_fib with so many groups, or NULL and an error. */
static void *try_fib(int bytes, uint32_t groups, int *vectors, int *error)
{
	struct rte_fib_conf config = {.type = RTE_FIB_DIR24_8, .max_routes = (int)routes.count + 1,
		.dir24_8 = {bytes == 2 ? RTE_FIB_DIR24_8_2B : RTE_FIB_DIR24_8_4B, groups}};
	struct rte_fib *fib = rte_fib_create(bytes == 2 ? "fib2" : "fib4", heap(), &config);

	*error = fib == NULL ? -rte_errno : 0;
	for (size_t i = 0; *error == 0 && i < routes.count; i++) {
		uint32_t prefix;

		memcpy(&prefix, routes.prefixes + 4 * i, 4);
		*error = rte_fib_add(fib, ntohl(prefix), routes.lengths[i], routes.hops[i]);
	}
	if (*error != 0) {
		rte_fib_free(fib);
		return NULL;
	}
	*vectors = rte_fib_select_lookup(fib, RTE_FIB_LOOKUP_DIR24_8_VECTOR_AVX512) == 0;
	return fib;
}

static void *try_fib6(int bytes, uint32_t groups, int *vectors, int *error)
{
	struct rte_fib6_conf config = {.type = RTE_FIB6_TRIE, .max_routes = (int)routes.count + 1,
		.trie = {bytes == 2 ? RTE_FIB6_TRIE_2B : RTE_FIB6_TRIE_4B, groups}};
	struct rte_fib6 *fib = rte_fib6_create(bytes == 2 ? "fib2" : "fib4", heap(), &config);

	*error = fib == NULL ? -rte_errno : 0;
	for (size_t i = 0; *error == 0 && i < routes.count; i++)
		*error = rte_fib6_add(fib, routes.prefixes + 16 * i, routes.lengths[i], routes.hops[i]);
	if (*error != 0) {
		rte_fib6_free(fib);
		return NULL;
	}
	*vectors = rte_fib6_select_lookup(fib, RTE_FIB6_LOOKUP_TRIE_VECTOR_AVX512) == 0;
	return fib;
}

/* Next hops and the numbers of groups have 15 bits in 2 bytes, and 31 in 4. */
static void make_fib(int bytes)
{
	struct engine *engine = &engines[engine_count];
	const char *name = routes.size == 4 ? "rte_fib" : "rte_fib6";
	uint32_t most = bytes == 2 ? (1 << 15) - 1 : 1 << 22, groups = 1 << 12;
	int vectors = 0, error = -ENOSPC;

	for (; engine->table == NULL && error == -ENOSPC && groups <= most; groups *= 2)
		engine->table = routes.size == 4 ? try_fib(bytes, groups, &vectors, &error)
						 : try_fib6(bytes, groups, &vectors, &error);
	/* The last power of two is one too many. */
	if (engine->table == NULL && error == -ENOSPC && bytes == 2)
		engine->table = routes.size == 4 ? try_fib(bytes, most, &vectors, &error)
						 : try_fib6(bytes, most, &vectors, &error);
	if (engine->table == NULL) {
		printf("%s with next hops of %d bytes refuses the table: %s%s\n", name, bytes, rte_strerror(-error),
		       error == -ENOSPC ? " (it needs more groups than their bits can number)" : "");
		return;
	}
	snprintf(engine->name, sizeof(engine->name), "%s, %d bytes, %s", name, bytes, vectors ? "AVX-512" : "scalar");
	engine->burst = routes.size == 4 ? burst_fib : burst_fib6;
	engine->width = 8;
	engine_count++;
}

/* Destinations: any address, or one behind a route, each as likely. */
static void make_destinations(int routed)
{
	for (size_t i = 0; i < PACKETS; i++) {
		uint8_t *address = destinations + i * routes.size;
		uint64_t random[2] = {next_random(), next_random()};
		size_t route = next_random() % routes.count, bits = routed ? routes.lengths[route] : 0;

		memcpy(address, random, routes.size);
		memcpy(address, routes.prefixes + route * routes.size, bits / 8);
		if (bits % 8 != 0) {
			uint8_t mask = (uint8_t)(0xff00 >> bits % 8);

			address[bits / 8] = (uint8_t)((address[bits / 8] & ~mask) |
				(routes.prefixes[route * routes.size + bits / 8] & mask));
		}
	}
}

/* The thread's time on the CPU: other programs may share it. */
static double now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
	return (double)time.tv_sec * 1e9 + (double)time.tv_nsec;
}

/* Nanoseconds a packet, and all answers, if a place for them is given. */
static double pass(const struct engine *engine, uint32_t *answers)
{
	size_t at = routes.size == 4 ? DESTINATION4 : DESTINATION6;
	union {
		uint32_t narrow[RING];
		uint64_t wide[RING];
	} hops __rte_cache_aligned;
	double time = 0;

	for (size_t first = 0; first < PACKETS; first += RING) {
		for (size_t i = 0; i < RING; i++)
			memcpy(ring[i] + at, destinations + (first + i) * routes.size, routes.size);
		double start = now();
		for (size_t i = 0; i < RING; i += BURST)
			engine->burst(engine, ring[i], (uint8_t *)&hops + i * engine->width);
		time += now() - start;
		for (size_t i = 0; answers != NULL && i < RING; i++)
			answers[first + i] = engine->width == 4 ? hops.narrow[i] : (uint32_t)hops.wide[i];
	}
	return time / PACKETS;
}

static void compare(const char *traffic)
{
	uint32_t *expected = memory(PACKETS * sizeof(*expected)), *found = memory(PACKETS * sizeof(*found));
	uint64_t sum = 0;

	pass(&engines[0], expected);
	for (size_t engine = 1; engine < engine_count; engine++) {
		pass(&engines[engine], found);
		if (memcmp(expected, found, PACKETS * sizeof(*found)) != 0)
			fail(engines[engine].name, "its answers differ from those of liblongmatch");
	}
	for (size_t i = 0; i < PACKETS; i++)
		sum += expected[i];
	printf("%s: %d answers of %zu tables equal, sum %" PRIu64 "\n", traffic, PACKETS, engine_count, sum);
	free(expected);
	free(found);
}

static int ascending(const void *a, const void *b)
{
	return (*(const double *)a > *(const double *)b) - (*(const double *)a < *(const double *)b);
}

/* Rounds of one pass of each, in an order that turns; ratios are those of the same round. */
static void measure(const char *traffic, size_t rounds)
{
	double times[ENGINES][MAX_ROUNDS], ratios[MAX_ROUNDS];

	for (size_t round = 0; round < rounds; round++) {
		for (size_t turn = 0; turn < engine_count; turn++) {
			size_t engine = (round + turn) % engine_count;

			times[engine][round] = pass(&engines[engine], NULL);
		}
	}
	for (size_t engine = engine_count; engine-- > 0;) {
		for (size_t round = 0; round < rounds; round++)
			ratios[round] = times[engine][round] / times[0][round];
		qsort(ratios, rounds, sizeof(*ratios), ascending);
		/* Only now: ratios need times in the order of rounds, also those of engine 0, which is the last one here. */
		qsort(times[engine], rounds, sizeof(**times), ascending);
		printf("%-8s %-36s %6.2f ns (%.2f-%.2f)  ratio %.2f (%.2f-%.2f)\n", traffic, engines[engine].name,
		       times[engine][rounds / 2], times[engine][0], times[engine][rounds - 1], ratios[rounds / 2],
		       ratios[0], ratios[rounds - 1]);
	}
}

int main(int argc, char **argv)
{
	char *arguments[] = {"burst", "--no-huge", "--no-shconf", "--no-pci", "--no-telemetry", "--no-hpet",
		"--log-level=*:error", "--force-max-simd-bitwidth=512", "-m", "64", "--lcores", "0@0"};
	size_t rounds = argc == 3 ? strtoul(argv[2], NULL, 10) : 11;
	cpu_set_t allowed;

	if (argc < 2 || argc > 3 || rounds == 0 || rounds > MAX_ROUNDS) {
		fprintf(stderr, "usage: burst ROUTES [ROUNDS, at most %d]\n", MAX_ROUNDS);
		return 2;
	}
	read_routes(argv[1]);
	/* DPDK binds the thread to a CPU; here it runs where the caller has put it. */
	snprintf(arguments[11] = memory(32), 32, "0@%d", sched_getcpu());
	if (sched_getaffinity(0, sizeof(allowed), &allowed) != 0 || rte_eal_init(RTE_DIM(arguments), arguments) < 0 ||
	    sched_setaffinity(0, sizeof(allowed), &allowed) != 0)
		fail("DPDK does not start", rte_strerror(rte_errno));
	printf("%zu routes, %s\n", routes.count, rte_version());
	make_lm();
	make_fib(2);
	make_fib(4);
	destinations = memory(PACKETS * routes.size);
	for (int routed = 0; routed < 2; routed++) {
		const char *traffic = routed ? "routed" : "random";

		make_destinations(routed);
		compare(traffic);
		measure(traffic, rounds);
	}
	return 0;
}
