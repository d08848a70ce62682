/*
 * longmatch FILE [$address] $variable [column=NAME] [default=TEXT];
 *
 * In `http`: $variable is the cell of a column in the row of the longest prefix that covers the address: the client's,
 * or the text of another variable. The table is mapped with the configuration, in the master process; the workers
 * inherit the mapping, and it ends with the configuration.
 */
#include <arpa/inet.h>
#include <inttypes.h>
#include <longmatch.h>
#include <ngx_config.h>
#include <ngx_core.h>
#include <ngx_http.h>

/* Digits of a number: a sign, 17 digits, a point and an exponent. */
#define NUMBER_SIZE 32

typedef struct {
    ngx_str_t path;
    lm_table *table;
} longmatch_file_t;

typedef struct {
    ngx_array_t files; /* longmatch_file_t */
} longmatch_main_t;

typedef struct {
    const lm_table *table;
    uint32_t column;
    ngx_int_t address; /* The index of a variable, or NGX_ERROR for the client's address. */
    ngx_str_t fallback; /* Without data where there is none. */
} longmatch_variable_t;

static void *create_main(ngx_conf_t *cf);
static char *directive(ngx_conf_t *cf, ngx_command_t *command, void *conf);

static ngx_command_t commands[] = {
    {ngx_string("longmatch"), NGX_HTTP_MAIN_CONF | NGX_CONF_2MORE, directive, NGX_HTTP_MAIN_CONF_OFFSET, 0, NULL},
    ngx_null_command};

static ngx_http_module_t context = {NULL, NULL, create_main, NULL, NULL, NULL, NULL, NULL};

ngx_module_t ngx_http_longmatch_module = {
    NGX_MODULE_V1, &context, commands, NGX_HTTP_MODULE, NULL, NULL, NULL, NULL, NULL, NULL, NULL,
    NGX_MODULE_V1_PADDING};

/* The id of a text; it has no zone and nothing around the address. */
static uint32_t look_up_text(const lm_table *table, const u_char *text, size_t size)
{
    char copy[INET6_ADDRSTRLEN];
    struct in_addr ipv4;
    struct in6_addr ipv6;

    if (size >= sizeof copy)
        return LM_NONE;
    ngx_memcpy(copy, text, size);
    copy[size] = '\0';
    if (inet_pton(AF_INET, copy, &ipv4) == 1)
        return lm_lookup4(table, ntohl(ipv4.s_addr));
    return inet_pton(AF_INET6, copy, &ipv6) == 1 ? lm_lookup6(table, &ipv6) : LM_NONE;
}

/* The id of the request's address. That of the client is read where it lies. */
static uint32_t look_up(ngx_http_request_t *r, const longmatch_variable_t *variable)
{
    const struct sockaddr *client = r->connection->sockaddr;

    if (variable->address != NGX_ERROR) {
        const ngx_http_variable_value_t *text = ngx_http_get_flushed_variable(r, variable->address);

        return text == NULL || text->not_found ? LM_NONE : look_up_text(variable->table, text->data, text->len);
    }
    switch (client->sa_family) {
    case AF_INET:
        return lm_lookup4(variable->table, ntohl(((const struct sockaddr_in *)client)->sin_addr.s_addr));
    case AF_INET6:
        return lm_lookup6(variable->table, &((const struct sockaddr_in6 *)client)->sin6_addr);
    default: /* A socket of the file system. */
        return LM_NONE;
    }
}

/* A number as text; floating-point numbers have the fewest digits that give the same number. */
static size_t number(const lm_cell *cell, char text[NUMBER_SIZE])
{
    int size = 0;

    if (cell->kind == LM_U64)
        return snprintf(text, NUMBER_SIZE, "%" PRIu64, cell->u64);
    if (cell->kind == LM_I64)
        return snprintf(text, NUMBER_SIZE, "%" PRId64, cell->i64);
    for (int digits = 15; digits <= 17; digits++) {
        size = snprintf(text, NUMBER_SIZE, "%.*g", digits, cell->f64);
        if (strtod(text, NULL) == cell->f64)
            break;
    }
    return size;
}

static ngx_int_t give(ngx_http_variable_value_t *v, const void *data, size_t size)
{
    v->data = (u_char *)data;
    v->len = size;
    v->valid = 1;
    v->no_cacheable = 0;
    v->not_found = 0;
    return NGX_OK;
}

static ngx_int_t value(ngx_http_request_t *r, ngx_http_variable_value_t *v, uintptr_t data)
{
    const longmatch_variable_t *variable = (const longmatch_variable_t *)data;
    uint32_t id = look_up(r, variable);
    char text[NUMBER_SIZE];
    lm_cell cell = {0};

    if (id == LM_ERROR ||
        (id != LM_NONE && lm_cell_of(variable->table, id, variable->column, &cell, sizeof cell) != LM_OK)) {
        ngx_log_error(NGX_LOG_ERR, r->connection->log, 0, "longmatch: %s", lm_last_error());
        return NGX_ERROR;
    }
    switch (cell.kind) {
    case LM_NULL: /* Of no row, too. */
        if (variable->fallback.data != NULL)
            return give(v, variable->fallback.data, variable->fallback.len);
        v->not_found = 1;
        return NGX_OK;
    case LM_TEXT: /* It lives as long as the configuration, so as the request. */
        return give(v, cell.text, cell.size);
    default: {
        size_t size = number(&cell, text);
        u_char *copy = ngx_pnalloc(r->pool, size);

        if (copy == NULL)
            return NGX_ERROR;
        ngx_memcpy(copy, text, size);
        return give(v, copy, size);
    }
    }
}

