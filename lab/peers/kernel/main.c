/* The kernel's lookups as peers of longmatch: `kernel linux-route|linux-lpm-trie`. */
#include "kernel.h"

#include <stdio.h>
#include <string.h>

int main(int argc, char **argv)
{
	const struct table *routes[] = {&route4_table, &route6_table};
	const struct table *tries[] = {&trie4_table, &trie6_table};

	if (argc == 2 && strcmp(argv[1], routes[0]->name) == 0)
		return serve(routes, 2);
	if (argc == 2 && strcmp(argv[1], tries[0]->name) == 0)
		return serve(tries, 2);
	fprintf(stderr, "usage: %s linux-route|linux-lpm-trie\n", argv[0]);
	return 2;
}
