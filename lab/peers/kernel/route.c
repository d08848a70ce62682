/*
 * The kernel's own routes, in a network namespace of this process, so that nothing here changes
 * those of the system. A route's metric is its next hop's id.
 */
#define _GNU_SOURCE
#include "kernel.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/utsname.h>
#include <unistd.h>

#define DEVICE "peer"
/* The routes of a system call. */
#define AT_ONCE 256

union message {
	struct nlmsghdr header;
	char bytes[128];
};

static int netlink;

static void about(char *text, size_t size)
{
	about_kernel("routes", "bpf_fib_lookup in a program's loop", text, size);
}

/* Adds an attribute; returns where its value is. */
static struct rtattr *add(union message *message, int type, const void *value, size_t size)
{
	struct rtattr *attribute =
		(struct rtattr *)(message->bytes + NLMSG_ALIGN(message->header.nlmsg_len));

	attribute->rta_type = (unsigned short)type;
	attribute->rta_len = (unsigned short)RTA_LENGTH(size);
	memcpy(RTA_DATA(attribute), value, size);
	message->header.nlmsg_len += RTA_SPACE(size);
	return attribute;
}

/* Sends messages, the last of which asks for an answer, and returns the first error. */
static int exchange(const char *messages, size_t size)
{
	struct {
		struct nlmsghdr header;
		struct nlmsgerr error;
		char rest[1024];
	} answer;

	if (send(netlink, messages, size, 0) < 0)
		return -1;
	if (recv(netlink, &answer, sizeof(answer), 0) < 0)
		return -1;
	errno = -answer.error.error;
	return errno == 0 ? 0 : -1;
}

static int add_device(void)
{
	union message message = {.header = {.nlmsg_len = NLMSG_LENGTH(sizeof(struct ifinfomsg)),
					    .nlmsg_type = RTM_NEWLINK,
					    .nlmsg_flags = NLM_F_REQUEST | NLM_F_CREATE | NLM_F_ACK}};
	struct ifinfomsg *link = NLMSG_DATA(&message.header);

	link->ifi_flags = link->ifi_change = IFF_UP;
	add(&message, IFLA_IFNAME, DEVICE, sizeof(DEVICE));
	/* The kind is an attribute inside another one. */
	struct rtattr *info = add(&message, IFLA_LINKINFO, "", 0);
	add(&message, IFLA_INFO_KIND, "veth", 4);
	info->rta_len = (unsigned short)(message.bytes + message.header.nlmsg_len - (char *)info);
	return exchange(message.bytes, message.header.nlmsg_len);
}

static int set(const char *path, const char *value)
{
	int file = open(path, O_WRONLY);
	ssize_t written = write(file, value, strlen(value));

	close(file);
	return written < 0 ? -1 : 0;
}

/* Whether two IPv6 prefixes have an address in common. */
static int overlap(const uint8_t *one, int length, const uint8_t *other, int other_length)
{
	for (int i = 0; i < length && i < other_length; i++) {
		if ((one[i / 8] ^ other[i / 8]) >> (7 - i % 8) & 1)
			return 0;
	}
	return 1;
}

/* Whether an IPv6 prefix has addresses that bpf_fib_lookup never looks up: they are a link's. */
static int is_local(const uint8_t *address, int length)
{
	static const uint8_t loopback[16] = {[15] = 1}, link[] = {0xfe, 0x80}, multicast[] = {0xff};

	return overlap(address, length, loopback, 128) || overlap(address, length, link, 10) ||
	       overlap(address, length, multicast, 8);
}

static int set_route_keys(const struct table *table, const void *addresses, size_t count, char *why)
{
	struct state *state = table->state;

	state->local_keys = 0;
	for (size_t i = 0; table->address_size == 16 && i < count; i++)
		state->local_keys |= is_local((const uint8_t *)addresses + 16 * i, 128);
	return set_keys(table, addresses, count, why);
}

static int ready_routes(const struct table *table, char *why)
{
	const struct state *state = table->state;

	if (state->local_routes && state->local_keys) {
		snprintf(why, REASON, "addresses of ::1, fe80::/10 and ff00::/8 are never forwarded");
		return -EINVAL;
	}
	return ready(table, why);
}

