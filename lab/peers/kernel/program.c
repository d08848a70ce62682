/*
 * The program inside the kernel that looks up keys: assembled here, run by BPF_PROG_TEST_RUN. One
 * run looks up as many keys as LIMIT, so that the system call takes no part of the time worth
 * mentioning.
 */
#define _GNU_SOURCE
#include "kernel.h"

#include <errno.h>
#include <linux/bpf.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <unistd.h>

/* The most keys of a run; the kernel checks the program for each of them. */
#define LIMIT 4096
/* Where the stack has the number of keys, and the argument of bpf_fib_lookup. */
#define COUNT (-8)
#define ARGUMENT (COUNT - (int)sizeof(struct bpf_fib_lookup))
#define FIELD(name) (ARGUMENT + (int)offsetof(struct bpf_fib_lookup, name))
/* BPF_FIB_LOOKUP_DIRECT, the main table alone; BPF_FIB_LOOKUP_SKIP_NEIGH, not in old headers. */
#define FIB_FLAGS (1 | 1 << 2)

struct code {
	struct bpf_insn instructions[96];
	int length;
};

static int bpf(int command, union bpf_attr *attr)
{
	return (int)syscall(SYS_bpf, command, attr, sizeof(*attr));
}

int failed(const char *what, char *why)
{
	int error = errno;
	const char *need = "";

	if (error == EPERM || error == EROFS)
		need = " (needs CAP_SYS_ADMIN, CAP_NET_ADMIN and CAP_BPF)";
	else if (error == ENOSYS)
		need = " (needs Linux 6.3 with BPF)";
	snprintf(why, REASON, "%s: %s%s", what, strerror(error), need);
	return -error;
}

void about_kernel(const char *name, const char *lookup, char *text, size_t size)
{
	struct utsname system;

	uname(&system);
	snprintf(text, size, "%s of Linux %s, %s", name, system.release, lookup);
}

static int create_map(enum bpf_map_type type, size_t key_size, size_t value_size, size_t entries,
		      unsigned int flags)
{
	union bpf_attr attr = {.map_type = type,
			       .key_size = (uint32_t)key_size,
			       .value_size = (uint32_t)value_size,
			       .max_entries = (uint32_t)entries,
			       .map_flags = flags};

	return bpf(BPF_MAP_CREATE, &attr);
}

static void about_trie(char *text, size_t size)
{
	about_kernel("BPF_MAP_TYPE_LPM_TRIE", "bpf_map_lookup_elem in a program's loop", text,
		     size);
}

static int build_trie(const struct table *table, const struct route *routes, size_t count,
		      char *why)
{
	struct state *state = table->state;
	struct {
		uint32_t length;
		uint8_t address[16];
	} key;

	discard_programs(state);
	if (state->map != 0)
		close(state->map);
	state->map = create_map(BPF_MAP_TYPE_LPM_TRIE, 4 + table->address_size, sizeof(uint32_t),
				count + 1, BPF_F_NO_PREALLOC);
	if (state->map < 0) {
		state->map = 0;
		return failed("BPF_MAP_CREATE", why);
	}
	for (size_t i = 0; i < count; i++) {
		union bpf_attr attr = {.map_fd = (uint32_t)state->map,
				       .key = (uintptr_t)&key,
				       .value = (uintptr_t)&routes[i].id};

		key.length = routes[i].length;
		memcpy(key.address, routes[i].address, sizeof(key.address));
		if (bpf(BPF_MAP_UPDATE_ELEM, &attr) != 0)
			return failed("BPF_MAP_UPDATE_ELEM", why);
	}
	return 0;
}

/* The bytes of a key: a trie's begins with its length. */
static size_t key_size(const struct table *table)
{
	const struct state *state = table->state;

	return table->address_size + (state->device == 0 ? sizeof(uint32_t) : 0);
}

int set_keys(const struct table *table, const void *addresses, size_t count, char *why)
{
	struct state *state = table->state;
	size_t size = key_size(table), header = size - table->address_size;
	uint32_t length = (uint32_t)(8 * table->address_size);

	discard_programs(state);
	if (state->keys != NULL) {
		munmap(state->keys, state->room * size);
		close(state->keys_map);
		state->keys = NULL;
	}
	for (state->room = 1; state->room < count;)
		state->room *= 2;
	state->keys_map = create_map(BPF_MAP_TYPE_ARRAY, sizeof(uint32_t), state->room * size, 1,
				     BPF_F_MMAPABLE);
	if (state->keys_map < 0)
		return failed("BPF_MAP_CREATE", why);
	uint8_t *keys = mmap(NULL, state->room * size, PROT_READ | PROT_WRITE, MAP_SHARED,
			     state->keys_map, 0);
	if (keys == MAP_FAILED)
		return failed("mmap", why);
	state->keys = keys;
	for (size_t i = 0; i < count; i++) {
		memcpy(keys + i * size, &length, header);
		memcpy(keys + i * size + header, (const uint8_t *)addresses + i * (size - header),
		       size - header);
	}
	return 0;
}

