/* Lookups in a compiled file, in memory, by a callback and in arrays. The argument is a compiled file with the routes of
 * test.h, whose ids are those of routes (1 to 4), in order. */
#include "test.h"

enum { COUNT = 700, SLOT = 60 };

static const uint8_t INSIDE6[16] = {0x20, 0x01, 0x0d, 0xb8, 0, 9, 1};
static const uint8_t MAPPED[16] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 10, 9, 1, 1};

static uint32_t expected4(uint32_t address) {
    return address >> 16 == (10 << 8 | 9) ? 2 : address >> 24 == 10 ? 1 : LM_NONE;
}

static uint32_t address4(size_t i) {
    return HOST(9 + i % 3, 8 + i % 2, i & 0xff, 1);
}

static void put4(uint8_t *at, uint32_t address) {
    for (int i = 0; i < 4; i++)
        at[i] = (uint8_t)(address >> (24 - 8 * i));
}

static void single(const lm_table *table) {
    CHECK(lm_lookup4(table, HOST(10, 1, 2, 3)) == 1);
    CHECK(lm_lookup4(table, HOST(10, 9, 2, 3)) == 2);
    CHECK(lm_lookup4(table, HOST(11, 1, 2, 3)) == LM_NONE);
    CHECK(lm_lookup6(table, INSIDE6) == 4);
    CHECK(lm_lookup6(table, MAPPED) == 2);
    const uint8_t outside[16] = {0x20, 0x02};
    CHECK(lm_lookup6(table, outside) == LM_NONE);
}

static void bulk4(const lm_table *table) {
    static uint32_t hosts[COUNT], spread[3 * COUNT], ids[COUNT];
    static uint8_t headers[SLOT * COUNT + 1];
    static const void *packets[COUNT];
    for (size_t i = 0; i < COUNT; i++) {
        hosts[i] = spread[3 * i] = address4(i);
        put4(headers + SLOT * i + 17, address4(i));
        packets[i] = headers + SLOT * i;
    }
    for (size_t count = 0; count <= COUNT; count += count < 40 ? 1 : 130) {
        for (int way = 0; way < 4; way++) {
            memset(ids, 0xee, sizeof ids);
            switch (way) {
            case 0: IS(LM_OK, lm_lookup_bulk4(table, hosts, 4, count, ids)); break;
            case 1: IS(LM_OK, lm_lookup_bulk4(table, spread, 12, count, ids)); break;
            case 2: IS(LM_OK, lm_lookup_bulk4n(table, headers + 17, SLOT, count, ids)); break;
            case 3: IS(LM_OK, lm_lookup_bulk4p(table, packets, 17, count, ids)); break;
            }
            for (size_t i = 0; i < COUNT; i++)
                CHECK(ids[i] == (i < count ? expected4(address4(i)) : 0xeeeeeeee));
        }
    }
    static uint8_t network[4 * COUNT];
    for (size_t i = 0; i < COUNT; i++)
        put4(network + 4 * i, address4(i));
    IS(LM_OK, lm_lookup_bulk4n(table, network, 4, COUNT, ids));
    for (size_t i = 0; i < COUNT; i++)
        CHECK(ids[i] == expected4(address4(i)));
}

static void bulk6(const lm_table *table) {
    static uint8_t dense[16 * COUNT], headers[SLOT * COUNT];
    static uint32_t ids[COUNT];
    static const void *packets[COUNT];
    for (size_t i = 0; i < COUNT; i++) {
        const uint8_t *from = i % 5 == 3 ? MAPPED : INSIDE6;
        memcpy(dense + 16 * i, from, 16);
        dense[16 * i + 5] = i % 2 ? from[5] : 0;
        memcpy(headers + SLOT * i + 24, dense + 16 * i, 16);
        packets[i] = headers + SLOT * i;
    }
    for (size_t count = 0; count <= COUNT; count += count < 40 ? 1 : 130) {
        for (int way = 0; way < 3; way++) {
            memset(ids, 0xee, sizeof ids);
            switch (way) {
            case 0: IS(LM_OK, lm_lookup_bulk6(table, dense, 16, count, ids)); break;
            case 1: IS(LM_OK, lm_lookup_bulk6(table, headers + 24, SLOT, count, ids)); break;
            case 2: IS(LM_OK, lm_lookup_bulk6p(table, packets, 24, count, ids)); break;
            }
            for (size_t i = 0; i < COUNT; i++)
                CHECK(ids[i] == (i >= count ? 0xeeeeeeee : i % 5 == 3 ? 2u : i % 2 ? 4u : 3u));
        }
    }
}

