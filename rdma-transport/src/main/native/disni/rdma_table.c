#include "rdma_table.h"
#include <dlfcn.h>
#include <stdio.h>

struct rdma_table rdma;
static bool ready;

bool rdma_table_ready(JNIEnv *env, const char *call)
{
	if (!ready)
		rdma_throw(env, call, ENOSYS);
	return ready;
}

static bool find(void *library, const char *path, const char *name, void **slot, char *why, size_t bytes)
{
	*slot = library ? dlsym(library, name) : NULL;
	if (!*slot)
		snprintf(why, bytes, "%s lacks %s", path, name);
	return *slot != NULL;
}

/* False: why says what is missing. The libraries stay loaded: threads and providers of theirs may live on. */
static bool load(const char *cm_path, const char *verbs_path, char *why, size_t bytes)
{
	void *cm = dlopen(cm_path, RTLD_NOW | RTLD_LOCAL);
	void *verbs = cm ? dlopen(verbs_path, RTLD_NOW | RTLD_LOCAL) : NULL;

	if (!verbs) {
		snprintf(why, bytes, "%s", dlerror());
		return false;
	}
#define RDMA_CM_SLOT(f) if (!find(cm, cm_path, #f, (void **)&rdma.f, why, bytes)) return false;
#define RDMA_VERBS_SLOT(f) if (!find(verbs, verbs_path, #f, (void **)&rdma.f, why, bytes)) return false;
	RDMA_CM_FUNCTIONS(RDMA_CM_SLOT)
	RDMA_VERBS_FUNCTIONS(RDMA_VERBS_SLOT)
	return true;
}

/* NULL once everything is found, else why not. */
static jstring JNICALL load_libraries(JAVA, jstring cm_path, jstring verbs_path)
{
	const char *cm = (*env)->GetStringUTFChars(env, cm_path, NULL);
	const char *verbs = cm ? (*env)->GetStringUTFChars(env, verbs_path, NULL) : NULL;
	char why[512] = "";

	if (verbs)
		ready = load(cm, verbs, why, sizeof(why));
	if (verbs)
		(*env)->ReleaseStringUTFChars(env, verbs_path, verbs);
	if (cm)
		(*env)->ReleaseStringUTFChars(env, cm_path, cm);
	return ready || !verbs ? NULL : (*env)->NewStringUTF(env, why);
}

const JNINativeMethod rdma_table_methods[] = {
	METHOD("loadLibraries", "(Ljava/lang/String;Ljava/lang/String;)Ljava/lang/String;", load_libraries),
	END_OF_METHODS
};
