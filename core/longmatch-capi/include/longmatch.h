/*
 * liblongmatch: longest-prefix match for IPv4 and IPv6.
 *
 * C99, C11 and C++17. Made of the sources by cbindgen: `LONGMATCH_WRITE=1 cargo test -p longmatch-capi --test header`.
 * Each call states the threads that may make it. docs/c.md is the guide, with examples.
 *
 * Lookups (lm_lookup*, lm_route, lm_row, lm_cell_*, lm_column_*, lm_load, lm_reader_quiescent) start no thread, allocate
 * nothing, print nothing and take no lock. The code for this CPU is chosen when a table is opened; there is no ifunc. No
 * call unwinds into the caller. Other calls allocate; where the system has no memory, those of a large table return
 * LM_E_MEMORY, and any other may end the process, as in programs in Rust.
 *
 * Misuse gives an error where it can be detected: NULL, counts beyond SIZE_MAX / 16, misaligned arrays, strides below an
 * address, unknown sizes, families and flags, answers that overlap addresses, handles of another type, a reader in two
 * threads, a writer in two threads at once, damaged or truncated files. What cannot be detected is undefined:
 *  - memory that is shorter than the counts and strides say, or that another thread writes during a call;
 *  - a pointer that was never a handle; a freed handle is detected only until its memory is used again;
 *  - freeing a handle while another thread uses it, and texts of cells after their table was freed;
 *  - a program that writes into a mapped file, or shortens it, in place of renaming another one to its name;
 *  - memory of LM_BORROW that changes or ends before the table;
 *  - answers of a live table that are used after lm_reader_quiescent (ids are values: they stay valid);
 *  - a reader that is online in a thread that has ended: free it.
 *
 * Structs that calls fill in are passed with sizeof. A later version may add fields at their end: it fills in as many
 * as the caller's size has.
 */


#ifndef LONGMATCH_H
#define LONGMATCH_H

#include <stddef.h>
#include <stdint.h>

// Flag of opening: trust the content instead of verifying its checksums. Opening is faster then; damaged content may
// give wrong answers, but no lookup reads outside of it.
#define LM_TRUST 1

// Flag of `lm_open_file`: read the file into memory instead of mapping it. The file may change afterwards.
#define LM_COPY 2

// Flag of `lm_open_memory`: use the memory where it lies, which must begin at a multiple of 64 and stay unchanged as
// long as the table. Needs `LM_TRUST`.
#define LM_BORROW 4

// Flag of `lm_build` and `lm_writer_new`: set bits after the length of a prefix are cleared instead of refused.
#define LM_MASK 8

// Flag of `lm_build` and `lm_writer_new`: IPv4-mapped IPv6 addresses (`::ffff:0:0/96`) are looked up among IPv6 routes.
// Without it they are IPv4 addresses.
#define LM_KEEP_MAPPED 16

// The greatest id of a value in arrays and live tables. 0 is no id.
#define LM_MAX_ID ((1 << 30) - 1)

// Ids are those of rows, plus one: `LM_ANSWERS` of `lm_table_info`.
#define LM_ANSWERS_ROWS 1

// Ids are those of routes, in order from 1 on.
#define LM_ANSWERS_ROUTES 2

// Ids are those that the caller gave.
#define LM_ANSWERS_IDS 3

// Answer of single lookups: no prefix covers the address.
#define LM_NONE 0

// Answer of single lookups: an error, which `lm_last_error` describes. No id has this number.
#define LM_ERROR UINT32_MAX

// The family of IPv4 addresses.
#define LM_IPV4 4

// The family of IPv6 addresses.
#define LM_IPV6 6

// No value.
#define LM_NULL 0

// UTF-8 text: `text` and `size`.
#define LM_TEXT 1

// An unsigned integer: `u64`.
#define LM_U64 2

// A signed integer: `i64`.
#define LM_I64 3

// A floating-point number: `f64`.
#define LM_F64 4

// Flag of `lm_writer_new`: readers know the prefixes of answers, at the cost of memory for each route.
#define LM_PREFIXES 32

// A reader of a live table: one for each thread that looks up.
typedef struct lm_reader lm_reader;

// A table for lookups: of a compiled file, of arrays, or of a reader of a live table.
typedef struct lm_table lm_table;

// The writer of a live table.
typedef struct lm_writer lm_writer;

// The result of a call: `LM_OK`, another answer (1 to 9), or an error (10 or more). Numbers never change their
// meaning; later versions add some.
typedef int32_t lm_status;

