/* Files in directories that others may change. */
#ifndef RDMA_FILE_H
#define RDMA_FILE_H
#include "rdma_native.h"

/* A descriptor (O_PATH), or -1 and errno. By openat2(2): ENOSYS where the kernel has none (before 5.6). */
int rdma_file_hold(const char *directory, const char *path);
/* The same by openat(2), one directory after the other. */
int rdma_file_hold_by_steps(const char *directory, const char *path);

extern const JNINativeMethod rdma_file_methods[];

#endif