void discard_programs(struct state *state)
{
	for (int i = 0; i < 2; i++) {
		if (state->programs[i] != 0)
			close(state->programs[i]);
		state->programs[i] = 0;
	}
}

static void add(struct code *code, int operation, int to, int from, int offset, int64_t constant)
{
	code->instructions[code->length++] = (struct bpf_insn){.code = (uint8_t)operation,
							       .dst_reg = (uint8_t)to & 15,
							       .src_reg = (uint8_t)from & 15,
							       .off = (int16_t)offset,
							       .imm = (int32_t)constant};
}

static void move(struct code *code, int to, int from)
{
	add(code, BPF_ALU64 | BPF_MOV | BPF_X, to, from, 0, 0);
}

static void calculate(struct code *code, int operation, int to, int64_t constant)
{
	add(code, BPF_ALU64 | operation | BPF_K, to, 0, 0, constant);
}

static void load(struct code *code, int size, int to, int from, int offset)
{
	add(code, BPF_LDX | BPF_MEM | size, to, from, offset, 0);
}

static void store(struct code *code, int size, int offset, int from)
{
	add(code, BPF_STX | BPF_MEM | size, BPF_REG_10, from, offset, 0);
}

static void store_constant(struct code *code, int size, int offset, int64_t constant)
{
	add(code, BPF_ST | BPF_MEM | size, BPF_REG_10, 0, offset, constant);
}

static void load_map(struct code *code, int to, int kind, int map)
{
	add(code, BPF_LD | BPF_IMM | BPF_DW, to, kind, 0, map);
	add(code, 0, 0, 0, 0, 0);
}

/* Looks up the key at register 1 in the trie, into register 0. */
static void look_up_in_trie(struct code *code, const struct state *state)
{
	move(code, BPF_REG_2, BPF_REG_1);
	load_map(code, BPF_REG_1, BPF_PSEUDO_MAP_FD, state->map);
	add(code, BPF_JMP | BPF_CALL, 0, 0, 0, BPF_FUNC_map_lookup_elem);
	add(code, BPF_JMP | BPF_JEQ | BPF_K, BPF_REG_0, 0, 1, 0);
	load(code, BPF_W, BPF_REG_0, BPF_REG_0, 0);
}

/* Looks up the address at register 1 in the main table of routes; the id is the metric. */
static void look_up_route(struct code *code, const struct state *state, size_t address_size)
{
	for (int at = 0; at < (int)address_size; at += 4) {
		load(code, BPF_W, BPF_REG_2, BPF_REG_1, at);
		store(code, BPF_W, FIELD(ipv6_dst) + at, BPF_REG_2);
	}
	store_constant(code, BPF_W, FIELD(ifindex), state->device);
	store_constant(code, BPF_W, FIELD(rt_metric), 0);
	move(code, BPF_REG_1, BPF_REG_9);
	move(code, BPF_REG_2, BPF_REG_10);
	calculate(code, BPF_ADD, BPF_REG_2, ARGUMENT);
	calculate(code, BPF_MOV, BPF_REG_3, sizeof(struct bpf_fib_lookup));
	calculate(code, BPF_MOV, BPF_REG_4, FIB_FLAGS);
	add(code, BPF_JMP | BPF_CALL, 0, 0, 0, BPF_FUNC_fib_lookup);
	load(code, BPF_W, BPF_REG_0, BPF_REG_10, FIELD(rt_metric));
}

/*
 * The packet has the number of the first key and the number of keys. Register 0 has the previous
 * answer, 6 the keys that were looked up, 7 the exclusive or of the answers, 8 the first key's
 * number, 9 the context.
 */
