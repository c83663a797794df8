/* See shim.h. The parts of DPDK that send and receive exist only as inline functions over its structs: this file is
 * where they are compiled, once for every version of DPDK. */
#define _GNU_SOURCE
/* Of those only rte_eth_read_clock, which is there and the same in every version from 19.05 on. */
#define ALLOW_EXPERIMENTAL_API
#include <rte_config.h>

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <rte_eal.h>
#include <rte_errno.h>
#include <rte_ethdev.h>
#include <rte_log.h>
#include <rte_mbuf.h>
#include <rte_mbuf_dyn.h>
#include <rte_version.h>

#include "shim.h"

/* Buffers beyond the entries of a receive ring: what a burst has in hand, and what the driver keeps (net_af_xdp fills a
 * ring of 2048 first). */
#define SPARE 2560u
/* What a buffer costs beside its room. */
#define OVERHEAD (RTE_PKTMBUF_HEADROOM + sizeof(struct rte_mbuf) + RTE_CACHE_LINE_SIZE)
/* A page: net_af_xdp has no buffers beyond it. */
#define PAGE 4096u
/* An mbuf's room is a 16-bit number. */
#define MOST_ROOM (UINT16_MAX - RTE_PKTMBUF_HEADROOM)

struct port {
  uint32_t room;
  struct rte_eth_stats before;
};

static struct port ports[RTE_MAX_ETHPORTS];
static int stamp_at = -1;
static uint64_t stamp_flag;

uint32_t rig_dpdk_abi(void) { return RIG_DPDK_ABI; }

const char *rig_dpdk_version(void) { return rte_version(); }

const char *rig_dpdk_words(int error) { return rte_strerror(error < 0 ? -error : error); }

/* DPDK's log, of which only the end is kept: it explains a failure, and nobody else asked for it. */

static pthread_mutex_t said_lock = PTHREAD_MUTEX_INITIALIZER;
static char said[2048];
static size_t said_len;

static ssize_t on_log(void *cookie, const char *text, size_t len) {
  const size_t all = len;
  (void)cookie;
  pthread_mutex_lock(&said_lock);
  if (len > sizeof said) {
    text += len - sizeof said;
    len = sizeof said;
  }
  if (said_len + len > sizeof said) {
    const size_t over = said_len + len - sizeof said;
    memmove(said, said + over, said_len - over);
    said_len -= over;
  }
  memcpy(said + said_len, text, len);
  said_len += len;
  pthread_mutex_unlock(&said_lock);
  return (ssize_t)all;
}

void rig_dpdk_said(char *to, size_t room) {
  if (room == 0)
    return;
  pthread_mutex_lock(&said_lock);
  const size_t len = RTE_MIN(said_len, room - 1);
  memcpy(to, said + said_len - len, len);
  to[len] = 0;
  said_len = 0;
  pthread_mutex_unlock(&said_lock);
}

int rig_dpdk_start(int argc, char **argv) {
  static const cookie_io_functions_t log = {.write = on_log};
  FILE *stream = fopencookie(NULL, "w", log);
  if (stream != NULL)
    rte_openlog_stream(stream);
  /* An argument that DPDK does not know makes it print how to use it, where only data may go. */
  fflush(stdout);
  const int own = dup(STDOUT_FILENO), nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);
  if (own >= 0 && nowhere >= 0)
    dup2(nowhere, STDOUT_FILENO);
  const int answer = rte_eal_init(argc, argv);
  const int error = rte_errno;
  fflush(stdout);
  if (own >= 0 && nowhere >= 0)
    dup2(own, STDOUT_FILENO);
  if (own >= 0)
    close(own);
  if (nowhere >= 0)
    close(nowhere);
  if (answer < 0)
    return error > 0 ? -error : -EINVAL;
  return 0;
}

int rig_dpdk_find(const char *name) {
  uint16_t port;
  const int answer = rte_eth_dev_get_port_by_name(name, &port);
  return answer != 0 ? answer : port;
}

int rig_dpdk_list(uint16_t from, char name[RIG_DPDK_NAME]) {
  /* DPDK's own names fit: RTE_ETH_NAME_MAX_LEN. */
  RTE_BUILD_BUG_ON(RTE_ETH_NAME_MAX_LEN > RIG_DPDK_NAME);
  const uint16_t port = (uint16_t)rte_eth_find_next_owned_by(from, RTE_ETH_DEV_NO_OWNER);
  if (port >= RTE_MAX_ETHPORTS)
    return -ENOENT;
  const int answer = rte_eth_dev_get_name_by_port(port, name);
  return answer != 0 ? answer : port;
}

