/* What the test programs share. */
#ifndef TEST_H
#define TEST_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "longmatch.h"

#define CHECK(condition)                                                                                              \
    do {                                                                                                              \
        if (!(condition)) {                                                                                           \
            fprintf(stderr, "%s:%d: %s: %s\n", __FILE__, __LINE__, #condition, lm_last_error());                      \
            exit(1);                                                                                                  \
        }                                                                                                             \
    } while (0)

/* Checks the status of a call. */
#define IS(status, call) CHECK((call) == (status))
/* Checks that a call fails with a message that has a text. */
#define FAILS(status, text, call)                                                                                     \
    do {                                                                                                              \
        CHECK((call) == (status));                                                                                    \
        CHECK(strstr(lm_last_error(), text) != NULL);                                                                 \
    } while (0)

/* Routes of each family, for tables of arrays: 10/8 -> 1, 10.9/16 -> 2; 2001:db8::/32 -> 3, 2001:db8:9::/48 -> 4. */
static const uint8_t PREFIXES4[2][4] = {{10, 0, 0, 0}, {10, 9, 0, 0}};
static const uint8_t PREFIXES6[2][16] = {{0x20, 0x01, 0x0d, 0xb8}, {0x20, 0x01, 0x0d, 0xb8, 0, 9}};
static const uint8_t LENGTHS4[2] = {8, 16};
static const uint8_t LENGTHS6[2] = {32, 48};
static const uint32_t IDS4[2] = {1, 2};
static const uint32_t IDS6[2] = {3, 4};
static const lm_routes ROUTES4 = {PREFIXES4, LENGTHS4, IDS4, 2};
static const lm_routes ROUTES6 = {PREFIXES6, LENGTHS6, IDS6, 2};

#define HOST(a, b, c, d) ((uint32_t)(a) << 24 | (uint32_t)(b) << 16 | (uint32_t)(c) << 8 | (uint32_t)(d))

#endif
