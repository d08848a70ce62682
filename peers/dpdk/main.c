/* DPDK's lookup libraries as peers of longmatch: `dpdk rte_lpm|rte_fib|rte_fib6`. */
#define _GNU_SOURCE
#include "peer.h"

#include <arpa/inet.h>
#include <sched.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <rte_eal.h>
#include <rte_errno.h>
#include <rte_memory.h>

/*
 * Megabytes that DPDK's own allocator has. It is address space until it is used, and holds the
 * tables and the copies of the routes that the libraries keep beside them.
 */
#define HEAP "6144"

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
 * DPDK's users set huge pages aside for it. Those that the system gives on request serve as well,
 * and need no one to prepare anything; where there are none, small pages remain.
 */
static int advise_huge(const struct rte_memseg_list *list, void *unused)
{
	(void)unused;
	madvise(list->base_va, list->len, MADV_HUGEPAGE);
	return 0;
}

/* Starts DPDK: without huge pages of its own, devices or files. */
static int start(void)
{
	char lcores[8192], *arguments[] = {"peer", "--no-huge", "--no-shconf", "--no-pci",
					   "--no-telemetry", "--no-hpet",
					   "--log-level=*:error", "--force-max-simd-bitwidth=512",
					   "-m", HEAP, "--lcores", lcores};
	cpu_set_t allowed;

	if (sched_getaffinity(0, sizeof(allowed), &allowed) != 0)
		return -1;
	allowed_cpus(&allowed, lcores, sizeof(lcores));
	if (rte_eal_init(sizeof(arguments) / sizeof(*arguments), arguments) < 0)
		return -1;
	rte_memseg_list_walk(advise_huge, NULL);
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
	/* Whatever the libraries print is no answer. */
	int answers = dup(STDOUT_FILENO);
	FILE *out = answers < 0 ? NULL : fdopen(answers, "w");
	if (out == NULL || dup2(STDERR_FILENO, STDOUT_FILENO) < 0) {
		perror("standard output");
		return 1;
	}
	if (start() != 0) {
		fprintf(stderr, "DPDK does not start: %s\n", rte_strerror(rte_errno));
		return 1;
	}
	serve(table, stdin, out);
	return 0;
}
