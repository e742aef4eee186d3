/* Memory regions: ibv_reg_mr(3). */
#ifndef RDMA_MR_H
#define RDMA_MR_H
#include "rdma_native.h"

extern const JNINativeMethod rdma_mr_disni_methods[];

#endif