static void *create_main(ngx_conf_t *cf)
{
    longmatch_main_t *own = ngx_pcalloc(cf->pool, sizeof *own);

    if (own == NULL || ngx_array_init(&own->files, cf->pool, 4, sizeof(longmatch_file_t)) != NGX_OK)
        return NULL;
    return own;
}

static void close_table(void *table)
{
    lm_free(table);
}

/* Maps a file, once for each configuration; NULL after an error, which is logged. */
static lm_table *open_table(ngx_conf_t *cf, longmatch_main_t *own, ngx_str_t path)
{
    longmatch_file_t *file = own->files.elts;
    ngx_pool_cleanup_t *cleanup;
    lm_table *table;

    if (ngx_conf_full_name(cf->cycle, &path, 1) != NGX_OK)
        return NULL;
    for (ngx_uint_t i = 0; i < own->files.nelts; i++) {
        if (file[i].path.len == path.len && ngx_memcmp(file[i].path.data, path.data, path.len) == 0)
            return file[i].table;
    }
    /* The configuration's pool ends when no worker has a request of this configuration. */
    cleanup = ngx_pool_cleanup_add(cf->pool, 0);
    file = ngx_array_push(&own->files);
    if (cleanup == NULL || file == NULL)
        return NULL;
    if (lm_open_file((const char *)path.data, 0, &table) != LM_OK) {
        /* The message names the file. */
        ngx_conf_log_error(NGX_LOG_EMERG, cf, 0, "longmatch: %s", lm_last_error());
        return NULL;
    }
    cleanup->handler = close_table;
    cleanup->data = table;
    file->path = path;
    file->table = table;
    return table;
}

/* Logs what is wrong with the column, with the names of all. */
static void refuse_column(ngx_conf_t *cf, const lm_table *table, const char *wrong, const ngx_str_t *name)
{
    u_char names[NGX_MAX_CONF_ERRSTR / 2], *end = names;
    lm_column column;

    for (uint32_t i = 0; lm_column_at(table, i, &column, sizeof column) == LM_OK; i++)
        end = ngx_slprintf(end, names + sizeof names, "%s%*s", i == 0 ? "" : ", ", column.size, column.name);
    ngx_conf_log_error(NGX_LOG_EMERG, cf, 0, "longmatch: \"%V\" has %s%V, but the columns %*s: choose one by column=NAME",
                       (ngx_str_t *)cf->args->elts + 1, wrong, name, (size_t)(end - names), names);
}

/* Finds a column by its name, or the only one. */
static ngx_int_t find_column(ngx_conf_t *cf, const lm_table *table, const ngx_str_t *name, uint32_t *number)
{
    lm_info info;

    *number = 0;
    if (lm_table_info(table, &info, sizeof info) != LM_OK)
        return NGX_ERROR;
    if (name->len == 0 && info.columns != 1)
        refuse_column(cf, table, "not one column", name);
    /* Words of the configuration end with a NUL. */
    else if (name->len != 0 && lm_column_find(table, (const char *)name->data, number) != LM_OK)
        refuse_column(cf, table, "no column ", name);
    else
        return NGX_OK;
    return NGX_ERROR;
}

/* Reads the words after the file: one or two variables, then options. */
static char *read_words(ngx_conf_t *cf, longmatch_variable_t *variable, ngx_str_t *name, ngx_str_t *column)
{
    ngx_str_t *words = cf->args->elts, address = ngx_null_string;

    for (ngx_uint_t i = 2; i < cf->args->nelts; i++) {
        ngx_str_t word = words[i];

        if (word.len > 7 && ngx_strncmp(word.data, "column=", 7) == 0) {
            column->data = word.data + 7;
            column->len = word.len - 7;
        } else if (word.len >= 8 && ngx_strncmp(word.data, "default=", 8) == 0) {
            variable->fallback.data = word.data + 8;
            variable->fallback.len = word.len - 8;
        } else if (word.len > 1 && word.data[0] == '$' && address.len == 0) {
            address = *name;
            name->data = word.data + 1;
            name->len = word.len - 1;
        } else {
            ngx_conf_log_error(NGX_LOG_EMERG, cf, 0,
                               "longmatch: \"%V\" is not expected: longmatch FILE [$address] $variable "
                               "[column=NAME] [default=TEXT]", &word);
            return NGX_CONF_ERROR;
        }
    }
    if (name->len == 0)
        return "has no variable";
    if (address.len != 0 && (variable->address = ngx_http_get_variable_index(cf, &address)) == NGX_ERROR)
        return NGX_CONF_ERROR;
    return NGX_CONF_OK;
}

static char *directive(ngx_conf_t *cf, ngx_command_t *command, void *conf)
{
    longmatch_variable_t *variable = ngx_pcalloc(cf->pool, sizeof *variable);
    ngx_str_t *words = cf->args->elts, name = ngx_null_string, column = ngx_null_string;
    ngx_http_variable_t *made;
    char *refused;

    (void)command;
    if (variable == NULL)
        return NGX_CONF_ERROR;
    variable->address = NGX_ERROR;
    refused = read_words(cf, variable, &name, &column);
    if (refused != NGX_CONF_OK)
        return refused;
    variable->table = open_table(cf, conf, words[1]);
    if (variable->table == NULL || find_column(cf, variable->table, &column, &variable->column) != NGX_OK)
        return NGX_CONF_ERROR;
    made = ngx_http_add_variable(cf, &name, NGX_HTTP_VAR_CHANGEABLE);
    if (made == NULL)
        return NGX_CONF_ERROR;
    made->get_handler = value;
    made->data = (uintptr_t)variable;
    return NGX_CONF_OK;
}
