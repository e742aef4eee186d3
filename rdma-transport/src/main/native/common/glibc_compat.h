/*
 * Keeps a library built on a new glibc loadable by glibc 2.28 (RHEL 8).
 *
 * glibc 2.34 moved the thread and dlopen functions into libc.so.6 and gave them new versions; a plain link binds to those.
 * The directives below bind to the first version of each function instead, which every glibc still exports. The library must
 * name libpthread.so.0 and libdl.so.2 among its needed libraries (see glibc.mk): before 2.34 the functions live there.
 * Include this before any other header, in every C file; `make glibc-check` proves the result.
 */
#ifndef GLIBC_COMPAT_H
#define GLIBC_COMPAT_H

#include <features.h>

#if defined(__x86_64__)
#define GLIBC_FIRST "GLIBC_2.2.5"
#elif defined(__aarch64__)
#define GLIBC_FIRST "GLIBC_2.17"
#endif

#if defined(__GLIBC__) && defined(GLIBC_FIRST) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define GLIBC_BIND(f) __asm__(".symver " #f "," #f "@" GLIBC_FIRST)
/* In libpthread.so.0 before 2.34 (pthread_sigmask: 2.32). */
GLIBC_BIND(pthread_create);
GLIBC_BIND(pthread_join);
GLIBC_BIND(pthread_detach);
GLIBC_BIND(pthread_once);
GLIBC_BIND(pthread_key_create);
GLIBC_BIND(pthread_setspecific);
GLIBC_BIND(pthread_getspecific);
GLIBC_BIND(pthread_mutex_trylock);
GLIBC_BIND(pthread_attr_setstacksize);
GLIBC_BIND(pthread_kill);
GLIBC_BIND(pthread_sigmask);
/* In libdl.so.2 before 2.34. */
GLIBC_BIND(dlopen);
GLIBC_BIND(dlclose);
GLIBC_BIND(dlsym);
GLIBC_BIND(dlerror);
#if defined(__x86_64__)
__asm__(".symver pthread_setname_np,pthread_setname_np@GLIBC_2.12");
__asm__(".symver pthread_condattr_setclock,pthread_condattr_setclock@GLIBC_2.3.3");
#else
GLIBC_BIND(pthread_setname_np);
GLIBC_BIND(pthread_condattr_setclock);
#endif
#endif

/* glibc 2.38 redirects strtol and friends to C23 versions under _GNU_SOURCE. */
#ifdef __GLIBC_USE_C2X_STRTOL
#undef __GLIBC_USE_C2X_STRTOL
#define __GLIBC_USE_C2X_STRTOL 0
#endif

#endif
