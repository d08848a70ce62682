/* Wrong calls: each is an error with a message, and nothing is written. */
#include "test.h"

static lm_table *table;

static void pointers(void) {
    uint32_t id = 7, address = 1;
    lm_match found;
    lm_info info;
    lm_table *null = NULL;
    const void *packets[1] = {NULL};
    FAILS(LM_ERROR, "table is NULL", lm_lookup4(NULL, 1));
    FAILS(LM_ERROR, "table is NULL", lm_lookup6(NULL, PREFIXES6[0]));
    FAILS(LM_ERROR, "address is NULL", lm_lookup6(table, NULL));
    FAILS(LM_E_NULL, "table is NULL", lm_lookup_bulk4(NULL, &address, 4, 1, &id));
    FAILS(LM_E_NULL, "addresses are NULL", lm_lookup_bulk4(table, NULL, 4, 1, &id));
    FAILS(LM_E_NULL, "ids is NULL", lm_lookup_bulk4n(table, &address, 4, 1, NULL));
    FAILS(LM_E_NULL, "packet is NULL", lm_lookup_bulk4p(table, packets, 0, 1, &id));
    FAILS(LM_E_NULL, "NULL", lm_lookup_bulk6p(table, NULL, 0, 1, &id));
    FAILS(LM_E_NULL, "address is NULL", lm_lookup_prefix6(table, NULL, &found, sizeof found));
    FAILS(LM_E_NULL, "result is NULL", lm_lookup_prefix4(table, HOST(10, 0, 0, 1), NULL, sizeof found));
    FAILS(LM_E_NULL, "result is NULL", lm_table_info(table, NULL, sizeof info));
    FAILS(LM_E_NULL, "text is NULL", lm_open_file(NULL, 0, &null));
    FAILS(LM_E_NULL, "result is NULL", lm_open_file("x", 0, NULL));
    FAILS(LM_E_NULL, "array is NULL", lm_open_memory(NULL, 1, 0, &null));
    FAILS(LM_E_NULL, "callback is NULL", lm_open_callback(NULL, NULL, 0, &null));
    CHECK(lm_swap(NULL, table) == NULL && lm_load(NULL) == NULL);
    CHECK(lm_reader_table(NULL) == NULL);
    FAILS(LM_E_NULL, "writer is NULL", lm_writer_commit(NULL));
    FAILS(LM_E_NULL, "reader is NULL", lm_reader_online(NULL));
    CHECK(id == 7);
    /* No addresses need no memory. */
    IS(LM_OK, lm_lookup_bulk4(table, NULL, 4, 0, NULL));
    IS(LM_OK, lm_lookup_bulk6(table, NULL, 16, 0, NULL));
    IS(LM_OK, lm_lookup_bulk6p(table, NULL, 0, 0, NULL));
    IS(LM_OK, lm_free(NULL));
    IS(LM_OK, lm_writer_free(NULL));
    IS(LM_OK, lm_reader_free(NULL));
}

static void handles(void) {
    uint64_t memory[8] = {0};
    lm_writer *writer;
    IS(LM_OK, lm_writer_new(NULL, NULL, sizeof(lm_routes), 0, &writer));
    FAILS(LM_ERROR, "not a handle", lm_lookup4((lm_table *)(void *)memory, 1));
    FAILS(LM_ERROR, "not a handle", lm_lookup4((lm_table *)(void *)writer, 1));
    FAILS(LM_ERROR, "not a handle", lm_lookup4((lm_table *)((uintptr_t)memory | 1), 1));
    FAILS(LM_E_HANDLE, "not a handle", lm_writer_commit((lm_writer *)(void *)table));
    FAILS(LM_E_HANDLE, "not a handle", lm_reader_free((lm_reader *)(void *)table));
    FAILS(LM_E_HANDLE, "not a handle", lm_free((lm_table *)(void *)writer));
    IS(LM_OK, lm_writer_free(writer));
}

static void memory(void) {
    uint32_t words[16] = {0}, ids[4] = {7, 7, 7, 7};
    const uint8_t *bytes = (const uint8_t *)words;
    lm_match found;
    size_t many = SIZE_MAX / 16 + 1;
    FAILS(LM_E_LENGTH, "SIZE_MAX / 16", lm_lookup_bulk4(table, words, 4, many, ids));
    FAILS(LM_E_LENGTH, "SIZE_MAX / 16", lm_lookup_bulk6(table, words, 16, SIZE_MAX, ids));
    FAILS(LM_E_LENGTH, "SIZE_MAX / 16", lm_lookup_bulk4p(table, (const void *const *)(void *)words, 0, many, ids));
    FAILS(LM_E_LENGTH, "reach beyond", lm_lookup_bulk4n(table, words, SIZE_MAX / 8, 100, ids));
    FAILS(LM_E_LENGTH, "stride", lm_lookup_bulk4(table, words, 0, 1, ids));
    FAILS(LM_E_LENGTH, "stride", lm_lookup_bulk4n(table, words, 3, 1, ids));
    FAILS(LM_E_LENGTH, "stride", lm_lookup_bulk6(table, words, 15, 1, ids));
    FAILS(LM_E_ALIGN, "misaligned", lm_lookup_bulk4(table, (const uint32_t *)(const void *)(bytes + 1), 4, 1, ids));
    FAILS(LM_E_ALIGN, "misaligned", lm_lookup_bulk4(table, words, 6, 2, ids));
    FAILS(LM_E_ALIGN, "misaligned", lm_lookup_bulk4n(table, words, 4, 1, (uint32_t *)((uintptr_t)ids + 2)));
    FAILS(LM_E_OVERLAP, "overlaps", lm_lookup_bulk4(table, words, 4, 16, words));
    FAILS(LM_E_OVERLAP, "overlaps", lm_lookup_bulk6(table, words, 16, 4, words + 15));
    FAILS(LM_E_SIZE, "sizeof", lm_lookup_prefix4(table, HOST(10, 0, 0, 1), &found, sizeof found - 1));
    FAILS(LM_E_SIZE, "sizeof", lm_table_info(table, (lm_info *)(void *)words, SIZE_MAX));
    FAILS(LM_E_ALIGN, "misaligned", lm_lookup_prefix4(table, HOST(10, 0, 0, 1), (lm_match *)((uintptr_t)words | 1), sizeof found));
    for (int i = 0; i < 4; i++)
        CHECK(ids[i] == 7 && words[i] == 0);
}

