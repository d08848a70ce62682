/*
 * liblongmatch-feed: compiled tables of any input that longmatch reads, for lm_open_file and lm_open_memory.
 *
 * C99, C11 and C++17. Made of the sources by cbindgen: `LONGMATCH_WRITE=1 cargo test -p longmatch-feed-capi`. docs/c.md is
 * the guide. The library is apart from liblongmatch, which needs none of it to look up: the bytes of a table are all that
 * both share, and no handle of one is used in the other.
 *
 * Each call may be made by any thread at the same time, allocates, and prints nothing. No call unwinds into the caller.
 * Misuse that cannot be detected: memory that is shorter than its size says.
 */


#ifndef LONGMATCH_FEED_H
#define LONGMATCH_FEED_H

#include <stddef.h>
#include <stdint.h>

// The table is made. The message has the warnings about the input, or is empty.
#define LM_FEED_OK 0

// A pointer is NULL.
#define LM_FEED_E_NULL 10

// A size is too large.
#define LM_FEED_E_LENGTH 12

// The size of the options is not one that this library knows.
#define LM_FEED_E_SIZE 13

// A flag, a format or a column of the options is unknown.
#define LM_FEED_E_OPTIONS 16

// A defect of this library, which the message describes. Please report it.
#define LM_FEED_E_INTERNAL 99

// The system did not provide memory.
#define LM_FEED_E_MEMORY 310

// The input cannot be read; the message has the line or the byte. Other numbers are those of `lm_status`.
#define LM_FEED_E_INPUT 601

// Flag: ids are those of rows in place of routes: the table is smaller, and finds prefixes by a search.
#define LM_FEED_VALUES 1

// Flag: leave out damaged lines and records instead of refusing the input.
#define LM_FEED_LENIENT 2

// Flag: set bits after the length of a prefix are cleared instead of refused.
#define LM_FEED_MASK 4

// How an input is read. NULL in place of the options, or zeros, mean that all is recognised.
typedef struct lm_feed_options {
    // The name of the format, as `longmatch compile --format` takes it. NULL: recognised.
    const char *format;
    // The columns to keep, separated by commas. NULL: all.
    const char *columns;
    // `LM_FEED_VALUES`, `LM_FEED_LENIENT`, `LM_FEED_MASK`.
    uint32_t flags;
    // Zero.
    uint32_t reserved;
} lm_feed_options;

#ifdef __cplusplus
extern "C" {
#endif // __cplusplus

// Reads a file of any format and compression, and writes a compiled table, which replaces the file `target` in one step.
//
// `options` may be NULL; `size` is `sizeof(lm_feed_options)`. `message`, if it is not NULL, gets a text of at most
// `message_size` bytes with its NUL: the error, or warnings.
int32_t lm_feed_compile_file(const char *source,
                             const struct lm_feed_options *options,
                             size_t size,
                             const char *target,
                             char *message,
                             size_t message_size);

// Reads `count` bytes of any format and compression, and makes a compiled table in memory, which begins at a multiple of
// 64: `*table` and `*table_size`, for `lm_open_memory` and then `lm_feed_free`. On an error they are NULL and 0.
//
// `options` and `message` are those of `lm_feed_compile_file`.
int32_t lm_feed_compile_memory(const void *bytes,
                               size_t count,
                               const struct lm_feed_options *options,
                               size_t size,
                               void **table,
                               size_t *table_size,
                               char *message,
                               size_t message_size);

// Frees a table of `lm_feed_compile_memory` with its size. NULL is none. A table that was opened with `LM_BORROW` is freed
// with `lm_free` before.
void lm_feed_free(void *table,
                  size_t table_size);

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

#endif  /* LONGMATCH_FEED_H */
