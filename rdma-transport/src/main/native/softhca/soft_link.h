/* One connection: its socket, what waits to be sent on it and what is being received. Guarded by soft_lock. */
#ifndef SOFT_LINK_H
#define SOFT_LINK_H

#include "soft_frame.h"
#include "soft_poller.h"
#include <sys/uio.h>

enum { LINK_CONTROL_BYTES = 2048, LINK_RESPONSES = 2 * SOFT_MAX_UNACKED, LINK_CHUNK_BYTES = 256 << 10, LINK_IOVECS = SOFT_MAX_SGE + 2 };

struct soft_qp;

/* An answer that waits to be sent. */
struct response {
	uint8_t type;			/* FRAME_ACK, FRAME_RNR, FRAME_READY; FRAME_DATA: a READ to be served */
	uint32_t seq, status;
	uint32_t rkey, len, done;	/* of a READ */
	uint64_t addr;
};

/* The frame on its way out: header, payload, and for the end of a READ the ACK behind it. */
struct outgoing {
	enum { TX_NONE, TX_CONTROL, TX_RESPONSE, TX_REQUEST } kind;
	struct frame head, tail;
	bool has_tail;
	bool fill;			/* the payload's region is gone: zeros, then an error in the tail */
	uint64_t payload_bytes, sent_bytes;
};

/* The frame on its way in. */
struct incoming {
	struct frame frame;
	uint32_t header_bytes;
	uint64_t payload_left;
	enum { RX_DISCARD, RX_HELLO, RX_RECEIVE, RX_WRITE, RX_SINK } to;
	enum { VERDICT_TAKE, VERDICT_DROP, VERDICT_NOT_READY, VERDICT_DOWN } verdict;	/* on a request */
	enum ibv_wc_status status;	/* what went wrong with it on this side */
};

struct link {
	struct pollee pollee;
	struct soft_qp *q;		/* NULL: none (any more) */
	struct soft_peer *peer;		/* NULL: the peer's memory cannot be read directly */
	uint32_t peer_pd, peer_qp_num;
	bool tx_busy, rx_busy;		/* a thread is in a system call on the socket, without soft_lock */
	bool receiving;			/* a thread is in soft_link_receive */
	bool owing;			/* in the list of a completion channel, which sends what is queued here */
	struct link *next_owing;
	bool broken;			/* nothing is sent any more */
	struct outgoing tx;
	struct incoming rx;
	struct hello hello;		/* received */
	uint8_t control[LINK_CONTROL_BYTES];
	uint32_t control_sent, control_len;
	struct response responses[LINK_RESPONSES];
	uint32_t response_head, response_count, reads_queued;
	uint32_t request_seq, expected_seq;
	bool naked, ready_sent;		/* requests are thrown away until expected_seq comes again */
	uint64_t progress_ns;		/* when the peer last sent or took something */
	struct soft_timer ack_timer, rnr_timer;
};

static inline struct link *soft_link_of(struct pollee *p) { return container_of(p, struct link, pollee); }

void soft_link_init(struct link *l);

/* Queues a frame of the connection manager or TERM; it goes out before all others. False: no room, the link is broken. */
bool soft_link_control(struct link *l, const struct frame *f, const void *payload);

/* Queues an answer. False: the peer has more requests out than it may. */
bool soft_link_respond(struct link *l, const struct response *r);

/* Sends what is queued, up to the budget in this thread; the poller goes on with the rest. */
void soft_link_transmit(struct link *l, size_t budget_bytes);

/* Receives what has come. False: the connection is lost, or the peer does not keep to the protocol. */
bool soft_link_receive(struct link *l);

/* Breaks the connection so that the peer notices; our side learns of it from the poller. */
void soft_link_abort(struct link *l);

/* Waits until no thread is in a system call on the socket. Bounded: these calls do not block. */
void soft_link_quiesce(struct link *l);

/* Watches the ack time-out while requests are out. */
void soft_link_arm_ack_timer(struct link *l);

#endif
