/* A file that is replaced under lookups. The arguments are a compiled file with the routes of test.h, and another one
 * without 10.9/16, which the program renames to the first. */
#define _POSIX_C_SOURCE 200809L
#include <pthread.h>

#include "test.h"

static lm_table *current;
static unsigned rounds[2];
static int stop;

static void *look_up(void *user) {
    unsigned *round = user;
    uint32_t last = 2;
    while (!__atomic_load_n(&stop, __ATOMIC_ACQUIRE)) {
        uint32_t id = lm_lookup4(lm_load(&current), HOST(10, 9, 1, 1));
        /* 10.9/16 is the second route of the first file; without it the first route answers. Never back. */
        CHECK(id == last || (last == 2 && id == 1));
        last = id;
        /* A quiescent state: nothing of the table is held. */
        __atomic_add_fetch(round, 1, __ATOMIC_RELEASE);
    }
    CHECK(last == 1);
    return NULL;
}

int main(int argc, char **argv) {
    pthread_t threads[2];
    lm_table *fresh, *old;
    CHECK(argc == 3);
    IS(LM_OK, lm_open_file(argv[1], 0, &current));
    for (int i = 0; i < 2; i++)
        CHECK(pthread_create(&threads[i], NULL, look_up, &rounds[i]) == 0);
    IS(LM_UNCHANGED, lm_reopen(current, &fresh));
    CHECK(fresh == NULL);
    CHECK(rename(argv[2], argv[1]) == 0);
    IS(LM_OK, lm_reopen(current, &fresh));
    CHECK(lm_lookup4(fresh, HOST(10, 9, 1, 1)) == 1 && lm_lookup4(current, HOST(10, 9, 1, 1)) == 2);
    old = lm_swap(&current, fresh);
    /* The grace period: each thread has passed a quiescent state. */
    for (int i = 0; i < 2; i++) {
        unsigned before = __atomic_load_n(&rounds[i], __ATOMIC_ACQUIRE);
        while (__atomic_load_n(&rounds[i], __ATOMIC_ACQUIRE) - before < 2) {
        }
    }
    IS(LM_OK, lm_free(old));
    __atomic_store_n(&stop, 1, __ATOMIC_RELEASE);
    for (int i = 0; i < 2; i++)
        CHECK(pthread_join(threads[i], NULL) == 0);
    IS(LM_OK, lm_free(current));
    return 0;
}
