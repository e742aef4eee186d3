#include "rdma_table.h"
#include <dlfcn.h>
#include <stdio.h>

struct rdma_table rdma;
static bool ready;
static void *cm_library, *verbs_library;

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

/* False: why says what is missing. */
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
	cm_library = cm;
	verbs_library = verbs;
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

/*
 * Unloads what says that it can be, the software adapter. The system's libraries stay: threads and providers of theirs may
 * live on, and another user of them gets the same copy.
 */
static void JNICALL unload_libraries(JAVA)
{
	int (*close_all)(void) = ready ? (int (*)(void))dlsym(verbs_library, "softhca_close") : NULL;

	ready = false;
	if (close_all && !close_all()) {
		dlclose(verbs_library);
		dlclose(cm_library);
	}
}

const JNINativeMethod rdma_table_methods[] = {
	METHOD("unloadLibraries", "()V", unload_libraries),
	METHOD("loadLibraries", "(Ljava/lang/String;Ljava/lang/String;)Ljava/lang/String;", load_libraries),
	END_OF_METHODS
};
