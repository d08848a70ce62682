/* DPDK's lookup libraries as peers of longmatch: `dpdk rte_lpm|rte_fib|rte_fib6`. */
#define _GNU_SOURCE
#include "dpdk.h"

#include <arpa/inet.h>
#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <rte_eal.h>
#include <rte_errno.h>
#include <rte_malloc.h>

/* Memory that the libraries need apart from tables and routes. */
#define SPARE ((size_t)64 << 20)
/* The most bytes that the libraries keep of a route beside the table. */
#define ROUTE_BYTES 512
/* Of the system's transparent huge pages. */
#define HUGE_PAGE ((size_t)2 << 20)

#define HEAP "peer"

int heap_socket;
void *keys;

uint32_t host_order(const struct route *route)
{
	uint32_t address;

	memcpy(&address, route->address, sizeof(address));
	return ntohl(address);
}

size_t count_groups(const struct route *routes, size_t count, size_t address_size)
{
	size_t groups = 0;
	const struct route *before = NULL;

	/*
	 * Routes come in order, so those that go through the same block are neighbours but for
	 * shorter ones between them, which end before the block begins.
	 */
	for (size_t i = 0; i < count; i++) {
		const struct route *route = &routes[i];

		if (route->length <= 24)
			continue;
		for (size_t bytes = 3; bytes < address_size && 8 * bytes < route->length; bytes++) {
			if (before == NULL || before->length <= 8 * bytes ||
			    memcmp(before->address, route->address, bytes) != 0)
				groups++;
		}
		before = route;
	}
	return groups;
}

uint64_t table_bytes(size_t groups, size_t entry_size)
{
	return entry_size * ((UINT64_C(1) << 24) + 256 * groups);
}

int set_keys(const struct table *table, const void *addresses, size_t count, char *why)
{
	size_t size = count * table->address_size;

	free(keys);
	keys = aligned_alloc(64, (size + 64) & ~(size_t)63);
	if (keys == NULL) {
		snprintf(why, REASON, "no memory");
		return -ENOMEM;
	}
	memcpy(keys, addresses, size);
	for (size_t i = 0; table->address_size == 4 && i < count; i++)
		((uint32_t *)keys)[i] = ntohl(((uint32_t *)keys)[i]);
	return 0;
}

/* The CPUs that this process may use, as DPDK's option --lcores has them. */
static void allowed_cpus(const cpu_set_t *allowed, char *text, size_t size)
{
	size_t at = (size_t)snprintf(text, size, "0@(");

	for (int cpu = 0; cpu < CPU_SETSIZE && at + 8 < size; cpu++) {
		if (CPU_ISSET(cpu, allowed))
			at += (size_t)snprintf(text + at, size - at, "%d,", cpu);
	}
	text[at - 1] = ')';
}

/*
 * DPDK's users set huge pages aside for it, which takes an administrator. Those that the system gives
 * on request serve as well, but not in the memory that DPDK gets without: that is a shared file. So it
 * is given other memory, which it writes at once: so no more than a table needs.
 */
int reserve(size_t routes, size_t bytes)
{
	static size_t largest;
	size_t half = (size_t)sysconf(_SC_PHYS_PAGES) / 2 * (size_t)sysconf(_SC_PAGESIZE);
	size_t size = (SPARE + ROUTE_BYTES * routes + bytes) & ~(HUGE_PAGE - 1);

	if (size <= largest)
		return 0;
	if (size > half)
		return -ENOMEM;
	char *memory = mmap(NULL, size + HUGE_PAGE, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (memory == MAP_FAILED)
		return -ENOMEM;
	memory += HUGE_PAGE - ((uintptr_t)memory & (HUGE_PAGE - 1));
	/* Where the system has none, small pages remain. */
	madvise(memory, size, MADV_HUGEPAGE);
	if (rte_malloc_heap_memory_add(HEAP, memory, size, NULL, 0, HUGE_PAGE) != 0)
		return -ENOMEM;
	largest = size;
	return 0;
}

/* Starts DPDK: without huge pages of its own, devices or files. */
static int start(void)
{
	char lcores[8192], *arguments[] = {"peer", "--no-huge", "--no-shconf", "--no-pci",
					   "--no-telemetry", "--no-hpet",
					   "--log-level=*:error", "--force-max-simd-bitwidth=512",
					   "-m", "64", "--lcores", lcores};
	cpu_set_t allowed;

	if (sched_getaffinity(0, sizeof(allowed), &allowed) != 0)
		return -1;
	allowed_cpus(&allowed, lcores, sizeof(lcores));
	if (rte_eal_init(sizeof(arguments) / sizeof(*arguments), arguments) < 0)
		return -1;
	if (rte_malloc_heap_create(HEAP) != 0 || reserve(0, 0) != 0)
		return -1;
	heap_socket = rte_malloc_heap_get_socket(HEAP);
	/* Where the caller has put this process is where it measures. */
	return sched_setaffinity(0, sizeof(allowed), &allowed);
}

int main(int argc, char **argv)
{
	const struct table *tables[] = {&lpm_table, &fib_table, &fib6_table}, *table = NULL;

	for (size_t i = 0; argc == 2 && i < sizeof(tables) / sizeof(*tables); i++) {
		if (strcmp(argv[1], tables[i]->name) == 0)
			table = tables[i];
	}
	if (table == NULL) {
		fprintf(stderr, "usage: %s rte_lpm|rte_fib|rte_fib6\n", argv[0]);
		return 2;
	}
	if (start() != 0) {
		fprintf(stderr, "DPDK does not start: %s\n", rte_strerror(rte_errno));
		return 1;
	}
	return serve(&table, 1);
}
