/* The commands of the protocol, for any table. */
#include "peer.h"

#include <arpa/inet.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define MAX_LINE 8192

/* What was loaded of one family. */
struct session {
	const struct table *table;
	FILE *out;
	int loaded;
	size_t key_count;
};

static uint64_t now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
}

static void refuse(struct session *session, const char *what, const char *why)
{
	fprintf(session->out, "error %s: %s\n", what, why);
}

/* Reads one `prefix id` line. Returns 0 if it is none. */
static int parse_route(const struct table *table, char *line, struct route *route)
{
	int family = table->address_size == 4 ? AF_INET : AF_INET6;
	char *slash = strchr(line, '/'), *end;

	if (slash == NULL)
		return 0;
	*slash = '\0';
	memset(route, 0, sizeof(*route));
	if (inet_pton(family, line, route->address) != 1)
		return 0;
	unsigned long length = strtoul(slash + 1, &end, 10);
	if (end == slash + 1 || *end != ' ' || length > 8 * table->address_size)
		return 0;
	unsigned long long id = strtoull(end + 1, &end, 10);
	if ((*end != '\n' && *end != '\0') || id == 0 || id > UINT32_MAX)
		return 0;
	route->length = (uint8_t)length;
	route->id = (uint32_t)id;
	return 1;
}

/* Reads all routes; NULL with a reason in `why` if that fails. */
static struct route *read_routes(const struct table *table, const char *path, size_t *count,
				 char *why)
{
	FILE *file = fopen(path, "r");
	struct route *routes = NULL, *more;
	size_t room = 0;
	char line[128];

	*count = 0;
	if (file == NULL) {
		snprintf(why, REASON, "%s", strerror(errno));
		return NULL;
	}
	for (;;) {
		if (*count == room) {
			room = room == 0 ? 1024 : 2 * room;
			more = realloc(routes, room * sizeof(*routes));
			if (more == NULL) {
				snprintf(why, REASON, "no memory for %zu routes", room);
				break;
			}
			routes = more;
		}
		if (fgets(line, sizeof(line), file) == NULL) {
			fclose(file);
			return routes;
		}
		if (!parse_route(table, line, &routes[*count])) {
			snprintf(why, REASON, "line %zu is not a route", *count + 1);
			break;
		}
		++*count;
	}
	free(routes);
	fclose(file);
	return NULL;
}

static void load(struct session *session, const char *path)
{
	const struct table *table = session->table;
	char why[REASON] = "", bytes[24] = "-";
	size_t count;
	struct route *routes = read_routes(table, path, &count, why);

	session->loaded = 0;
	if (routes == NULL) {
		refuse(session, "routes", why);
		return;
	}
	int failed = table->prepare != NULL ? table->prepare(table, routes, count, why) : 0;
	uint64_t began = now();
	if (failed == 0)
		failed = table->build(table, routes, count, why);
	uint64_t took = now() - began;
	if (table->bytes != NULL)
		snprintf(bytes, sizeof(bytes), "%" PRIu64, table->bytes(routes, count));
	free(routes);
	if (failed != 0) {
		refuse(session, table->name, why);
		return;
	}
	session->loaded = 1;
	fprintf(session->out, "loaded %zu %" PRIu64 " %s\n", count, took, bytes);
}

/* All bytes of a file; NULL if it cannot be read. */
static void *read_file(const char *path, size_t *size)
{
	FILE *file = fopen(path, "rb");
	void *bytes = NULL;
	long end = -1;

	if (file == NULL)
		return NULL;
	if (fseek(file, 0, SEEK_END) == 0 && (end = ftell(file)) >= 0 &&
	    fseek(file, 0, SEEK_SET) == 0) {
		*size = (size_t)end;
		bytes = malloc(*size + 1);
		if (bytes != NULL && fread(bytes, 1, *size, file) != *size) {
			free(bytes);
			bytes = NULL;
		}
	}
	fclose(file);
	return bytes;
}

static void take_keys(struct session *session, const char *path)
{
	const struct table *table = session->table;
	char why[REASON] = "the file cannot be read, or has half an address";
	size_t size = 0, count;
	void *addresses = read_file(path, &size);

	session->key_count = 0;
	count = size / table->address_size;
	if (addresses == NULL || size % table->address_size != 0 ||
	    table->set_keys(table, addresses, count, why) != 0) {
		refuse(session, "keys", why);
	} else {
		session->key_count = count;
		fprintf(session->out, "keys %zu\n", count);
	}
	free(addresses);
}

/* Whether lookups can begin, in this mode. Answers if they cannot. */
static int ready(struct session *session, const char *mode, size_t batch)
{
	const struct table *table = session->table;
	char why[REASON];

	if (strstr(table->modes, mode) == NULL)
		refuse(session, "mode", "not here");
	else if (!session->loaded || session->key_count == 0)
		refuse(session, "lookups", "a table and keys are needed first");
	else if (batch == 0 || batch > MAX_BATCH)
		refuse(session, "batch", "1 to 65536 keys");
	else if (table->ready != NULL && table->ready(table, why) != 0)
		refuse(session, table->name, why);
	else
		return 1;
	return 0;
}

