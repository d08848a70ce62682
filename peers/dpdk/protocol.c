/* The protocol of docs/peers.md. */
#include "peer.h"

#include <arpa/inet.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define MAX_LINE 8192
/* Of all three libraries as they are used here. */
#define ENTRY_SIZE 4

/* What was loaded so far. */
struct session {
	const struct table *table;
	FILE *out;
	int loaded;
	void *keys;
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
				 char *why, size_t why_size)
{
	FILE *file = fopen(path, "r");
	struct route *routes = NULL, *more;
	size_t room = 0;
	char line[128];

	*count = 0;
	if (file == NULL) {
		snprintf(why, why_size, "%s", strerror(errno));
		return NULL;
	}
	for (;;) {
		if (*count == room) {
			room = room == 0 ? 1024 : 2 * room;
			more = realloc(routes, room * sizeof(*routes));
			if (more == NULL) {
				snprintf(why, why_size, "no memory for %zu routes", room);
				break;
			}
			routes = more;
		}
		if (fgets(line, sizeof(line), file) == NULL) {
			fclose(file);
			return routes;
		}
		if (!parse_route(table, line, &routes[*count])) {
			snprintf(why, why_size, "line %zu is no route", *count + 1);
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
	char why[256] = "";
	size_t count;
	struct route *routes = read_routes(session->table, path, &count, why, sizeof(why));

	session->loaded = 0;
	if (routes == NULL) {
		refuse(session, "routes", why);
		return;
	}
	size_t groups = session->table->groups(routes, count);
	uint64_t began = now();
	int failed = session->table->build(routes, count, groups, why, sizeof(why));
	uint64_t took = now() - began;
	/* What lookups read: the entries of the first level and of the groups behind it. */
	uint64_t used = count_groups(routes, count, session->table->address_size);
	uint64_t bytes = ENTRY_SIZE * ((UINT64_C(1) << 24) + 256 * used);
	free(routes);
	if (failed != 0) {
		refuse(session, session->table->name, why);
		return;
	}
	session->loaded = 1;
	fprintf(session->out, "loaded %zu %" PRIu64 " %" PRIu64 "\n", count, took, bytes);
}

/* All bytes of a file in cache-aligned memory; NULL if it cannot be read. */
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
		bytes = aligned_alloc(64, (*size + 64) & ~(size_t)63);
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
	size_t size = 0;
	void *keys = read_file(path, &size);

	free(session->keys);
	session->keys = NULL;
	session->key_count = 0;
	if (keys == NULL || size % session->table->address_size != 0) {
		refuse(session, "keys", "the file cannot be read, or has half an address");
		free(keys);
		return;
	}
	session->keys = keys;
	session->key_count = size / session->table->address_size;
	session->table->convert(keys, session->key_count);
	fprintf(session->out, "keys %zu\n", session->key_count);
}

/* Whether lookups can begin, in this mode. Answers if they cannot. */
static int ready(struct session *session, const char *mode, size_t batch)
{
	if (strstr(session->table->modes, mode) == NULL)
		refuse(session, "mode", "not here");
	else if (!session->loaded || session->key_count == 0)
		refuse(session, "lookups", "a table and keys are needed first");
	else if (batch == 0 || batch > MAX_BATCH)
		refuse(session, "batch", "1 to 65536 keys");
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
	uint32_t *answers = calloc(count, sizeof(*answers));
	if (answers == NULL) {
		refuse(session, "answers", "no memory");
		return;
	}
	for (size_t at = 0; at < count; at += batch) {
		size_t part = count - at < batch ? count - at : batch;

		if (strcmp(mode, "one") == 0)
			table->answer_one(session->keys, at, part, answers + at);
		else
			table->answer_batch(session->keys, at, part, answers + at);
	}
	FILE *file = fopen(path, "wb");
	size_t written = file == NULL ? 0 : fwrite(answers, sizeof(*answers), count, file);
	if (file == NULL || fclose(file) != 0 || written != count)
		refuse(session, "answers", "the file cannot be written");
	else
		fprintf(session->out, "answered %zu\n", count);
	free(answers);
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
	int one = strcmp(mode, "one") == 0;
	uint64_t began = now();
	while (lookups > 0) {
		size_t rest = session->key_count - start;
		size_t part = lookups < rest ? lookups : rest;

		if (one)
			sum ^= table->walk_one(session->keys, start, part);
		else
			sum ^= table->walk_batch(session->keys, start, part, batch);
		lookups -= part;
		start = 0;
	}
	fprintf(session->out, "timed %" PRIu64 " %" PRIu32 "\n", now() - began, sum);
}

/* One command, without the end of its line. */
static void obey(struct session *session, char *line)
{
	char family[8], mode[8], about[128];
	size_t batch, start, lookups;
	int path = 0;

	if (strcmp(line, "hello") == 0) {
		session->table->about(about, sizeof(about));
		fprintf(session->out, "longmatch-peer 1 %s %s %s\n", session->table->family,
			session->table->modes, about);
		return;
	}
	/* The second word of all others is the family. */
	if (sscanf(line, "%*s %7s", family) != 1 || strcmp(family, session->table->family) != 0)
		refuse(session, "command", "unknown, or for another family");
	else if (sscanf(line, "load %7s %n", family, &path) == 1 && path > 0)
		load(session, line + path);
	else if (sscanf(line, "keys %7s %n", family, &path) == 1 && path > 0)
		take_keys(session, line + path);
	else if (sscanf(line, "answer %7s %7s %zu %n", family, mode, &batch, &path) == 3 && path > 0)
		answer(session, mode, batch, line + path);
	else if (sscanf(line, "time %7s %7s %zu %zu %zu", family, mode, &batch, &start,
			&lookups) == 5)
		take_time(session, mode, batch, start, lookups);
	else
		refuse(session, "command", "unknown");
}

void serve(const struct table *table, FILE *in, FILE *out)
{
	struct session session = {.table = table, .out = out};
	char line[MAX_LINE];

	while (fgets(line, sizeof(line), in) != NULL) {
		line[strcspn(line, "\n")] = '\0';
		if (strcmp(line, "quit") == 0)
			break;
		obey(&session, line);
		fflush(out);
	}
	free(session.keys);
}