static void prefixes(const lm_table *table) {
    lm_match found;
    memset(&found, 0xee, sizeof found);
    IS(LM_NO_MATCH, lm_lookup_prefix4(table, HOST(11, 0, 0, 1), &found, sizeof found));
    CHECK(found.id == 0xeeeeeeee);
    IS(LM_OK, lm_lookup_prefix4(table, HOST(10, 9, 0, 1), &found, sizeof found));
    CHECK(found.family == LM_IPV4 && found.length == 16 && found.id == 2);
    CHECK(memcmp(found.prefix, PREFIXES4[1], 4) == 0 && found.prefix[4] == 0);
    IS(LM_OK, lm_lookup_prefix6(table, MAPPED, &found, sizeof found));
    CHECK(found.family == LM_IPV4 && found.length == 16 && found.id == 2);
    IS(LM_OK, lm_lookup_prefix6(table, INSIDE6, &found, sizeof found));
    CHECK(found.family == LM_IPV6 && found.length == 48 && found.id == 4);
    CHECK(memcmp(found.prefix, PREFIXES6[1], 16) == 0);
    /* A struct of a later version. */
    struct { lm_match match; uint32_t later; } longer = {.later = 7};
    IS(LM_OK, lm_lookup_prefix4(table, HOST(10, 1, 0, 1), &longer.match, sizeof longer));
    CHECK(longer.match.id == 1 && longer.match.length == 8 && longer.later == 0);
}

static void all(lm_table *table, uint32_t answers) {
    lm_info info;
    IS(LM_OK, lm_table_info(table, &info, sizeof info));
    CHECK(info.answers == answers && info.routes == 4 && info.bytes > 0);
    single(table);
    bulk4(table);
    bulk6(table);
    prefixes(table);
    IS(LM_OK, lm_free(table));
}

struct source {
    const uint8_t *bytes;
    size_t size, at, fail_at;
};

static int64_t read_some(void *user, void *buffer, size_t size) {
    struct source *source = user;
    size_t left = source->size - source->at;
    size_t count = left < size ? left : size;
    count = count > 1000 ? 1000 : count;
    if (source->at >= source->fail_at)
        return -5;
    memcpy(buffer, source->bytes + source->at, count);
    source->at += count;
    return (int64_t)count;
}

int main(int argc, char **argv) {
    lm_table *table = NULL;
    CHECK(argc == 2);
    CHECK(*lm_last_error() == 0);
    printf("longmatch %s, %s\n", lm_version(), lm_instructions());
    for (uint32_t flags = 0; flags <= (LM_TRUST | LM_COPY); flags++) {
        IS(LM_OK, lm_open_file(argv[1], flags, &table));
        lm_match found;
        IS(LM_OK, lm_route(table, 2, &found, sizeof found));
        CHECK(found.length == 16 && found.family == LM_IPV4 && found.id == 2);
        all(table, LM_ANSWERS_ROUTES);
    }
    FILE *file = fopen(argv[1], "rb");
    CHECK(file && fseek(file, 0, SEEK_END) == 0);
    size_t size = (size_t)ftell(file);
    uint8_t *memory = malloc(size + 64);
    uint8_t *aligned = memory + (64 - (uintptr_t)memory % 64) % 64;
    rewind(file);
    CHECK(fread(aligned, 1, size, file) == size && fclose(file) == 0);
    IS(LM_OK, lm_open_memory(aligned, size, 0, &table));
    all(table, LM_ANSWERS_ROUTES);
    IS(LM_OK, lm_open_memory(aligned, size, LM_BORROW | LM_TRUST, &table));
    all(table, LM_ANSWERS_ROUTES);
    struct source source = {aligned, size, 0, SIZE_MAX};
    IS(LM_OK, lm_open_callback(read_some, &source, 0, &table));
    all(table, LM_ANSWERS_ROUTES);
    struct source failing = {aligned, size, 0, 2000};
    FAILS(LM_E_CALLBACK, "-5", lm_open_callback(read_some, &failing, 0, &table));
    CHECK(table == NULL);
    /* Every beginning of the file is refused, as is each changed byte of it. */
    for (size_t i = 0; i < size; i += 1 + size / 200) {
        CHECK(lm_open_memory(aligned, i, 0, &table) >= 500 && table == NULL);
        aligned[i] ^= 0x40;
        CHECK(lm_open_memory(aligned, size, 0, &table) >= 500 && table == NULL);
        aligned[i] ^= 0x40;
    }
    free(memory);
    IS(LM_OK, lm_build(&ROUTES4, &ROUTES6, sizeof(lm_routes), 0, &table));
    all(table, LM_ANSWERS_IDS);
    IS(LM_OK, lm_build(NULL, &ROUTES6, sizeof(lm_routes), LM_KEEP_MAPPED, &table));
    CHECK(lm_lookup6(table, MAPPED) == LM_NONE && lm_lookup6(table, INSIDE6) == 4);
    IS(LM_OK, lm_free(table));
    return 0;
}
