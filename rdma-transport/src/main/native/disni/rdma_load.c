/* JNI_OnLoad: what DiSNI needs of the JDK, its sizes and ours, and the registration of all natives. */
#include "rdma_channel.h"
#include "rdma_cq.h"
#include "rdma_device.h"
#include "rdma_file.h"
#include "rdma_handle.h"
#include "rdma_id.h"
#include "rdma_memory.h"
#include "rdma_mr.h"
#include "rdma_pd.h"
#include "rdma_qp.h"
#include "rdma_table.h"
#include <sched.h>
#include <string.h>

/* What DiSNI asks for at its own start: version 32 is that of DiSNI 2.1, 28 its room for a sockaddr_in. */
#define NUMBER(name, value) static jint JNICALL name(JAVA) { return value; }
NUMBER(version, 32)
NUMBER(sockaddr_size, 28)
NUMBER(recv_wr_size, sizeof(struct ibv_recv_wr))
NUMBER(send_wr_size, sizeof(struct ibv_send_wr))
NUMBER(sge_size, sizeof(struct ibv_sge))
NUMBER(wc_size, sizeof(struct ibv_wc))
NUMBER(remote_addr_offset, offsetof(struct ibv_send_wr, wr.rdma.remote_addr))
NUMBER(rkey_offset, offsetof(struct ibv_send_wr, wr.rdma.rkey))

static const JNINativeMethod size_methods[] = {
	METHOD("_getVersion", "()I", version),
	METHOD("_getSockAddrInSize", "()I", sockaddr_size),
	METHOD("_getIbvRecvWRSize", "()I", recv_wr_size),
	METHOD("_getIbvSendWRSize", "()I", send_wr_size),
	METHOD("_getIbvSgeSize", "()I", sge_size),
	METHOD("_getIbvWCSize", "()I", wc_size),
	METHOD("_getRemoteAddressOffset", "()I", remote_addr_offset),
	METHOD("_getRKeyOffset", "()I", rkey_offset),
	END_OF_METHODS
};

/* The structures as this library was compiled, for Layout.java to compare, in its order. */
static jintArray JNICALL layout(JAVA)
{
	static const jint numbers[] = {
		sizeof(struct ibv_recv_wr), sizeof(struct ibv_sge), sizeof(struct ibv_wc),
		offsetof(struct ibv_send_wr, wr_id), offsetof(struct ibv_send_wr, next),
		offsetof(struct ibv_send_wr, sg_list), offsetof(struct ibv_send_wr, num_sge),
		offsetof(struct ibv_send_wr, opcode), offsetof(struct ibv_send_wr, send_flags),
		offsetof(struct ibv_send_wr, wr.rdma.remote_addr), offsetof(struct ibv_send_wr, wr.rdma.rkey),
		offsetof(struct ibv_recv_wr, wr_id), offsetof(struct ibv_recv_wr, next),
		offsetof(struct ibv_recv_wr, sg_list), offsetof(struct ibv_recv_wr, num_sge),
		offsetof(struct ibv_sge, addr), offsetof(struct ibv_sge, length), offsetof(struct ibv_sge, lkey),
		offsetof(struct ibv_wc, wr_id), offsetof(struct ibv_wc, status), offsetof(struct ibv_wc, opcode),
		offsetof(struct ibv_wc, vendor_err), offsetof(struct ibv_wc, byte_len), offsetof(struct ibv_wc, qp_num),
	};
	enum { COUNT = sizeof(numbers) / sizeof(*numbers) };
	jintArray array = (*env)->NewIntArray(env, COUNT);

	if (array)
		(*env)->SetIntArrayRegion(env, array, 0, COUNT, numbers);
	return array;
}

static const JNINativeMethod layout_methods[] = {
	METHOD("layout", "()[I", layout),
	END_OF_METHODS
};

static void JNICALL set_affinity(JAVA, jlong mask)
{
	cpu_set_t cpus;

	CPU_ZERO(&cpus);
	for (int cpu = 0; cpu < 64; cpu++) {
		if (mask & (jlong)(UINT64_C(1) << cpu))
			CPU_SET(cpu, &cpus);
	}
	sched_setaffinity(0, sizeof(cpus), &cpus);	/* DiSNI has no way to hear of a failure */
}

