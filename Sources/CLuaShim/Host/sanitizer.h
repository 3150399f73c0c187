/* Support for ThreadSanitizer, see sanitizer.c; empty in other builds. */
#ifndef CLUA_SANITIZER_H
#define CLUA_SANITIZER_H

#include <signal.h>
#include <stddef.h>

#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define CLUA_THREAD_SANITIZER 1
#endif
#endif

#if CLUA_THREAD_SANITIZER
/* For functions of a signal handler: it may interrupt the sanitizer's own code, and must not call it. */
#define CLUA_UNSANITIZED __attribute__((disable_sanitizer_instrumentation, noinline))
int clua_sigaction(int number, const struct sigaction *action, struct sigaction *former);
#else
#define CLUA_UNSANITIZED
static inline int clua_sigaction(int number, const struct sigaction *action, struct sigaction *former) {
    return sigaction(number, action, former);
}
#endif

#endif
