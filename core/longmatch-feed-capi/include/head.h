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
