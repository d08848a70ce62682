/* Rows and columns. The argument is a compiled file with the routes of test.h; its columns are site (text), asn (u64),
 * balance (i64) and latitude (f64). The row of 10/8 is "office", 64500, -5, 1.5; that of 10.9/16 is four nulls; the IPv6
 * routes have the row of 10/8. */
#include "test.h"

static lm_cell cell_of(const lm_table *table, uint32_t id, const char *name) {
    uint32_t column;
    lm_cell cell;
    IS(LM_OK, lm_column_find(table, name, &column));
    IS(LM_OK, lm_cell_of(table, id, column, &cell, sizeof cell));
    return cell;
}

int main(int argc, char **argv) {
    lm_table *table;
    lm_info info;
    lm_column column;
    lm_cell cell;
    uint32_t row, number;
    CHECK(argc == 2);
    IS(LM_OK, lm_open_file(argv[1], 0, &table));
    IS(LM_OK, lm_table_info(table, &info, sizeof info));
    CHECK(info.columns == 4 && info.rows == 2);
    const char *names[] = {"site", "asn", "balance", "latitude"};
    for (uint32_t i = 0; i < info.columns; i++) {
        IS(LM_OK, lm_column_at(table, i, &column, sizeof column));
        CHECK(column.size == strlen(names[i]) && memcmp(column.name, names[i], column.size) == 0);
        CHECK(column.kind == LM_TEXT + i);
    }
    uint32_t office = lm_lookup4(table, HOST(10, 1, 1, 1)), empty = lm_lookup4(table, HOST(10, 9, 1, 1));
    cell = cell_of(table, office, "site");
    CHECK(cell.kind == LM_TEXT && cell.size == 6 && memcmp(cell.text, "office", 6) == 0);
    cell = cell_of(table, office, "asn");
    CHECK(cell.kind == LM_U64 && cell.u64 == 64500 && cell.text == NULL);
    cell = cell_of(table, office, "balance");
    CHECK(cell.kind == LM_I64 && cell.i64 == -5);
    cell = cell_of(table, office, "latitude");
    CHECK(cell.kind == LM_F64 && cell.f64 == 1.5);
    for (size_t i = 0; i < 4; i++)
        CHECK(cell_of(table, empty, names[i]).kind == LM_NULL);
    /* Equal rows have one number. */
    IS(LM_OK, lm_row(table, office, &row));
    IS(LM_OK, lm_row(table, lm_lookup6(table, PREFIXES6[1]), &number));
    CHECK(row == number);
    IS(LM_OK, lm_row(table, empty, &number));
    CHECK(row != number && number < info.rows);
    IS(LM_OK, lm_cell_at(table, row, 1, &cell, sizeof cell));
    CHECK(cell.u64 == 64500);
    FAILS(LM_E_INDEX, "no such column", lm_column_find(table, "Site", &number));
    FAILS(LM_E_INDEX, "no such column", lm_column_at(table, 4, &column, sizeof column));
    FAILS(LM_E_INDEX, "no such column", lm_cell_at(table, 0, 4, &cell, sizeof cell));
    FAILS(LM_E_INDEX, "no row", lm_cell_at(table, 2, 0, &cell, sizeof cell));
    FAILS(LM_E_ID, "the id", lm_cell_of(table, LM_NONE, 0, &cell, sizeof cell));
    FAILS(LM_E_ID, "the id", lm_cell_of(table, LM_ERROR, 0, &cell, sizeof cell));
    FAILS(LM_E_ID, "the id", lm_row(table, 5, &row));
    IS(LM_OK, lm_free(table));
    IS(LM_OK, lm_build(&ROUTES4, NULL, sizeof(lm_routes), 0, &table));
    FAILS(LM_E_UNSUPPORTED, "no columns", lm_column_find(table, "site", &number));
    FAILS(LM_E_UNSUPPORTED, "arrays", lm_route(table, 1, (lm_match *)&cell, sizeof(lm_match)));
    IS(LM_OK, lm_free(table));
    return 0;
}
