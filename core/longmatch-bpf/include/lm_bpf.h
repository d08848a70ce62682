/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * Longest-prefix match in a BPF program, over a map that longmatch-bpf has filled.
 *
 * Define LM_CAPACITY and LM_VALUE (the type of a value) as the table's shape says, before this header is included:
 *
 *     #define LM_CAPACITY (1u << 20)
 *     #define LM_VALUE __u8
 *     #include "lm_bpf.h"
 *
 * `base` is the value of the map, of LM_CAPACITY + 4096 bytes: the result of bpf_map_lookup_elem. Addresses are numbers in
 * the host's byte order. The result is 0 where no prefix matches. The layout is described in src/layout.rs.
 */
#ifndef LM_BPF_H
#define LM_BPF_H

#define LM_PAGE 0x80000000u
#define LM_LOW 0x08000000u
#define LM_WORDS 0x04000000u
/* So that the compiler keeps the masks, which the verifier wants to see. */
#define LM_OPAQUE(x) __asm__ volatile("" : "+r"(x))

static __attribute__((always_inline)) inline __u32 lm_word(const void *base, __u32 at)
{
	at &= LM_CAPACITY - 4;
	LM_OPAQUE(at);
	return *(const __u32 *)((const char *)base + at);
}

static __attribute__((always_inline)) inline __u32 lm_value(const void *base, __u32 at)
{
	at &= LM_CAPACITY - sizeof(LM_VALUE);
	LM_OPAQUE(at);
	return *(const LM_VALUE *)((const char *)base + at);
}

/* At most `steps` pages and lines: 1 with the value in *word, or 0 with the word of a low half. `narrow`: IPv4. */
static __attribute__((always_inline)) inline int
lm_steps(const void *base, __u32 *word, __u64 key, int steps, int narrow)
{
	__u32 w = *word;
#pragma unroll
	for (int step = 0; step < steps; step++) {
		__u32 at = w << 3, entry = 0;
		if (w & LM_PAGE) {
			__u32 shift = w >> 27;
			entry = (key >> 32) >> shift;
			key <<= 32 - shift;
		} else if (w & LM_LOW) {
			*word = w;
			return 0;
		} else {
			const char *line;
			at &= LM_CAPACITY - 8;
			LM_OPAQUE(at);
			line = (const char *)base + at;
#pragma unroll
			for (int start = 0; start < 8; start++)
				entry += narrow ? ((const __u16 *)line)[start] <= key >> 48
						: ((const __u64 *)line)[start] <= key >> 2;
			at += narrow ? 16 : 64;
		}
		if (!(w & LM_WORDS)) {
			*word = lm_value(base, at + entry * sizeof(LM_VALUE));
			return 1;
		}
		w = lm_word(base, at + entry * 4);
	}
	*word = 0;
	return 1;
}

static __attribute__((always_inline)) inline __u32 lm_lookup4(const void *base, __u32 address)
{
	__u32 word = lm_word(base, (address >> 15) << 2);
	lm_steps(base, &word, (__u64)address << 49, 5, 1);
	return word;
}

static __attribute__((always_inline)) inline __u32 lm_lookup6(const void *base, __u64 high, __u64 low)
{
	__u32 word = lm_word(base, (1u << 19) + ((high >> 48) << 2));
	if (lm_steps(base, &word, high << 16, 7, 0))
		return word;
	word = lm_word(base, (word << 3) + ((low >> 60) << 2));
	lm_steps(base, &word, low << 4, 7, 0);
	return word;
}

#endif
