/* An XDP program in C: drops packets from addresses with a value in the table, and passes all others. */
#include <linux/bpf.h>
#include "lm_bpf.h"

static void *(*const look_up)(void *map, const void *key) = (void *)1;

__attribute__((section("maps"), used)) struct { int unused; } versions;

__attribute__((section("xdp"), used)) int example(struct xdp_md *context)
{
	const unsigned char *data = (void *)(long)context->data, *end = (void *)(long)context->data_end;
	__u32 key = 0, value = 0;
	const void *version = look_up(&versions, &key);

	if (!version || data + 14 + 20 > end)
		return XDP_PASS;
	if (data[12] == 0x08 && data[13] == 0)
		value = lm_lookup4(version, __builtin_bswap32(*(const __u32 *)(data + 26)));
	else if (data + 14 + 40 <= end && data[12] == 0x86 && data[13] == 0xdd)
		value = lm_lookup6(version, __builtin_bswap64(*(const __u64 *)(data + 22)),
				   __builtin_bswap64(*(const __u64 *)(data + 30)));
	return value ? XDP_DROP : XDP_PASS;
}
