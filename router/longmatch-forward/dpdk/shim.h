/*
 * The part of DPDK that the crate uses, as plain functions on whole batches.
 *
 * DPDK's fast path is inline functions in headers, which only C can call. Functions that may fail
 * return 0 or a negative errno. The declarations in src/io/dpdk/ffi.rs are the same.
 */
#ifndef LONGMATCH_DPDK_SHIM_H
#define LONGMATCH_DPDK_SHIM_H

#include <stdint.h>

struct rte_mbuf;
struct rte_mempool;

/* What is known of a port. */
struct lm_dpdk_info {
	uint8_t mac[6];
	uint16_t mtu;
	/* The kernel's number of the interface, or 0. */
	uint32_t if_index;
	uint16_t max_rx_queues;
	uint16_t max_tx_queues;
};

/* Initialises the environment of DPDK, on the CPUs on which the thread runs now. */
int lm_dpdk_init(int argc, char **argv);

/* The number of the CPU on which the thread runs, or a negative errno. */
int lm_dpdk_cpu(void);

/* Creates the port of a device that is not there yet, and finds it by its name. */
int lm_dpdk_probe(const char *device, const char *name, uint16_t *port);

int lm_dpdk_info(uint16_t port, struct lm_dpdk_info *info);

/* Sets the MAC address, of six bytes, of a port whose driver lets it be set. */
int lm_dpdk_set_mac(uint16_t port, const uint8_t *mac);

/* Creates a pool of buffers, or returns NULL and sets *error to a negative errno. */
struct rte_mempool *lm_dpdk_pool_create(const char *name, uint32_t buffers, int *error);
void lm_dpdk_pool_free(struct rte_mempool *pool);

/* Limits a number of descriptors per queue to what the port allows. */
int lm_dpdk_adjust(uint16_t port, uint16_t *rx_descriptors, uint16_t *tx_descriptors);

/* Configures the queues of a port and starts it. There is a pool for each receive queue. */
int lm_dpdk_start(uint16_t port, uint16_t rx_queues, uint16_t rx_descriptors, uint16_t tx_queues,
		  uint16_t tx_descriptors, struct rte_mempool *const *pools);

/* Stops a port and closes its device. */
void lm_dpdk_close(uint16_t port);

/*
 * Receives up to max frames: their buffers, bytes and lengths. Each buffer is one segment of the
 * pool that nothing else refers to; a frame that does not become one is freed and added to *dropped.
 */
uint16_t lm_dpdk_receive(uint16_t port, uint16_t queue, struct rte_mempool *pool,
			 struct rte_mbuf **buffers, uint8_t **bytes, uint16_t *lengths,
			 uint16_t max, uint64_t *dropped);

/*
 * Sends frames cut to these lengths, frees those that were not sent, returns how many were. All
 * frames that a queue sends were received with the same pool.
 */
uint16_t lm_dpdk_transmit(uint16_t port, uint16_t queue, struct rte_mbuf **buffers,
			  const uint16_t *lengths, uint16_t count);

void lm_dpdk_free(struct rte_mbuf **buffers, uint16_t count);

/* Makes the thread one of DPDK's, which makes pools faster. Returns whether it became one now. */
int lm_dpdk_thread_register(void);
void lm_dpdk_thread_unregister(void);

#endif
