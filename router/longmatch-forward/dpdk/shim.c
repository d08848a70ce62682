#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <string.h>

#include <rte_dev.h>
#include <rte_eal.h>
#include <rte_errno.h>
#include <rte_ethdev.h>
#include <rte_lcore.h>
#include <rte_mbuf.h>
#include <rte_mempool.h>
#include <rte_prefetch.h>

#include "shim.h"

/* Buffers that a thread keeps for itself, without the shared ring of the pool. */
#define CACHE 256

/* DPDK reports errors by the result, or by -1 and rte_errno. */
static int error_of(int result)
{
	if (result >= 0)
		return 0;
	if (result == -1 && rte_errno > 0)
		return -rte_errno;
	return result;
}

int lm_dpdk_init(int argc, char **argv)
{
	cpu_set_t before;
	int error = pthread_getaffinity_np(pthread_self(), sizeof(before), &before);
	if (error)
		return -error;

	int result = rte_eal_init(argc, argv);

	/* DPDK has bound the thread to one CPU; where threads run is the caller's affair. */
	pthread_setaffinity_np(pthread_self(), sizeof(before), &before);
	return error_of(result);
}

int lm_dpdk_cpu(void)
{
	int cpu = sched_getcpu();
	return cpu < 0 ? -errno : cpu;
}

int lm_dpdk_probe(const char *device, const char *name, uint16_t *port)
{
	/* Devices that DPDK found itself, such as those of PCI, are there already. */
	if (rte_eth_dev_get_port_by_name(name, port) == 0)
		return 0;

	rte_errno = 0;
	int result = rte_dev_probe(device);
	if (result < 0)
		return error_of(result);
	return rte_eth_dev_get_port_by_name(name, port);
}

int lm_dpdk_info(uint16_t port, struct lm_dpdk_info *info)
{
	struct rte_eth_dev_info device;
	struct rte_ether_addr mac;

	int result = rte_eth_dev_info_get(port, &device);
	if (result < 0)
		return result;
	result = rte_eth_macaddr_get(port, &mac);
	if (result < 0)
		return result;
	result = rte_eth_dev_get_mtu(port, &info->mtu);
	if (result < 0)
		return result;

	memcpy(info->mac, mac.addr_bytes, sizeof(info->mac));
	info->if_index = device.if_index;
	info->max_rx_queues = device.max_rx_queues;
	info->max_tx_queues = device.max_tx_queues;
	return 0;
}

int lm_dpdk_set_mac(uint16_t port, const uint8_t *mac)
{
	struct rte_ether_addr address;
	memcpy(address.addr_bytes, mac, sizeof(address.addr_bytes));

	int result = rte_eth_dev_default_mac_addr_set(port, &address);
	return result == -ENOTSUP ? 0 : result;
}

struct rte_mempool *lm_dpdk_pool_create(const char *name, uint32_t buffers, int *error)
{
	struct rte_mempool *pool = rte_pktmbuf_pool_create(name, buffers, CACHE, 0,
							   RTE_MBUF_DEFAULT_BUF_SIZE, SOCKET_ID_ANY);
	if (pool == NULL)
		*error = rte_errno > 0 ? -rte_errno : -ENOMEM;
	return pool;
}

void lm_dpdk_pool_free(struct rte_mempool *pool)
{
	rte_mempool_free(pool);
}

int lm_dpdk_adjust(uint16_t port, uint16_t *rx_descriptors, uint16_t *tx_descriptors)
{
	return rte_eth_dev_adjust_nb_rx_tx_desc(port, rx_descriptors, tx_descriptors);
}

static int configure(uint16_t port, uint16_t rx_queues, uint16_t tx_queues)
{
	struct rte_eth_conf configuration;
	struct rte_eth_dev_info device;

	int result = rte_eth_dev_info_get(port, &device);
	if (result < 0)
		return result;

	memset(&configuration, 0, sizeof(configuration));
	/* Flows are divided among the queues by addresses and ports, as far as the device can. */
	uint64_t hashes = device.flow_type_rss_offloads &
			  (RTE_ETH_RSS_IP | RTE_ETH_RSS_TCP | RTE_ETH_RSS_UDP);
	if (rx_queues > 1 && hashes != 0) {
		configuration.rxmode.mq_mode = RTE_ETH_MQ_RX_RSS;
		configuration.rx_adv_conf.rss_conf.rss_hf = hashes;
	}
	/* A transmit queue gets buffers of one pool only, which nothing else refers to: those that
	 * lm_dpdk_receive returned for the same worker. */
	configuration.txmode.offloads = device.tx_offload_capa & RTE_ETH_TX_OFFLOAD_MBUF_FAST_FREE;
	return rte_eth_dev_configure(port, rx_queues, tx_queues, &configuration);
}

