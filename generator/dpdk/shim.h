/* What rigctl asks of DPDK, as plain C: no struct of DPDK crosses, so that nothing but shim.c depends on its layout.
 *
 * A frame is a pointer to an rte_mbuf that its user never looks into. Where a function answers an int, a negative one
 * is an errno. A port is used by one thread that sends and one that receives at a time.
 */
#ifndef RIG_DPDK_SHIM_H
#define RIG_DPDK_SHIM_H

#include <stddef.h>
#include <stdint.h>

/* Counts up with every change below: a rigctl uses only the shim that it was made for. */
#define RIG_DPDK_ABI 1u

/* Room for a name. */
#define RIG_DPDK_NAME 64

/* How a port is to be opened. */
struct rig_dpdk_plan {
  uint32_t longest; /* bytes of the longest frame, from the destination MAC on, without FCS */
  uint32_t slots;   /* entries of the transmit ring, about */
  uint32_t buffers; /* received frames that can wait, about */
};

/* What a port turned out to be. */
struct rig_dpdk_port {
  uint32_t entries;        /* entries of the transmit ring */
  uint32_t mtu;            /* what the driver says; 0 when it has no notion of one */
  int32_t mtu_refused;     /* why it did not take a greater one: an errno, or 0 */
  uint32_t interface;      /* the kernel's number of the interface below, or 0 */
  int32_t stamps;          /* 1: the NIC stamps received frames; 0: the driver does not offer it; else an errno */
  char driver[RIG_DPDK_NAME];
};

/* A piece of a received frame. */
struct rig_dpdk_piece {
  const uint8_t *bytes;
  uint32_t len;
  uint32_t stamped;  /* of the first piece, by a port that stamps: whether `ticks` is when the NIC saw the frame */
  uint64_t ticks;    /* on the NIC's own clock, see rig_dpdk_clock */
  void *next;        /* the piece behind it, or NULL */
};

/* What a port lost since it was opened. */
struct rig_dpdk_losses {
  uint64_t missed;     /* received frames for which the ring had no room */
  uint64_t unbuffered; /* received frames for which there was no free buffer */
  uint64_t broken;     /* received frames that were in error or fit no buffer */
  uint64_t unsent;     /* frames that the driver took and did not send */
};

uint32_t rig_dpdk_abi(void);
const char *rig_dpdk_version(void);
const char *rig_dpdk_words(int error);

/* What DPDK has said since it was last asked for: the end of it, at most `room` bytes with the zero. */
void rig_dpdk_said(char *to, size_t room);

/* Starts DPDK. Once in a process; the strings must stay. */
int rig_dpdk_start(int argc, char **argv);

/* The number of the port of that name. */
int rig_dpdk_find(const char *name);
/* The name of the first port from number `from` on; its number. */
int rig_dpdk_list(uint16_t from, char name[RIG_DPDK_NAME]);

/* Opens a port with one queue each way. `step` says what it was at when it failed. */
int rig_dpdk_open(uint16_t port, const struct rig_dpdk_plan *plan, struct rig_dpdk_port *got, const char **step);
/* Closes it for good: DPDK does not find it again in this process. Frames keep their memory. */
int rig_dpdk_close(uint16_t port);
/* 1: the link is up, 0: it is down. */
int rig_dpdk_link(uint16_t port);
/* Whether the device is gone. */
int rig_dpdk_gone(uint16_t port);
int rig_dpdk_losses(uint16_t port, struct rig_dpdk_losses *losses);
/* Has the NIC hold the port to so many Mb/s. */
int rig_dpdk_limit(uint16_t port, uint32_t mbps);
/* Reads the clock that received frames are stamped by. */
int rig_dpdk_clock(uint16_t port, uint64_t *ticks);

/* Makes `count` frames to send by the port, with room for its longest, and says where the bytes of each are. */
int rig_dpdk_frames(uint16_t port, uint32_t count, void **frames, uint8_t **bytes);
/* Makes a frame ready to be sent: its first `len` bytes. Its bytes belong to the driver until it is back. */
void rig_dpdk_lend(void *frame, uint16_t len);
/* Hands frames to the driver; how many it took, the first ones. */
uint16_t rig_dpdk_send(uint16_t port, void **frames, uint16_t count);
/* Whether a frame that was sent is nobody's but its owner's again. */
int rig_dpdk_is_back(const void *frame);
/* Has the driver let go of what it has sent, where it can be asked to. */
void rig_dpdk_settle(uint16_t port);

/* Takes frames that have arrived; how many. Each is freed by who took it. */
uint16_t rig_dpdk_receive(uint16_t port, void **frames, uint16_t count);
void rig_dpdk_look(const void *frame, struct rig_dpdk_piece *piece);
void rig_dpdk_free(void *frame);

#endif