static jlong JNICALL get_affinity(JAVA)
{
	cpu_set_t cpus;
	uint64_t mask = 0;

	if (sched_getaffinity(0, sizeof(cpus), &cpus))
		return 0;
	for (int cpu = 0; cpu < 64; cpu++)
		mask |= CPU_ISSET(cpu, &cpus) ? UINT64_C(1) << cpu : 0;
	return (jlong)mask;
}

static const JNINativeMethod affinity_methods[] = {
	METHOD("_setAffinity", "(J)V", set_affinity),
	METHOD("_getAffinity", "()J", get_affinity),
	END_OF_METHODS
};

/* NULL, with an exception, if that fails. */
static jobject module_of(JNIEnv *env, jclass type, jmethodID get)
{
	jobject module = (*env)->CallObjectMethod(env, type, get);

	return (*env)->ExceptionCheck(env) ? NULL : module;
}

/*
 * DiSNI casts direct buffers to sun.nio.ch.DirectBuffer, a package that java.base keeps to itself. Opens it to the
 * module of the given class alone (the unnamed one of the loader that loads us), so that no JVM flag is needed. False
 * with an exception where this JDK has no such method.
 */
static bool export_sun_nio_ch(JNIEnv *env, jclass user)
{
	jclass type = (*env)->FindClass(env, "java/lang/Class");
	jclass module = type ? (*env)->FindClass(env, "java/lang/Module") : NULL;
	jmethodID of = module ? (*env)->GetMethodID(env, type, "getModule", "()Ljava/lang/Module;") : NULL;
	jmethodID export = of ? (*env)->GetMethodID(env, module, "implAddExports",
						    "(Ljava/lang/String;Ljava/lang/Module;)V") : NULL;
	jobject base = export ? module_of(env, type, of) : NULL;
	jobject own = base ? module_of(env, user, of) : NULL;
	jstring package = own ? (*env)->NewStringUTF(env, "sun.nio.ch") : NULL;

	if (package)
		(*env)->CallVoidMethod(env, base, export, package, own);
	return package && !(*env)->ExceptionCheck(env);
}

static bool register_on(JNIEnv *env, jclass type, const JNINativeMethod *methods)
{
	int count = 0;

	while (methods[count].name)
		count++;
	return !(*env)->RegisterNatives(env, type, methods, count);
}

static bool register_all(JNIEnv *env, const char *name, const JNINativeMethod *const *lists)
{
	jclass type = (*env)->FindClass(env, name);

	if (!type)
		return false;
	for (; *lists; lists++) {
		if (!register_on(env, type, *lists))
			return false;
	}
	return true;
}

JNIEXPORT jint JNICALL JNI_OnLoad(JavaVM *vm, UNUSED void *reserved)
{
	static const JNINativeMethod *const dispatcher[] = {
		size_methods, rdma_channel_disni_methods, rdma_id_disni_methods, rdma_device_disni_methods,
		rdma_pd_disni_methods, rdma_mr_disni_methods, rdma_cq_disni_methods, rdma_qp_disni_methods, NULL
	};
	static const JNINativeMethod *const extras[] = {
		layout_methods, rdma_table_methods, rdma_handle_methods, rdma_channel_methods, rdma_id_methods,
		rdma_device_methods, rdma_cq_methods, rdma_qp_methods, rdma_memory_methods,
		rdma_file_methods, NULL
	};
	static const JNINativeMethod *const affinity[] = { affinity_methods, NULL };
	JNIEnv *env;
	jclass user;

	if ((*vm)->GetEnv(vm, (void **)&env, JNI_VERSION_1_8))
		return JNI_ERR;
	if (!register_all(env, DISNI "verbs/impl/NativeDispatcher", dispatcher) ||
	    !register_all(env, DISNI "util/NativeAffinity", affinity) ||
	    !register_all(env, OURS "NativeExtras", extras))
		return JNI_ERR;
	user = (*env)->FindClass(env, OURS "NativeExtras");
	return user && export_sun_nio_ch(env, user) ? JNI_VERSION_1_8 : JNI_ERR;
}
