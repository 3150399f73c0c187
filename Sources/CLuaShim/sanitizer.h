/* What makes the shim work under ThreadSanitizer, see sanitizer.c; nothing in other builds. */
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
/* For what a signal handler runs: it may come in the middle of the sanitizer's own work, and must not call into it. */
#define CLUA_UNSANITIZED __attribute__((disable_sanitizer_instrumentation, noinline))
int clua_sigaction(int number, const struct sigaction *action, struct sigaction *former);
#else
#define CLUA_UNSANITIZED
static inline int clua_sigaction(int number, const struct sigaction *action, struct sigaction *former) {
    return sigaction(number, action, former);
}
#endif

#endif