static void answer(struct session *session, const char *mode, size_t batch, const char *path)
{
	const struct table *table = session->table;
	size_t count = session->key_count;

	if (!ready(session, mode, batch))
		return;
	FILE *file = fopen(path, "wb");
	if (file == NULL) {
		refuse(session, path, strerror(errno));
		return;
	}
	int dependent = strcmp(mode, "dependent") == 0, batches = strcmp(mode, "batch") == 0;
	for (size_t at = 0; at < count; at++) {
		size_t within = at % batch, rest = count - at;

		if (batches && within == 0)
			table->look_up_batch(at, rest < batch ? rest : batch);
		uint32_t id = batches ? table->answer(within) : table->walk(table, at, 1, dependent);
		uint8_t bytes[4] = {(uint8_t)id, (uint8_t)(id >> 8), (uint8_t)(id >> 16),
				    (uint8_t)(id >> 24)};
		fwrite(bytes, sizeof(bytes), 1, file);
	}
	int failed = ferror(file);
	if (fclose(file) != 0 || failed)
		refuse(session, "answers", "the file cannot be written");
	else
		fprintf(session->out, "answered %zu\n", count);
}

/* Looks up the keys in batches; returns the exclusive or of the last answer of each. */
static uint32_t walk_batches(const struct table *table, size_t first, size_t count, size_t batch)
{
	uint32_t sum = 0;

	for (size_t at = 0; at < count; at += batch) {
		size_t part = count - at < batch ? count - at : batch;

		table->look_up_batch(first + at, part);
		sum ^= table->answer(part - 1);
	}
	return sum;
}

static void take_time(struct session *session, const char *mode, size_t batch, size_t start,
		      size_t lookups)
{
	const struct table *table = session->table;
	uint32_t sum = 0;

	if (!ready(session, mode, batch))
		return;
	if (start >= session->key_count) {
		refuse(session, "start", "there are fewer keys");
		return;
	}
	int dependent = strcmp(mode, "dependent") == 0, batches = strcmp(mode, "batch") == 0;
	uint64_t began = now();
	while (lookups > 0) {
		size_t rest = session->key_count - start;
		size_t part = lookups < rest ? lookups : rest;

		sum ^= batches ? walk_batches(table, start, part, batch)
			       : table->walk(table, start, part, dependent);
		lookups -= part;
		start = 0;
	}
	fprintf(session->out, "timed %" PRIu64 " %" PRIu32 "\n", now() - began, sum);
}

static void hello(const struct table *const *tables, size_t count, FILE *out)
{
	char about[REASON];

	tables[0]->about(about, sizeof(about));
	fprintf(out, "longmatch-peer 1 %s", tables[0]->family);
	for (size_t i = 1; i < count; i++)
		fprintf(out, ",%s", tables[i]->family);
	fprintf(out, " %s %s\n", tables[0]->modes, about);
}

/* One command, without the end of its line. */
static void obey(struct session *session, char *line)
{
	char family[8], mode[16];
	size_t batch, start, lookups;
	int path = 0;

	if (sscanf(line, "load %7s %n", family, &path) == 1 && path > 0)
		load(session, line + path);
	else if (sscanf(line, "keys %7s %n", family, &path) == 1 && path > 0)
		take_keys(session, line + path);
	else if (sscanf(line, "answer %7s %15s %zu %n", family, mode, &batch, &path) == 3 &&
		 path > 0)
		answer(session, mode, batch, line + path);
	else if (sscanf(line, "time %7s %15s %zu %zu %zu", family, mode, &batch, &start,
			&lookups) == 5)
		take_time(session, mode, batch, start, lookups);
	else
		refuse(session, "command", "unknown");
}

int serve(const struct table *const *tables, size_t count)
{
	struct session sessions[2] = {{NULL, NULL, 0, 0}}, *session;
	char line[MAX_LINE], family[8];
	/* Output of libraries is not an answer. */
	int answers = dup(STDOUT_FILENO);
	FILE *out = answers < 0 ? NULL : fdopen(answers, "w");

	if (out == NULL || dup2(STDERR_FILENO, STDOUT_FILENO) < 0) {
		perror("standard output");
		return 1;
	}
	for (size_t i = 0; i < count; i++)
		sessions[i] = (struct session){.table = tables[i], .out = out};
	while (fgets(line, sizeof(line), stdin) != NULL) {
		line[strcspn(line, "\n")] = '\0';
		if (strcmp(line, "quit") == 0)
			break;
		session = NULL;
		/* The second word of all commands but `hello` is the family. */
		for (size_t i = 0; sscanf(line, "%*s %7s", family) == 1 && i < count; i++) {
			if (strcmp(family, tables[i]->family) == 0)
				session = &sessions[i];
		}
		if (strcmp(line, "hello") == 0)
			hello(tables, count, out);
		else if (session != NULL)
			obey(session, line);
		else
			refuse(&sessions[0], "command", "unknown, or for another family");
		fflush(out);
	}
	return 0;
}
