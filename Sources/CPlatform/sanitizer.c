/* Informs ThreadSanitizer about Swift's Mutex. In builds without it this file is empty.
 *
 * An uncontended Mutex is locked and unlocked by atomic operations inlined in the caller, which the sanitizer sees.
 * Under contention, functions of the library Synchronization do it, which is not instrumented: the order of one
 * thread's writes before the other's reads is lost, and each contention would be reported as a race. These two
 * functions interpose the library's: they call them, and report the lock operations. */
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
    if (!function) abort(); /* another version of the library, which does not use this function */
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
typedef int cubby_sanitizer; /* C requires a declaration in each file */
