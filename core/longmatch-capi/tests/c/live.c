/* A writer and readers in threads. */
#define _POSIX_C_SOURCE 200809L
#include <pthread.h>

#include "test.h"

enum { READERS = 4, ROUNDS = 300 };

static lm_reader *readers[READERS];
static int stop;

/* Looks up until the writer has ended: an address is answered by the routes before or after a commit. */
static void *look_up(void *user) {
    lm_reader *reader = user;
    const lm_table *table = lm_reader_table(reader);
    uint32_t addresses[64], ids[64];
    for (uint32_t i = 0; i < 64; i++)
        addresses[i] = HOST(10, i % 2 ? 9 : 8, i, 1);
    IS(LM_OK, lm_reader_online(reader));
    while (!__atomic_load_n(&stop, __ATOMIC_ACQUIRE)) {
        IS(LM_OK, lm_lookup_bulk4(table, addresses, 4, 64, ids));
        for (uint32_t i = 0; i < 64; i++)
            CHECK(i % 2 ? ids[i] == 1 || ids[i] == 2 || ids[i] == 5 : ids[i] == 1);
        CHECK(lm_lookup4(table, HOST(10, 1, 1, 1)) == 1);
        CHECK(lm_lookup6(table, PREFIXES6[1]) == 4);
        IS(LM_OK, lm_reader_quiescent(reader));
    }
    IS(LM_OK, lm_reader_offline(reader));
    return NULL;
}

static void *use_of_another_thread(void *user) {
    lm_reader *reader = user;
    const lm_table *table = lm_reader_table(reader);
    uint32_t id;
    FAILS(LM_ERROR, "another thread", lm_lookup4(table, 1));
    FAILS(LM_E_THREAD, "another thread", lm_lookup_bulk4(table, &id, 4, 1, &id + 1));
    FAILS(LM_E_THREAD, "another thread", lm_reader_quiescent(reader));
    FAILS(LM_E_THREAD, "another thread", lm_reader_offline(reader));
    FAILS(LM_E_THREAD, "another thread", lm_reader_online(reader));
    return NULL;
}

static void states(lm_writer *writer) {
    lm_reader *reader;
    pthread_t other;
    lm_match found;
    IS(LM_OK, lm_reader_new(writer, &reader));
    const lm_table *table = lm_reader_table(reader);
    FAILS(LM_ERROR, "lm_reader_online", lm_lookup4(table, 1));
    FAILS(LM_E_OFFLINE, "offline", lm_reader_quiescent(reader));
    FAILS(LM_E_OFFLINE, "offline", lm_reader_offline(reader));
    IS(LM_OK, lm_reader_online(reader));
    FAILS(LM_E_OFFLINE, "online already", lm_reader_online(reader));
    CHECK(pthread_create(&other, NULL, use_of_another_thread, reader) == 0);
    CHECK(pthread_join(other, NULL) == 0);
    FAILS(LM_E_UNSUPPORTED, "LM_PREFIXES", lm_lookup_prefix4(table, 1, &found, sizeof found));
    FAILS(LM_E_HANDLE, "free the reader", lm_free((lm_table *)(uintptr_t)table));
    IS(LM_OK, lm_reader_free(reader));
}

static void changes(uint32_t flags) {
    lm_writer *writer;
    lm_reader *reader;
    lm_match found;
    size_t bytes;
    const uint8_t lab[4] = {10, 9, 0, 0}, host[4] = {10, 9, 1, 1};
    IS(LM_OK, lm_writer_new(&ROUTES4, &ROUTES6, sizeof(lm_routes), flags, &writer));
    IS(LM_OK, lm_reader_new(writer, &reader));
    const lm_table *table = lm_reader_table(reader);
    IS(LM_OK, lm_reader_online(reader));
    CHECK(lm_lookup4(table, HOST(10, 9, 1, 1)) == 2);
    IS(LM_OK, lm_writer_add(writer, LM_IPV4, lab, 16, LM_MAX_ID));
    CHECK(lm_lookup4(table, HOST(10, 9, 1, 1)) == 2);
    IS(LM_OK, lm_writer_roll_back(writer));
    IS(LM_OK, lm_writer_commit(writer));
    CHECK(lm_lookup4(table, HOST(10, 9, 1, 1)) == 2);
    IS(LM_OK, lm_writer_remove(writer, LM_IPV4, lab, 16));
    IS(LM_NO_MATCH, lm_writer_remove(writer, LM_IPV4, lab, 16));
    IS(LM_OK, lm_writer_add(writer, LM_IPV4, host, 32, LM_MAX_ID));
    IS(LM_OK, lm_writer_add(writer, LM_IPV6, PREFIXES6[1], 48, 9));
    IS(LM_OK, lm_writer_commit(writer));
    CHECK(lm_lookup4(table, HOST(10, 9, 1, 1)) == LM_MAX_ID);
    CHECK(lm_lookup4(table, HOST(10, 9, 1, 2)) == 1);
    CHECK(lm_lookup6(table, PREFIXES6[1]) == 9);
    if (flags & LM_PREFIXES) {
        IS(LM_OK, lm_lookup_prefix4(table, HOST(10, 9, 1, 1), &found, sizeof found));
        CHECK(found.length == 32 && found.id == LM_MAX_ID && memcmp(found.prefix, host, 4) == 0);
    }
    IS(LM_OK, lm_reader_quiescent(reader));
    IS(LM_OK, lm_writer_limit(writer, 1 << 20));
    IS(LM_OK, lm_writer_reclaim(writer, NULL));
    IS(LM_OK, lm_reader_offline(reader));
    IS(LM_OK, lm_writer_reclaim(writer, &bytes));
    CHECK(bytes == 0);
    IS(LM_OK, lm_writer_free(writer));
    /* The reader outlives the writer. */
    IS(LM_OK, lm_reader_online(reader));
    CHECK(lm_lookup4(table, HOST(10, 9, 1, 1)) == LM_MAX_ID);
    IS(LM_OK, lm_reader_free(reader));
}

int main(void) {
    lm_writer *writer;
    pthread_t threads[READERS];
    const uint8_t lab[4] = {10, 9, 0, 0};
    changes(0);
    changes(LM_PREFIXES);
    IS(LM_OK, lm_writer_new(&ROUTES4, &ROUTES6, sizeof(lm_routes), 0, &writer));
    states(writer);
    for (int i = 0; i < READERS; i++) {
        IS(LM_OK, lm_reader_new(writer, &readers[i]));
        CHECK(pthread_create(&threads[i], NULL, look_up, readers[i]) == 0);
    }
    for (int round = 0; round < ROUNDS; round++) {
        IS(LM_OK, lm_writer_remove(writer, LM_IPV4, lab, 16));
        IS(LM_OK, lm_writer_commit(writer));
        IS(LM_OK, lm_writer_add(writer, LM_IPV4, lab, 16, round % 2 ? 2 : 5));
        IS(LM_OK, lm_writer_commit(writer));
    }
    __atomic_store_n(&stop, 1, __ATOMIC_RELEASE);
    for (int i = 0; i < READERS; i++) {
        CHECK(pthread_join(threads[i], NULL) == 0);
        IS(LM_OK, lm_reader_free(readers[i]));
    }
    IS(LM_OK, lm_writer_free(writer));
    return 0;
}
