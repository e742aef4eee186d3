/* What all parts of the library share: headers, the shape of a native method, how a failure reaches Java. */
#ifndef RDMA_NATIVE_H
#define RDMA_NATIVE_H
#include "glibc_compat.h"
#include <errno.h>
#include <jni.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <infiniband/verbs.h>
#include <rdma/rdma_cma.h>

#define UNUSED __attribute__((unused))
/* The two leading parameters of each native method. */
#define JAVA UNUSED JNIEnv *env, UNUSED jobject self
#define POINTER(address) ((void *)(uintptr_t)(address))

/* The natives of one part, registered by rdma_load.c. The lists end with a NULL name. */
#define METHOD(name, signature, function) { (char *)(name), (char *)(signature), (void *)(function) }
#define END_OF_METHODS { NULL, NULL, NULL }

#define DISNI "com/ibm/disni/"
#define OURS "io/rdmashuffle/transport/verbs/disni/impl/"

/* Throws NativeFailure with the name of the call and its errno. Keeps an exception that is already pending. */
void rdma_throw(JNIEnv *env, const char *call, int error);

#endif
