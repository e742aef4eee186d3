/* Sleeping on a channel of verbs, with a way to be woken. */
#ifndef RDMA_WAIT_H
#define RDMA_WAIT_H
#include "rdma_native.h"

/* Makes reads of fd never block, and returns an eventfd for rdma_wait_wake; -1 with errno. */
int rdma_wait_open(int fd);

/* True if fd has something to read. False after the time, a wake-up (which it consumes), or at once for no time. */
bool rdma_wait(int fd, int wake_fd, jlong timeout_ns);

/* Ends the current or the next rdma_wait. */
void rdma_wait_wake(int wake_fd);

#endif
