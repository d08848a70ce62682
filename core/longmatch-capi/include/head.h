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
