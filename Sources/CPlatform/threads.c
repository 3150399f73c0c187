/* gettid, sched_getaffinity and pthread_getattr_np require _GNU_SOURCE, which Swift cannot set. */
#define _GNU_SOURCE
#include "CPlatform.h"

#include <pthread.h>
#include <sched.h>
#include <sys/resource.h>
#include <unistd.h>

int32_t cubby_thread_id(void) { return (int32_t)gettid(); }

int32_t cubby_processor_count(void) {
    cpu_set_t allowed;
    return sched_getaffinity(0, sizeof allowed, &allowed) == 0 ? CPU_COUNT(&allowed) : 1;
}

static _Thread_local char *stack_end, *stack_short;

static void look_at_stack(void) {
    char *here = __builtin_frame_address(0);
    pthread_attr_t attributes;
    void *address = NULL;
    size_t size;
    if (pthread_getattr_np(pthread_self(), &attributes) == 0) {
        if (pthread_attr_getstack(&attributes, &address, &size) != 0) address = NULL;
        pthread_attr_destroy(&attributes);
    }
    if (!address || (char *)address >= here) {
        /* The main thread without /proc. Arguments and environment, of unknown size, are above the stack. */
        struct rlimit limit;
        if (getrlimit(RLIMIT_STACK, &limit) != 0 || limit.rlim_cur > 8 << 20) limit.rlim_cur = 8 << 20;
        address = here - limit.rlim_cur / 4 * 3;
    }
    size_t kept = (size_t)(here - (char *)address) / 4;
    stack_end = address;
    stack_short = stack_end + (kept < 96 << 10 ? kept : 96 << 10);
}

char *cubby_stack_end(void) {
    if (!stack_end) look_at_stack();
    return stack_end;
}

int cubby_stack_is_short(void) {
    if (!stack_end) look_at_stack();
    return (char *)__builtin_frame_address(0) < stack_short;
}
