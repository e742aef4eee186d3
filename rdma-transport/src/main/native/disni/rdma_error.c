#include "rdma_native.h"

void rdma_throw(JNIEnv *env, const char *call, int error)
{
	jclass type;
	jmethodID init;
	jstring text;
	jthrowable failure;

	if ((*env)->ExceptionCheck(env))
		return;
	/* Found anew each time: a global reference would keep the class loader alive for ever. */
	type = (*env)->FindClass(env, OURS "NativeFailure");
	if (!type)
		return;
	init = (*env)->GetMethodID(env, type, "<init>", "(Ljava/lang/String;I)V");
	text = init ? (*env)->NewStringUTF(env, call) : NULL;
	failure = text ? (*env)->NewObject(env, type, init, text, (jint)error) : NULL;
	if (failure)
		(*env)->Throw(env, failure);
}
