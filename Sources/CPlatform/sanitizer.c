/* What ThreadSanitizer must be told of Swift's Mutex. In builds without it this file is empty.
 *
 * A Mutex that is free is taken and given back by atomic operations within the caller's code, which the sanitizer sees.
 * When two threads want it at once, functions of the library Synchronization do it, which is not instrumented: that the
 * one thread's writes come before the other's reads is lost, and each such meeting would be reported as a race. These two
 * stand before the library's, call them, and say what they have done. */
#if defined(__has_feature)
#if __has_feature(thread_sanitizer)

#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdint.h>
#include <stdlib.h>

#define SWIFT __attribute__((swiftcall))
#define SELF __attribute__((swift_context))
#define LOCK_SLOW "$s15Synchronization12_MutexHandleV9_lockSlowyys6UInt32VF"
#define UNLOCK_SLOW "$s15Synchronization12_MutexHandleV11_unlockSlowyyF"

void __tsan_acquire(void *address);
void __tsan_release(void *address);

SWIFT void cubby_mutex_lock_slow(uint32_t thread, SELF void *handle) __asm__(LOCK_SLOW);
SWIFT void cubby_mutex_unlock_slow(SELF void *handle) __asm__(UNLOCK_SLOW);

static void *following(const char *name) {
    void *function = dlsym(RTLD_NEXT, name);
    if (!function) abort(); /* another version of the library, which does not call this at all */
    return function;
}

SWIFT void cubby_mutex_lock_slow(uint32_t thread, SELF void *handle) {
    SWIFT void (*lock)(uint32_t, SELF void *) = (SWIFT void (*)(uint32_t, SELF void *))following(LOCK_SLOW);
    lock(thread, handle);
    __tsan_acquire(handle);
}

SWIFT void cubby_mutex_unlock_slow(SELF void *handle) {
    SWIFT void (*unlock)(SELF void *) = (SWIFT void (*)(SELF void *))following(UNLOCK_SLOW);
    __tsan_release(handle);
    unlock(handle);
}

#endif
#endif
typedef int cubby_sanitizer; /* a file without a declaration is no C */
