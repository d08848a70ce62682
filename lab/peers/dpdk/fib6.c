/* rte_fib6, as rte_fib in fib.c. */
#define IPV6
#include "fib.c"