int lm_dpdk_start(uint16_t port, uint16_t rx_queues, uint16_t rx_descriptors, uint16_t tx_queues,
		  uint16_t tx_descriptors, struct rte_mempool *const *pools)
{
	int result = configure(port, rx_queues, tx_queues);
	if (result < 0)
		return result;

	for (uint16_t queue = 0; queue < rx_queues; queue++) {
		result = rte_eth_rx_queue_setup(port, queue, rx_descriptors, SOCKET_ID_ANY, NULL,
						pools[queue]);
		if (result < 0)
			return result;
	}
	for (uint16_t queue = 0; queue < tx_queues; queue++) {
		result = rte_eth_tx_queue_setup(port, queue, tx_descriptors, SOCKET_ID_ANY, NULL);
		if (result < 0)
			return result;
	}
	rte_errno = 0;
	return error_of(rte_eth_dev_start(port));
}

void lm_dpdk_close(uint16_t port)
{
	/* Nothing is left to do if either fails; a port that never started may be stopped. */
	(void)rte_eth_dev_stop(port);
	(void)rte_eth_dev_close(port);
}

/* Whether the buffer is the whole frame, is of the pool, and nothing else refers to its bytes. */
static inline int is_exclusive(const struct rte_mbuf *buffer, const struct rte_mempool *pool)
{
	return buffer->nb_segs == 1 && buffer->pool == pool && RTE_MBUF_DIRECT(buffer) &&
	       rte_mbuf_refcnt_read(buffer) == 1;
}

/* A copy of the frame in one buffer, or NULL if it does not fit. Frees the frame. */
static struct rte_mbuf *copied(struct rte_mbuf *buffer, struct rte_mempool *pool)
{
	struct rte_mbuf *copy = rte_pktmbuf_copy(buffer, pool, 0, UINT32_MAX);
	rte_pktmbuf_free(buffer);
	if (copy != NULL && copy->nb_segs != 1) {
		rte_pktmbuf_free(copy);
		return NULL;
	}
	return copy;
}

uint16_t lm_dpdk_receive(uint16_t port, uint16_t queue, struct rte_mempool *pool,
			 struct rte_mbuf **buffers, uint8_t **bytes, uint16_t *lengths,
			 uint16_t max, uint64_t *dropped)
{
	uint16_t received = rte_eth_rx_burst(port, queue, buffers, max);
	uint16_t kept = 0;

	for (uint16_t i = 0; i < received; i++) {
		struct rte_mbuf *buffer = buffers[i];
		if (unlikely(!is_exclusive(buffer, pool))) {
			buffer = copied(buffer, pool);
			if (buffer == NULL) {
				*dropped += 1;
				continue;
			}
		}
		uint8_t *frame = rte_pktmbuf_mtod(buffer, uint8_t *);
		rte_prefetch0(frame);
		buffers[kept] = buffer;
		bytes[kept] = frame;
		lengths[kept] = buffer->data_len;
		kept++;
	}
	return kept;
}

uint16_t lm_dpdk_transmit(uint16_t port, uint16_t queue, struct rte_mbuf **buffers,
			  const uint16_t *lengths, uint16_t count)
{
	for (uint16_t i = 0; i < count; i++) {
		buffers[i]->data_len = lengths[i];
		buffers[i]->pkt_len = lengths[i];
		/* What the receiving device reported is no request to the sending one. */
		buffers[i]->ol_flags = 0;
	}

	/* Some drivers take a part of a batch at a time. */
	uint16_t sent = 0;
	while (sent < count) {
		uint16_t taken = rte_eth_tx_burst(port, queue, buffers + sent, count - sent);
		if (taken == 0)
			break;
		sent += taken;
	}
	if (unlikely(sent < count))
		rte_pktmbuf_free_bulk(buffers + sent, count - sent);
	return sent;
}

void lm_dpdk_free(struct rte_mbuf **buffers, uint16_t count)
{
	rte_pktmbuf_free_bulk(buffers, count);
}

int lm_dpdk_thread_register(void)
{
	return rte_lcore_id() == LCORE_ID_ANY && rte_thread_register() == 0;
}

void lm_dpdk_thread_unregister(void)
{
	rte_thread_unregister();
}