/* Makes a namespace that forwards, whose main tables are empty. */
static int prepare(const struct table *table, const struct route *routes, size_t count, char *why)
{
	struct state *state = table->state;
	struct utsname system;
	int major, minor;

	uname(&system);
	if (sscanf(system.release, "%d.%d", &major, &minor) != 2 || major * 1000 + minor < 6003) {
		errno = ENOSYS;
		return failed("bpf_fib_lookup without neighbours", why);
	}
	discard_programs(state);
	if (netlink > 0)
		close(netlink);
	if (state->namespace != 0)
		close(state->namespace);
	state->namespace = 0;
	if (unshare(CLONE_NEWNET) != 0)
		return failed("a network namespace", why);
	state->namespace = open("/proc/self/ns/net", O_RDONLY);
	netlink = socket(AF_NETLINK, SOCK_RAW, NETLINK_ROUTE);
	if (state->namespace < 0 || netlink < 0)
		return failed("netlink", why);
	/* bpf_fib_lookup answers only for a device that forwards. */
	if (set("/proc/sys/net/ipv4/ip_forward", "1") != 0 ||
	    set("/proc/sys/net/ipv6/conf/all/forwarding", "1") != 0 ||
	    /* No address of the device's own, which would be a route. */
	    set("/proc/sys/net/ipv6/conf/default/addr_gen_mode", "1") != 0)
		return failed("/proc/sys/net", why);
	if (add_device() != 0)
		return failed("a device of type veth", why);
	state->device = (int)if_nametoindex(DEVICE);
	state->local_routes = 0;
	for (size_t i = 0; table->address_size == 16 && i < count; i++)
		state->local_routes |= is_local(routes[i].address, routes[i].length);
	return 0;
}

/* Writes the message that adds a route; returns its size. */
static size_t write_route(union message *message, const struct table *table,
			  const struct route *route)
{
	const struct state *state = table->state;
	struct rtmsg *fields = NLMSG_DATA(&message->header);

	memset(message, 0, sizeof(*message));
	message->header.nlmsg_len = NLMSG_LENGTH(sizeof(*fields));
	message->header.nlmsg_type = RTM_NEWROUTE;
	message->header.nlmsg_flags = NLM_F_REQUEST | NLM_F_CREATE;
	fields->rtm_family = table->address_size == 4 ? AF_INET : AF_INET6;
	fields->rtm_dst_len = route->length;
	fields->rtm_table = RT_TABLE_MAIN;
	fields->rtm_protocol = RTPROT_STATIC;
	fields->rtm_scope = RT_SCOPE_LINK;
	fields->rtm_type = RTN_UNICAST;
	if (route->length > 0)
		add(message, RTA_DST, route->address, table->address_size);
	add(message, RTA_OIF, &state->device, sizeof(state->device));
	add(message, RTA_PRIORITY, &route->id, sizeof(route->id));
	return message->header.nlmsg_len;
}

static int build(const struct table *table, const struct route *routes, size_t count, char *why)
{
	static char buffer[AT_ONCE * sizeof(union message)];
	union message message;
	size_t used = 0;

	for (size_t i = 0; i < count; i++) {
		size_t size = write_route(&message, table, &routes[i]);
		int last = i + 1 == count || (i + 1) % AT_ONCE == 0;

		if (last)
			message.header.nlmsg_flags |= NLM_F_ACK;
		memcpy(buffer + used, message.bytes, size);
		used += size;
		if (last && exchange(buffer, used) != 0)
			return failed("RTM_NEWROUTE", why);
		used = last ? 0 : used;
	}
	return 0;
}

#define ROUTE_TABLE(version)                                                                       \
	{                                                                                          \
		.name = "linux-route", .family = version == 4 ? "ipv4" : "ipv6",                   \
		.modes = "one,dependent", .address_size = version == 4 ? 4 : 16, .about = about,   \
		.prepare = prepare, .build = build, .set_keys = set_route_keys,                    \
		.ready = ready_routes, .walk = walk, .state = &(struct state){.map = 0}            \
	}

const struct table route4_table = ROUTE_TABLE(4), route6_table = ROUTE_TABLE(6);