// Reads the next bytes of a table into `buffer`: returns their number, at most `size`, 0 at the end, or a negative
// number on an error. It must return: no exception and no `longjmp` leaves it.
typedef int64_t (*lm_read_fn)(void *user, void *buffer, size_t size);

// Routes of one family as arrays of `count` items.
typedef struct lm_routes {
    // The prefixes in network order: 4 bytes each for IPv4, 16 for IPv6.
    const void *prefixes;
    // The lengths in bits.
    const uint8_t *lengths;
    // The ids: 1 to `LM_MAX_ID`. The last of equal prefixes counts.
    const uint32_t *ids;
    // Number of routes.
    size_t count;
} lm_routes;

// The numbers of a table.
typedef struct lm_info {
    // The meaning of ids: `LM_ANSWERS_ROWS`, `LM_ANSWERS_ROUTES` or `LM_ANSWERS_IDS`.
    uint32_t answers;
    // Columns of rows.
    uint32_t columns;
    // Distinct rows.
    uint64_t rows;
    // Routes of both families; 0 for a live table, whose writer knows them.
    uint64_t routes;
    // Bytes that lookups read.
    uint64_t bytes;
} lm_info;

// The longest prefix that covers an address.
typedef struct lm_match {
    // The prefix in network order; IPv4 takes the first four bytes.
    uint8_t prefix[16];
    // The id, as lookups return it.
    uint32_t id;
    // The length of the prefix in bits.
    uint8_t length;
    // `LM_IPV4` or `LM_IPV6`. It is `LM_IPV4` for an IPv4-mapped IPv6 address that an IPv4 route covers.
    uint8_t family;
    // Zero.
    uint8_t reserved[2];
} lm_match;

// A column.
typedef struct lm_column {
    // The name in UTF-8, without a NUL at its end. It lives as long as the table's handle.
    const char *name;
    // Bytes of the name.
    size_t size;
    // The type of its cells: `LM_TEXT`, `LM_U64`, `LM_I64` or `LM_F64`. Any cell may be `LM_NULL`.
    uint32_t kind;
    // Zero.
    uint32_t reserved;
} lm_column;

// A cell. Fields of other kinds are zero.
typedef struct lm_cell {
    // `LM_NULL`, `LM_TEXT`, `LM_U64`, `LM_I64` or `LM_F64`.
    uint32_t kind;
    // Zero.
    uint32_t reserved;
    // An unsigned integer.
    uint64_t u64;
    // A signed integer.
    int64_t i64;
    // A floating-point number.
    double f64;
    // Text in UTF-8, without a NUL at its end. It lives as long as the table's handle.
    const char *text;
    // Bytes of the text.
    size_t size;
} lm_cell;

// The call did what was asked.
#define LM_OK 0

// No prefix covers the address, or no such prefix is in the table.
#define LM_NO_MATCH 1

// The file is the one that is open already.
#define LM_UNCHANGED 2

// A pointer is NULL.
#define LM_E_NULL 10

// A pointer is not a handle of the type, or the handle was freed.
#define LM_E_HANDLE 11

// A count or a stride is too large, or a stride is smaller than an address.
#define LM_E_LENGTH 12

// The size of a struct is not one that this library knows.
#define LM_E_SIZE 13

// A family is neither `LM_IPV4` nor `LM_IPV6`.
#define LM_E_FAMILY 14

// Memory is not aligned for its type.
#define LM_E_ALIGN 15

// A flag is unknown, or flags exclude each other.
#define LM_E_FLAGS 16

// An id is 0, greater than `LM_MAX_ID`, or not of the table.
#define LM_E_ID 17

// A handle of one thread is used by another one.
#define LM_E_THREAD 18

// A reader is offline, and the call needs one that is online, or the other way round.
#define LM_E_OFFLINE 19

// The table has no such data: columns of a table of arrays, prefixes of a live table without `LM_PREFIXES`.
#define LM_E_UNSUPPORTED 20

// The table has no column of the name or the number, or no row of the number.
#define LM_E_INDEX 21

// A callback returned an error.
#define LM_E_CALLBACK 22

// The memory of the answers overlaps that of the addresses.
#define LM_E_OVERLAP 23

// A defect of this library, which the message describes. Please report it.
#define LM_E_INTERNAL 99

// A prefix is longer than an address.
#define LM_E_PREFIX_LENGTH 101

// A bit of a prefix is set after its length.
#define LM_E_HOST_BITS 102

