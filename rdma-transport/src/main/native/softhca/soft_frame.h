/*
 * What two adapters say to each other over the TCP connection that stands for an RDMA connection.
 *
 * Byte order and layout are the host's, which all supported machines share; every frame starts with a magic number, and the
 * hello carries a version. Requests (SEND, WRITE, READ) carry consecutive sequence numbers. The peer works on them in order and
 * answers in order. A SEND that finds no receive posted is thrown away and answered RNR; everything behind it is thrown away
 * too until READY says that a receive was posted and the requester starts again from that SEND: nothing is ever buffered.
 */
#ifndef SOFT_FRAME_H
#define SOFT_FRAME_H

#include "soft_table.h"

enum frame_type {
	/* Connection manager. REQ, REP and REJ carry a hello. */
	FRAME_REQ = 1, FRAME_REP, FRAME_RTU, FRAME_REJ, FRAME_DISC, FRAME_DREP,
	/* Requests. SEND and WRITE carry len bytes. */
	FRAME_SEND, FRAME_WRITE, FRAME_READ,
	/* Answers. DATA carries len bytes of a READ from offset addr; ACK ends a request with a status. */
	FRAME_DATA, FRAME_ACK, FRAME_RNR, FRAME_READY,
	/* The sender's queue pair found that a READ of the receiver's memory was not allowed. */
	FRAME_TERM,
	FRAME_TYPES,
};

enum { FRAME_MAGIC = 0x5ca1, FRAME_SOLICITED = 1, FRAME_IMMEDIATE = 2 };

struct frame {
	uint16_t magic;
	uint8_t type, flags;
	uint32_t len;
	uint64_t addr;
	uint32_t rkey, imm, seq, status;
};

enum { HELLO_MAGIC = 0x534f4654, HELLO_VERSION = 1 };

/* Private data a program may give: ucma(7) and the CM message formats of InfiniBand. */
enum { REQ_PRIVATE_BYTES = 56, REP_PRIVATE_BYTES = 196, REJ_PRIVATE_BYTES = 148 };

struct hello {
	uint32_t magic, version;
	struct table_address table;
	uint32_t qp_num, pd;
	uint8_t responder_resources, initiator_depth, flow_control, retry_count;
	uint8_t rnr_retry_count, srq, private_len, reserved;
	uint32_t reject_status;
	uint8_t private_data[200];
};

#endif
