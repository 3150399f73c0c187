/* gettid, sched_getaffinity and pthread_getattr_np require _GNU_SOURCE, which Swift cannot set; signal sets are macros on
   some systems. */
#define _GNU_SOURCE
#include "CPlatform.h"

#include <pthread.h>
#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>
#if CUBBY_LINUX
#include <sched.h>
#else
#include <stdatomic.h>
#endif

int cubby_thread_start(size_t stack, void *(*run)(void *argument), void *argument, void *joined) {
    /* A blocked fault ends the process without calling its handler. */
    static const int faults[] = {SIGBUS, SIGSEGV, SIGILL, SIGFPE, SIGTRAP, SIGABRT, SIGSYS};
    pthread_attr_t attributes;
    int result = pthread_attr_init(&attributes);
    if (result != 0) return -result;
    if (stack) pthread_attr_setstacksize(&attributes, stack);
    if (!joined) pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    /* A new thread inherits its creator's mask. */
    sigset_t blocked, before;
    sigfillset(&blocked);
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) sigdelset(&blocked, faults[i]);
    pthread_sigmask(SIG_SETMASK, &blocked, &before);
    pthread_t thread;
    result = pthread_create(joined ? joined : &thread, &attributes, run, argument);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pthread_attr_destroy(&attributes);
    return -result;
}

#if CUBBY_LINUX
int32_t cubby_thread_id(void) { return (int32_t)gettid(); }

int32_t cubby_processor_count(void) {
    cpu_set_t allowed;
    return sched_getaffinity(0, sizeof allowed, &allowed) == 0 ? CPU_COUNT(&allowed) : 1;
}

static int stack_of_thread(void **address) {
    pthread_attr_t attributes;
    size_t size;
    if (pthread_getattr_np(pthread_self(), &attributes) != 0) return 0;
    int result = pthread_attr_getstack(&attributes, address, &size);
    pthread_attr_destroy(&attributes);
    return result == 0;
}
#else
/* POSIX has no thread numbers: counts them. */
int32_t cubby_thread_id(void) {
    static atomic_int count;
    static _Thread_local int32_t id;
    if (!id) id = atomic_fetch_add(&count, 1) + 1;
    return id;
}

int32_t cubby_processor_count(void) {
    long count = sysconf(_SC_NPROCESSORS_ONLN);
    return count > 0 ? (int32_t)count : 1;
}

static int stack_of_thread(void **address) {
#ifdef __APPLE__
    *address = (char *)pthread_get_stackaddr_np(pthread_self()) - pthread_get_stacksize_np(pthread_self());
    return 1;
#else
    /* POSIX has no query: assume a stack of the usual size, of which a quarter is used. */
    pthread_attr_t attributes;
    size_t size = 0;
    if (pthread_attr_init(&attributes) != 0) return 0;
    pthread_attr_getstacksize(&attributes, &size);
    pthread_attr_destroy(&attributes);
    *address = (char *)__builtin_frame_address(0) - size / 4 * 3;
    return size > 0;
#endif
}
#endif

static _Thread_local char *stack_end, *stack_short;

static void look_at_stack(void) {
    char *here = __builtin_frame_address(0);
    void *address = NULL;
    if (!stack_of_thread(&address) || (char *)address >= here) {
        /* The main thread without /proc. Arguments and environment, of unknown size, are above its stack. */
        struct rlimit limit;
        if (getrlimit(RLIMIT_STACK, &limit) != 0 || limit.rlim_cur > 8 << 20) limit.rlim_cur = 8 << 20;
        address = here - limit.rlim_cur / 4 * 3;
    }
    size_t reserve = (size_t)(here - (char *)address) / 4;
    stack_end = address;
    stack_short = stack_end + (reserve < 96 << 10 ? reserve : 96 << 10);
}

char *cubby_stack_end(void) {
    if (!stack_end) look_at_stack();
    return stack_end;
}

int cubby_stack_is_short(void) {
    if (!stack_end) look_at_stack();
    return (char *)__builtin_frame_address(0) < stack_short;
}
