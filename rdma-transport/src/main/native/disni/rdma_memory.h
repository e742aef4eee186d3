/* Memory of this process: mappings, views of them, and the limit of what may be pinned. */
#ifndef RDMA_MEMORY_H
#define RDMA_MEMORY_H
#include "rdma_native.h"

extern const JNINativeMethod rdma_memory_methods[];

#endif