static void arguments(void) {
    lm_table *other = table;
    lm_routes routes = ROUTES4;
    lm_writer *writer;
    const uint8_t prefix[4] = {10, 1, 0, 0};
    const uint8_t bad[2] = {33, 8}, short_lengths[2] = {8, 8};
    const uint32_t none[2] = {0, 1}, large[2] = {LM_MAX_ID + 1u, 1};
    routes.lengths = bad;
    FAILS(LM_E_PREFIX_LENGTH, "IPv4 route 0", lm_build(&routes, NULL, sizeof routes, 0, &other));
    CHECK(other == NULL);
    routes.lengths = short_lengths;
    FAILS(LM_E_HOST_BITS, "IPv4 route 1: 10.9.0.0/8", lm_build(&routes, NULL, sizeof routes, 0, &other));
    IS(LM_OK, lm_build(&routes, NULL, sizeof routes, LM_MASK, &other));
    /* The last of equal prefixes counts. */
    CHECK(lm_lookup4(other, HOST(10, 1, 1, 1)) == 2);
    IS(LM_OK, lm_free(other));
    routes = ROUTES4;
    routes.ids = none;
    FAILS(LM_E_ID, "the id 0", lm_build(&routes, NULL, sizeof routes, 0, &other));
    routes.ids = large;
    FAILS(LM_E_ID, "the id 1073741824", lm_build(&routes, NULL, sizeof routes, 0, &other));
    routes.ids = NULL;
    FAILS(LM_E_NULL, "array is NULL", lm_build(&routes, NULL, sizeof routes, 0, &other));
    routes.count = SIZE_MAX / 8;
    FAILS(LM_E_LENGTH, "SIZE_MAX / 16", lm_build(&routes, NULL, sizeof routes, 0, &other));
    FAILS(LM_E_SIZE, "sizeof(lm_routes)", lm_build(&ROUTES4, NULL, sizeof routes - 8, 0, &other));
    FAILS(LM_E_FLAGS, "0x1", lm_build(&ROUTES4, NULL, sizeof routes, LM_TRUST, &other));
    FAILS(LM_E_FLAGS, "0x4", lm_open_file("x", LM_BORROW, &other));
    FAILS(LM_E_FLAGS, "LM_TRUST", lm_open_memory(prefix, 4, LM_BORROW, &other));
    FAILS(LM_E_ALIGN, "64", lm_open_memory((const uint8_t *)&routes + 1, 8, LM_BORROW | LM_TRUST, &other));
    FAILS(LM_E_IO, "absent.lm", lm_open_file("absent.lm", 0, &other));
    CHECK(lm_open_file("/dev/null", 0, &other) >= 500 && other == NULL);
    FAILS(LM_E_UNSUPPORTED, "lm_open_file", lm_reopen(table, &other));
    IS(LM_OK, lm_writer_new(&ROUTES4, NULL, sizeof routes, 0, &writer));
    FAILS(LM_E_FAMILY, "LM_IPV6 (6)", lm_writer_add(writer, 5, prefix, 16, 1));
    FAILS(LM_E_PREFIX_LENGTH, "/33", lm_writer_add(writer, LM_IPV4, prefix, 33, 1));
    FAILS(LM_E_HOST_BITS, "10.1.0.0/8", lm_writer_remove(writer, LM_IPV4, prefix, 8));
    FAILS(LM_E_NULL, "prefix is NULL", lm_writer_add(writer, LM_IPV4, NULL, 8, 1));
    FAILS(LM_E_ID, "the id 0", lm_writer_add(writer, LM_IPV4, prefix, 16, 0));
    FAILS(LM_E_NULL, "result is NULL", lm_reader_new(writer, NULL));
    IS(LM_OK, lm_writer_free(writer));
}

int main(void) {
    IS(LM_OK, lm_build(&ROUTES4, &ROUTES6, sizeof(lm_routes), 0, &table));
    pointers();
    handles();
    memory();
    arguments();
    IS(LM_OK, lm_free(table));
    for (int status = -1; status < 600; status++)
        CHECK(*lm_strerror(status));
    CHECK(strcmp(lm_strerror(LM_E_NULL), lm_strerror(LM_E_IO)) != 0);
    return 0;
}