// A table holds as many routes as its limit allows.
#define LM_E_ROUTES_FULL 201

// A table holds as many values as its limit allows.
#define LM_E_VALUES_FULL 202

// An id does not fit the compiled table.
#define LM_E_ID_TOO_LARGE 303

// A table needs more objects than its structure can number.
#define LM_E_TOO_MANY 304

// The system did not provide memory.
#define LM_E_MEMORY 310

// Readers keep too much retired memory from reuse: one does not announce quiescent states.
#define LM_E_RETIRED 401

// A commit was refused with different errors in both families.
#define LM_E_REFUSED 403

// The system refused an operation on a file.
#define LM_E_IO 501

// The content is not a compiled table.
#define LM_E_NOT_LONGMATCH 502

// The content has another version of the format.
#define LM_E_VERSION 503

// The content ends too early.
#define LM_E_TRUNCATED 504

// A checksum does not fit the content.
#define LM_E_CHECKSUM 505

// The content contradicts the format.
#define LM_E_STRUCTURE 506

// The table was compiled with an engine that this library does not have.
#define LM_E_ENGINE 507

// A big-endian machine does not read compiled tables.
#define LM_E_BIG_ENDIAN 509

#ifdef __cplusplus
extern "C" {
#endif // __cplusplus

// Returns a short description of a status, for every number. The text is constant.
//
// Threads: any, at the same time.
const char *lm_strerror(lm_status status);

// Returns the message of the last call of this thread that failed, or an empty text. It says what is wrong, where,
// and what to do. It is valid until the next call of this thread fails.
//
// Threads: any, at the same time; each has its own message.
const char *lm_last_error(void);

// Returns the version of the library, such as "0.1.0".
//
// Threads: any, at the same time.
const char *lm_version(void);

// Returns the instructions that batches use on this CPU: "portable", "scalar", "avx2" or "avx512".
//
// Threads: any, at the same time.
const char *lm_instructions(void);

// Opens a compiled table. By default the file is mapped, so that all processes share its memory, and verified.
//
// To replace a file that is open, write another one and rename it to its name, as `longmatch compile` does. A program
// that writes into a mapped file or shortens it may crash this process. Verifying more than 2 MiB uses a second
// thread, which has ended when the call returns.
//
// Flags: `LM_TRUST`, `LM_COPY`. On success `*table` is the handle, else NULL.
//
// Threads: any, at the same time.
lm_status lm_open_file(const char *path,
                       uint32_t flags,
                       struct lm_table **table);

// Opens a compiled table in memory, which is copied and verified. With `LM_BORROW | LM_TRUST` it is used where it lies,
// and not verified.
//
// On success `*table` is the handle, else NULL.
//
// Threads: any, at the same time.
lm_status lm_open_memory(const void *bytes,
                         size_t size,
                         uint32_t flags,
                         struct lm_table **table);

// Opens a compiled table that a callback reads from its beginning to its end, and verifies it.
//
// No flag exists yet: pass 0. On success `*table` is the handle, else NULL.
//
// Threads: any, at the same time; the callback runs in the caller's thread before the call returns.
lm_status lm_open_callback(lm_read_fn read, void *user, uint32_t flags, struct lm_table **table);

// Compiles routes of arrays. Lookups return the ids of the arrays; small ids make a small table.
//
// A family without routes is NULL. `size` is `sizeof(lm_routes)`. Flags: `LM_MASK`, `LM_KEEP_MAPPED`. On success
// `*table` is the handle, else NULL.
//
// Threads: any, at the same time.
lm_status lm_build(const struct lm_routes *ipv4,
                   const struct lm_routes *ipv6,
                   size_t size,
                   uint32_t flags,
                   struct lm_table **table);

// Opens the file of a table again, if another one has its name now: `LM_OK` and a new handle, or `LM_UNCHANGED` and
// NULL. The old handle stays valid, so that lookups go on until the caller has freed it.
//
// Threads: any, at the same time.
lm_status lm_reopen(const struct lm_table *table,
                    struct lm_table **fresh);

// Stores a handle at a place that threads share, and returns the one that was there: an atomic exchange. The caller
// frees the old handle after a grace period, when no thread uses it any more. NULL where the place is NULL.
//
// Threads: any, at the same time.
struct lm_table *lm_swap(struct lm_table **place,
                         struct lm_table *table);

// Loads the handle at a place that threads share, for lookups until the thread's next quiescent state. NULL where the
// place is NULL.
//
// Threads: any, at the same time.
struct lm_table *lm_load(struct lm_table **place);

// Frees a table. NULL is none. The table of a reader is freed with the reader: `LM_E_HANDLE`.
//
// Threads: one, when no other uses the table any more. Texts of the table's cells end with it.
lm_status lm_free(struct lm_table *table);

// Describes a table. `size` is `sizeof(lm_info)`.
//
// Threads: those that may look up in the table, at the same time.
lm_status lm_table_info(const struct lm_table *table, struct lm_info *info, size_t size);

// Looks up an IPv4 address in host order. Returns its id, `LM_NONE` or `LM_ERROR`.
//
// Threads: any, at the same time; the table of a reader: the thread in which the reader is online.
uint32_t lm_lookup4(const struct lm_table *table, uint32_t address);

// Looks up an IPv6 address of 16 bytes in network order, such as a `struct in6_addr`. Returns its id, `LM_NONE` or
// `LM_ERROR`.
//
// Threads: as `lm_lookup4`.
uint32_t lm_lookup6(const struct lm_table *table,
                    const void *address);

// Looks up `count` IPv4 addresses in host order, one each `stride` bytes: `ids[i]` answers address `i`, `LM_NONE` where
// no prefix covers it. The addresses are read where they lie, which is aligned for `uint32_t`.
//
// Threads: as `lm_lookup4`.
lm_status lm_lookup_bulk4(const struct lm_table *table,
                          const uint32_t *addresses,
                          size_t stride,
                          size_t count,
                          uint32_t *ids);

// Looks up `count` IPv4 addresses in network order, one each `stride` bytes, at any alignment: fields of headers in a
// ring, or an array of `struct in_addr` with a stride of 4.
//
// Threads: as `lm_lookup4`.
lm_status lm_lookup_bulk4n(const struct lm_table *table,
                           const void *addresses,
                           size_t stride,
                           size_t count,
                           uint32_t *ids);

// Looks up `count` IPv6 addresses of 16 bytes in network order, one each `stride` bytes, at any alignment.
//
// Threads: as `lm_lookup4`.
lm_status lm_lookup_bulk6(const struct lm_table *table,
                          const void *addresses,
                          size_t stride,
                          size_t count,
                          uint32_t *ids);

// Looks up one IPv4 address in network order of each of `count` packets: that `offset` bytes after `packets[i]`.
//
// Threads: as `lm_lookup4`.
lm_status lm_lookup_bulk4p(const struct lm_table *table,
                           const void *const *packets,
                           size_t offset,
                           size_t count,
                           uint32_t *ids);

// Looks up one IPv6 address of each of `count` packets: that `offset` bytes after `packets[i]`.
//
// Threads: as `lm_lookup4`.
lm_status lm_lookup_bulk6p(const struct lm_table *table,
                           const void *const *packets,
                           size_t offset,
                           size_t count,
                           uint32_t *ids);

// Looks up the longest prefix that covers an IPv4 address in host order: `LM_OK`, or `LM_NO_MATCH`, which leaves
// `*match` unchanged. `size` is `sizeof(lm_match)`.
//
// A compiled file finds it in a few loads where its ids are those of routes, else, as tables of arrays, by a search. A
// live table needs `LM_PREFIXES`.
//
// Threads: as `lm_lookup4`.
lm_status lm_lookup_prefix4(const struct lm_table *table,
                            uint32_t address,
                            struct lm_match *match,
                            size_t size);

// Looks up the longest prefix that covers an IPv6 address of 16 bytes in network order; see `lm_lookup_prefix4`.
//
// Threads: as `lm_lookup4`.
lm_status lm_lookup_prefix6(const struct lm_table *table,
                            const void *address,
                            struct lm_match *match,
                            size_t size);

// Returns the prefix of a route by its id, where `lm_info.answers` is `LM_ANSWERS_ROUTES`: in a few loads, for the ids
// of a batch. `size` is `sizeof(lm_match)`.
//
// Threads: any, at the same time.
lm_status lm_route(const struct lm_table *table,
                   uint32_t id,
                   struct lm_match *match,
                   size_t size);

// Describes a column by its number, from 0 on; `lm_info.columns` is their number. `size` is `sizeof(lm_column)`.
//
// Threads: any, at the same time.
lm_status lm_column_at(const struct lm_table *table,
                       uint32_t number,
                       struct lm_column *column,
                       size_t size);

// Finds the number of a column by its name, which ends with a NUL.
//
// Threads: any, at the same time.
lm_status lm_column_find(const struct lm_table *table, const char *name, uint32_t *number);

// Returns the number of the row that an id leads to, from 0 on. Equal rows have one number, so an array of
// `lm_info.rows` items can hold what the caller makes of each row.
//
// Threads: any, at the same time.
lm_status lm_row(const struct lm_table *table, uint32_t id, uint32_t *row);

// Returns the cell of a column in the row that an id leads to. `size` is `sizeof(lm_cell)`.
//
// Threads: any, at the same time.
lm_status lm_cell_of(const struct lm_table *table,
                     uint32_t id,
                     uint32_t column,
                     struct lm_cell *cell,
                     size_t size);

// Returns the cell of a column in a row by the row's number, from 0 on. `size` is `sizeof(lm_cell)`.
//
// Threads: any, at the same time.
lm_status lm_cell_at(const struct lm_table *table,
                     uint32_t row,
                     uint32_t column,
                     struct lm_cell *cell,
                     size_t size);

// Compiles a table that changes while readers look up. The arrays of its first routes are those of `lm_build`; NULL
// is none.
//
// Flags: `LM_MASK`, `LM_KEEP_MAPPED`, `LM_PREFIXES`. On success `*writer` is the handle, else NULL.
//
// Threads: any, at the same time.
lm_status lm_writer_new(const struct lm_routes *ipv4,
                        const struct lm_routes *ipv6,
                        size_t size,
                        uint32_t flags,
                        struct lm_writer **writer);

// Adds a route, or gives it another id. `prefix` has 4 or 16 bytes in network order. Readers see it after
// `lm_writer_commit`.
//
// Threads: one at a time.
lm_status lm_writer_add(struct lm_writer *writer,
                        uint8_t family,
                        const void *prefix,
                        uint8_t length,
                        uint32_t id);

// Removes the route of exactly this prefix: `LM_OK`, or `LM_NO_MATCH` where there is none.
//
// Threads: one at a time.
lm_status lm_writer_remove(struct lm_writer *writer, uint8_t family, const void *prefix, uint8_t length);

// Makes all changes since the last commit visible to lookups that begin later. On an error the changes of the refused
// family are undone.
//
// Threads: one at a time. It does not wait for readers.
lm_status lm_writer_commit(struct lm_writer *writer);

// Undoes all changes since the last commit.
//
// Threads: one at a time.
lm_status lm_writer_roll_back(struct lm_writer *writer);

// Reuses memory that no reader can reach any more, as each commit does. `*bytes`, if `bytes` is not NULL, is what
// readers may still be reading.
//
// Threads: one at a time.
lm_status lm_writer_reclaim(struct lm_writer *writer,
                            size_t *bytes);

// Sets the retired bytes above which commits are refused with `LM_E_RETIRED`; 256 MiB by default.
//
// Threads: one at a time.
lm_status lm_writer_limit(struct lm_writer *writer, size_t bytes);

// Frees a writer. NULL is none. Its readers keep the table as it is.
//
// Threads: one, when no other uses the writer.
lm_status lm_writer_free(struct lm_writer *writer);

// Makes a reader, which is offline. It may outlive the writer. On success `*reader` is the handle, else NULL.
//
// Threads: one at a time, together with the changes of the writer.
lm_status lm_reader_new(struct lm_writer *writer, struct lm_reader **reader);

// Brings a reader online in this thread, until `lm_reader_offline`. From now on no memory that lookups reach is reused.
//
// Threads: any; the reader then belongs to this one.
lm_status lm_reader_online(struct lm_reader *reader);

// Announces that this thread holds no answers of earlier lookups, so that the writer can reuse memory: a load and a
// store. Call it between batches.
//
// Threads: the one in which the reader is online.
lm_status lm_reader_quiescent(struct lm_reader *reader);

// Takes a reader offline, for a pause or for another thread.
//
// Threads: the one in which the reader is online.
lm_status lm_reader_offline(struct lm_reader *reader);

// Returns the table of a reader, for all lookups while the reader is online. The pointer lives as long as the reader. NULL
// where the reader is none.
//
// Threads: any.
const struct lm_table *lm_reader_table(const struct lm_reader *reader);

// Frees a reader, online or not. NULL is none.
//
// Threads: one, when no other uses the reader or its table.
lm_status lm_reader_free(struct lm_reader *reader);

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

#endif  /* LONGMATCH_H */
