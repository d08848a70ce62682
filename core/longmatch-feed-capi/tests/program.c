/* Text to a table in memory and in a file, both opened by liblongmatch. The argument is a directory. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "longmatch-feed.h"
#include "longmatch.h"

#define CHECK(condition)                                                                                              \
    do {                                                                                                              \
        if (!(condition)) {                                                                                           \
            fprintf(stderr, "%s:%d: %s: %s; %s\n", __FILE__, __LINE__, #condition, message, lm_last_error());         \
            exit(1);                                                                                                  \
        }                                                                                                             \
    } while (0)

static const char TEXT[] = "network,asn,site\n10.0.0.0/8,64500,office\n10.9.0.0/16,64501,lab\n2001:db8::/32,64500,office\n";

static void answers(lm_table *table, const char *message, uint32_t columns) {
    lm_info info;
    lm_cell cell;
    uint32_t asn;
    CHECK(lm_table_info(table, &info, sizeof info) == LM_OK && info.routes == 3 && info.columns == columns);
    CHECK(lm_column_find(table, "asn", &asn) == LM_OK);
    uint32_t id = lm_lookup4(table, 0x0a090101);
    CHECK(lm_cell_of(table, id, asn, &cell, sizeof cell) == LM_OK && cell.u64 == 64501);
    CHECK(lm_lookup4(table, 0x0b000001) == LM_NONE);
    CHECK(lm_free(table) == LM_OK);
}

int main(int argc, char **argv) {
    char message[256] = "", source[1024], target[1024];
    void *made;
    size_t size;
    lm_table *table;
    CHECK(argc == 2);
    snprintf(source, sizeof source, "%s/sites.csv", argv[1]);
    snprintf(target, sizeof target, "%s/sites.lm", argv[1]);
    CHECK(lm_feed_compile_memory(TEXT, sizeof TEXT - 1, NULL, 0, &made, &size, message, sizeof message) == LM_FEED_OK);
    CHECK(lm_open_memory(made, size, LM_BORROW | LM_TRUST, &table) == LM_OK);
    answers(table, message, 2);
    lm_feed_free(made, size);
    FILE *file = fopen(source, "wb");
    CHECK(file && fwrite(TEXT, 1, sizeof TEXT - 1, file) == sizeof TEXT - 1 && fclose(file) == 0);
    lm_feed_options options = {"csv", "asn", LM_FEED_VALUES, 0};
    CHECK(lm_feed_compile_file(source, &options, sizeof options, target, NULL, 0) == LM_FEED_OK);
    CHECK(lm_open_file(target, 0, &table) == LM_OK);
    answers(table, message, 1);

    const char bad[] = "network,asn\n10.0.0.0/8,1\n10.0.0.0/40,2\n";
    CHECK(lm_feed_compile_memory(bad, sizeof bad - 1, NULL, 0, &made, &size, message, sizeof message) == LM_FEED_E_INPUT);
    CHECK(strstr(message, "line 3") && made == NULL && size == 0);
    char small[5] = "zzzz";
    CHECK(lm_feed_compile_memory(bad, sizeof bad - 1, NULL, 0, &made, &size, small, sizeof small) == LM_FEED_E_INPUT);
    CHECK(strlen(small) == 4);
    options.flags = LM_FEED_LENIENT;
    options.columns = options.format = NULL;
    CHECK(lm_feed_compile_memory(bad, sizeof bad - 1, &options, sizeof options, &made, &size, message, sizeof message) ==
          LM_FEED_OK);
    CHECK(*message);
    lm_feed_free(made, size);
    CHECK(lm_feed_compile_memory(TEXT, sizeof TEXT - 1, &options, 1, &made, &size, message, sizeof message) == LM_FEED_E_SIZE);
    options.flags = 64;
    CHECK(lm_feed_compile_memory(TEXT, 9, &options, sizeof options, &made, &size, message, sizeof message) ==
          LM_FEED_E_OPTIONS);
    options.flags = 0;
    options.format = "no-such-format";
    CHECK(lm_feed_compile_memory(TEXT, 9, &options, sizeof options, &made, &size, message, sizeof message) ==
          LM_FEED_E_OPTIONS);
    CHECK(lm_feed_compile_memory(NULL, 9, NULL, 0, &made, &size, message, sizeof message) == LM_FEED_E_NULL);
    CHECK(lm_feed_compile_memory(TEXT, SIZE_MAX, NULL, 0, &made, &size, message, sizeof message) == LM_FEED_E_LENGTH);
    CHECK(lm_feed_compile_file(NULL, NULL, 0, target, message, sizeof message) == LM_FEED_E_NULL);
    CHECK(lm_feed_compile_file("absent.csv", NULL, 0, target, message, sizeof message) == LM_FEED_E_INPUT);
    CHECK(strstr(message, "absent.csv"));
    CHECK(lm_feed_compile_file(source, NULL, 0, "absent/x.lm", message, sizeof message) == 501);
    lm_feed_free(NULL, 0);
    return 0;
}