static struct rte_mempool *make_pool(const char *what, uint16_t port, uint32_t count, uint32_t room) {
  char name[RTE_MEMPOOL_NAMESIZE];
  snprintf(name, sizeof name, "rig_%s_%u", what, port);
  /* No cache: the threads of the rig are none of DPDK's, for which it would be. */
  return rte_pktmbuf_pool_create(name, count, 0, 0, (uint16_t)(room + RTE_PKTMBUF_HEADROOM), SOCKET_ID_ANY);
}

/* Room for frames of that length, a tag and the check sequence. Some drivers count in KiB, below 2 KiB some refuse. */
static uint32_t room_for(uint32_t longest) {
  const uint32_t least = RTE_MAX(longest + 12, 2048u);
  const uint32_t room = RTE_ALIGN_CEIL(least, 1024u), tight = RTE_ALIGN_CEIL(least, RTE_CACHE_LINE_SIZE);
  return room + OVERHEAD > PAGE && tight + OVERHEAD <= PAGE ? tight : room;
}

/* Asks the driver for frames of that length; what it says of its MTU then. */
static void negotiate_mtu(uint16_t port, uint32_t longest, struct rig_dpdk_port *got) {
  const uint32_t wanted = longest > RTE_ETHER_HDR_LEN ? longest - RTE_ETHER_HDR_LEN : 0;
  uint16_t mtu = 0;
  if (rte_eth_dev_get_mtu(port, &mtu) != 0)
    mtu = 0;
  if (wanted > mtu) {
    const int answer = wanted > UINT16_MAX ? -EINVAL : rte_eth_dev_set_mtu(port, (uint16_t)wanted);
    if (answer == 0)
      rte_eth_dev_get_mtu(port, &mtu);
    else if (answer == -ENOTSUP)
      mtu = 0;
    else
      got->mtu_refused = -answer;
  }
  got->mtu = mtu;
}

/* Has the NIC stamp received frames, where that means anything here: 1, 0 when it is not offered, or an error. */
static int negotiate_stamps(const struct rte_eth_dev_info *info, struct rte_eth_conf *conf) {
  if ((info->rx_offload_capa & RTE_ETH_RX_OFFLOAD_TIMESTAMP) == 0)
    return 0;
  if (stamp_at < 0 && rte_mbuf_dyn_rx_timestamp_register(&stamp_at, &stamp_flag) != 0)
    return -rte_errno;
  conf->rxmode.offloads |= RTE_ETH_RX_OFFLOAD_TIMESTAMP;
  return 1;
}

int rig_dpdk_open(uint16_t port, const struct rig_dpdk_plan *plan, struct rig_dpdk_port *got, const char **step) {
  struct rte_eth_dev_info info;
  struct rte_eth_conf conf;
  struct rte_mempool *pool;
  uint64_t ticks;
  int answer;
  memset(got, 0, sizeof *got);
  memset(&conf, 0, sizeof conf);

  *step = "ask the driver what it can do";
  if ((answer = rte_eth_dev_info_get(port, &info)) != 0)
    return answer;
  snprintf(got->driver, sizeof got->driver, "%s", info.driver_name != NULL ? info.driver_name : "");
  got->interface = info.if_index;
  got->stamps = negotiate_stamps(&info, &conf);

  *step = "configure the port";
  if ((answer = rte_eth_dev_configure(port, 1, 1, &conf)) != 0)
    return answer;
  negotiate_mtu(port, plan->longest, got);
  uint16_t receive = (uint16_t)RTE_MIN(plan->buffers, (uint32_t)UINT16_MAX);
  uint16_t transmit = (uint16_t)RTE_MIN(plan->slots, (uint32_t)UINT16_MAX);
  if ((answer = rte_eth_dev_adjust_nb_rx_tx_desc(port, &receive, &transmit)) != 0)
    return answer;
  got->entries = transmit;

  *step = "get memory for received frames";
  const uint32_t room = room_for(plan->longest);
  if (room > MOST_ROOM)
    return -EMSGSIZE;
  ports[port].room = room;
  if ((pool = make_pool("rx", port, RTE_MAX(plan->buffers, receive + SPARE), room)) == NULL)
    return -rte_errno;

  *step = "set up the receive queue";
  if ((answer = rte_eth_rx_queue_setup(port, 0, receive, SOCKET_ID_ANY, NULL, pool)) != 0)
    return answer;
  *step = "set up the transmit queue";
  if ((answer = rte_eth_tx_queue_setup(port, 0, transmit, SOCKET_ID_ANY, NULL)) != 0)
    return answer;
  *step = "start the port";
  if ((answer = rte_eth_dev_start(port)) != 0)
    return answer;
  *step = "receive frames for others, too";
  answer = rte_eth_promiscuous_enable(port);
  if (answer != 0 && answer != -ENOTSUP)
    return answer;
  answer = rte_eth_allmulticast_enable(port);
  if (answer != 0 && answer != -ENOTSUP)
    return answer;
  /* A stamp by a clock that nobody can read says nothing. */
  if (got->stamps == 1 && (answer = rte_eth_read_clock(port, &ticks)) != 0)
    got->stamps = answer;
  *step = "read the counters";
  return rte_eth_stats_get(port, &ports[port].before);
}