static void assemble(struct code *code, const struct table *table, int dependent)
{
	const struct state *state = table->state;

	move(code, BPF_REG_9, BPF_REG_1);
	load(code, BPF_W, BPF_REG_2, BPF_REG_1, offsetof(struct xdp_md, data));
	load(code, BPF_W, BPF_REG_3, BPF_REG_1, offsetof(struct xdp_md, data_end));
	for (int reg = BPF_REG_6; reg <= BPF_REG_7; reg++)
		calculate(code, BPF_MOV, reg, 0);
	move(code, BPF_REG_1, BPF_REG_2);
	calculate(code, BPF_ADD, BPF_REG_1, 16);
	calculate(code, BPF_MOV, BPF_REG_0, 0);
	add(code, BPF_JMP | BPF_JLE | BPF_X, BPF_REG_1, BPF_REG_3, 1, 0);
	add(code, BPF_JMP | BPF_EXIT, 0, 0, 0, 0);
	load(code, BPF_DW, BPF_REG_8, BPF_REG_2, 0);
	load(code, BPF_DW, BPF_REG_1, BPF_REG_2, 8);
	store(code, BPF_DW, COUNT, BPF_REG_1);
	for (int at = ARGUMENT; at < COUNT; at += 8)
		store_constant(code, BPF_DW, at, 0);
	store_constant(code, BPF_B, FIELD(family), table->address_size == 4 ? AF_INET : AF_INET6);

	int loop = code->length;
	load(code, BPF_DW, BPF_REG_1, BPF_REG_10, COUNT);
	int end = code->length;
	add(code, BPF_JMP | BPF_JGE | BPF_X, BPF_REG_6, BPF_REG_1, 0, 0);
	move(code, BPF_REG_2, BPF_REG_8);
	add(code, BPF_ALU64 | BPF_ADD | BPF_X, BPF_REG_2, BPF_REG_6, 0, 0);
	if (dependent) {
		/* An answer has 32 bits. */
		calculate(code, BPF_RSH, BPF_REG_0, 32);
		add(code, BPF_ALU64 | BPF_XOR | BPF_X, BPF_REG_2, BPF_REG_0, 0, 0);
	}
	calculate(code, BPF_AND, BPF_REG_2, (int64_t)state->room - 1);
	calculate(code, BPF_MUL, BPF_REG_2, (int64_t)key_size(table));
	load_map(code, BPF_REG_1, BPF_PSEUDO_MAP_VALUE, state->keys_map);
	add(code, BPF_ALU64 | BPF_ADD | BPF_X, BPF_REG_1, BPF_REG_2, 0, 0);
	if (state->device == 0)
		look_up_in_trie(code, state);
	else
		look_up_route(code, state, table->address_size);
	add(code, BPF_ALU64 | BPF_XOR | BPF_X, BPF_REG_7, BPF_REG_0, 0, 0);
	calculate(code, BPF_ADD, BPF_REG_6, 1);
	add(code, BPF_JMP | BPF_JLT | BPF_K, BPF_REG_6, 0, loop - code->length - 1, LIMIT);
	code->instructions[end].off = (int16_t)(code->length - end - 1);
	move(code, BPF_REG_0, BPF_REG_7);
	add(code, BPF_JMP | BPF_EXIT, 0, 0, 0, 0);
}

int ready(const struct table *table, char *why)
{
	struct state *state = table->state;

	if (state->namespace != 0 && setns(state->namespace, CLONE_NEWNET) != 0)
		return failed("setns", why);
	for (int i = 0; i < 2 && state->programs[i] == 0; i++) {
		struct code code = {.length = 0};
		union bpf_attr attr = {.prog_type = BPF_PROG_TYPE_XDP,
				       .insns = (uintptr_t)code.instructions,
				       /* Which bpf_fib_lookup requires. */
				       .license = (uintptr_t)"Dual MIT/GPL"};

		assemble(&code, table, i);
		attr.insn_cnt = (uint32_t)code.length;
		state->programs[i] = bpf(BPF_PROG_LOAD, &attr);
		if (state->programs[i] < 0) {
			state->programs[i] = 0;
			return failed("BPF_PROG_LOAD", why);
		}
	}
	return 0;
}

uint32_t walk(const struct table *table, size_t first, size_t count, int dependent)
{
	const struct state *state = table->state;
	uint32_t sum = 0;

	for (size_t at = 0; at < count; at += LIMIT) {
		uint64_t packet[2] = {first + at, count - at < LIMIT ? count - at : LIMIT};
		union bpf_attr attr = {.test = {.prog_fd = (uint32_t)state->programs[dependent],
						.data_in = (uintptr_t)packet,
						.data_size_in = sizeof(packet)}};

		if (bpf(BPF_PROG_TEST_RUN, &attr) != 0) {
			perror("BPF_PROG_TEST_RUN");
			exit(1);
		}
		sum ^= attr.test.retval;
	}
	return sum;
}

#define TRIE_TABLE(version)                                                                        \
	{                                                                                          \
		.name = "linux-lpm-trie", .family = version == 4 ? "ipv4" : "ipv6",                \
		.modes = "one,dependent", .address_size = version == 4 ? 4 : 16,                   \
		.about = about_trie, .build = build_trie, .set_keys = set_keys, .ready = ready,    \
		.walk = walk, .state = &(struct state){.map = 0}                                   \
	}

const struct table trie4_table = TRIE_TABLE(4), trie6_table = TRIE_TABLE(6);