int rig_dpdk_close(uint16_t port) {
  /* It may have stopped by itself, with its device. */
  (void)rte_eth_dev_stop(port);
  return rte_eth_dev_close(port);
}

int rig_dpdk_link(uint16_t port) {
  struct rte_eth_link link;
  const int answer = rte_eth_link_get_nowait(port, &link);
  return answer != 0 ? answer : link.link_status == RTE_ETH_LINK_UP;
}

int rig_dpdk_gone(uint16_t port) { return rte_eth_dev_is_removed(port); }

int rig_dpdk_losses(uint16_t port, struct rig_dpdk_losses *losses) {
  struct rte_eth_stats now;
  const struct rte_eth_stats *before = &ports[port].before;
  const int answer = rte_eth_stats_get(port, &now);
  if (answer != 0)
    return answer;
  losses->missed = now.imissed - before->imissed;
  losses->unbuffered = now.rx_nombuf - before->rx_nombuf;
  losses->broken = now.ierrors - before->ierrors;
  losses->unsent = now.oerrors - before->oerrors;
  return 0;
}

int rig_dpdk_limit(uint16_t port, uint32_t mbps) {
#if RTE_VERSION >= RTE_VERSION_NUM(22, 11, 0, 0)
  return rte_eth_set_queue_rate_limit(port, 0, mbps);
#else
  return mbps > UINT16_MAX ? -EINVAL : rte_eth_set_queue_rate_limit(port, 0, (uint16_t)mbps);
#endif
}

int rig_dpdk_clock(uint16_t port, uint64_t *ticks) { return rte_eth_read_clock(port, ticks); }

int rig_dpdk_frames(uint16_t port, uint32_t count, void **frames, uint8_t **bytes) {
  struct rte_mempool *pool = make_pool("tx", port, count, ports[port].room);
  if (pool == NULL)
    return -rte_errno;
  for (uint32_t i = 0; i < count; i++) {
    struct rte_mbuf *frame = rte_pktmbuf_alloc(pool);
    if (frame == NULL)
      return -ENOMEM;
    frames[i] = frame;
    bytes[i] = rte_pktmbuf_mtod(frame, uint8_t *);
    memset(bytes[i], 0, ports[port].room);
  }
  return 0;
}

void rig_dpdk_lend(void *frame, uint16_t len) {
  struct rte_mbuf *mbuf = frame;
  /* Whatever the driver did to it the last time. */
  mbuf->data_off = RTE_PKTMBUF_HEADROOM;
  mbuf->data_len = len;
  mbuf->pkt_len = len;
  mbuf->nb_segs = 1;
  mbuf->next = NULL;
  mbuf->ol_flags = 0;
  /* One hold is the driver's, which it gives up when the frame has left; the other one keeps the frame and its bytes
   * from going back to their pool. */
  rte_mbuf_refcnt_set(mbuf, 2);
}

uint16_t rig_dpdk_send(uint16_t port, void **frames, uint16_t count) {
  return rte_eth_tx_burst(port, 0, (struct rte_mbuf **)frames, count);
}

int rig_dpdk_is_back(const void *frame) {
  if (rte_mbuf_refcnt_read(frame) != 1)
    return 0;
  /* What its last reader read, it read before. */
  rte_atomic_thread_fence(__ATOMIC_ACQUIRE);
  return 1;
}

void rig_dpdk_settle(uint16_t port) {
  /* Where it is not supported the driver lets go when it needs the room in its ring. */
  (void)rte_eth_tx_done_cleanup(port, 0, 0);
}

uint16_t rig_dpdk_receive(uint16_t port, void **frames, uint16_t count) {
  return rte_eth_rx_burst(port, 0, (struct rte_mbuf **)frames, count);
}

void rig_dpdk_look(const void *frame, struct rig_dpdk_piece *piece) {
  const struct rte_mbuf *mbuf = frame;
  piece->bytes = rte_pktmbuf_mtod(mbuf, const uint8_t *);
  piece->len = mbuf->data_len;
  piece->stamped = stamp_at >= 0 && (mbuf->ol_flags & stamp_flag) != 0;
  piece->ticks = piece->stamped ? *RTE_MBUF_DYNFIELD(mbuf, stamp_at, const rte_mbuf_timestamp_t *) : 0;
  piece->next = mbuf->next;
}

void rig_dpdk_free(void *frame) { rte_pktmbuf_free(frame); }
