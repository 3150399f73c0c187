/* Makes a thread check for pending interrupts: by a signal, immediately or after a deadline.
 *
 * Linux uses wake_linux.c. POSIX uses wake_posix.c, since it has no timer that signals a specific thread, and a thread
 * that has ended must not be signalled. Both define everything in this header. */
#ifndef CLUA_WAKE_H
#define CLUA_WAKE_H

#include <CPlatform.h>
#include <signal.h>
#include <stdint.h>
#include <time.h>

/* The fastest monotonic clock, with a resolution of some milliseconds. */
#if CUBBY_LINUX
#define CLUA_COARSE_CLOCK CLOCK_MONOTONIC_COARSE
#else
#define CLUA_COARSE_CLOCK CLOCK_MONOTONIC
#endif

static inline int64_t clua_nanoseconds(clockid_t clock) {
    struct timespec time;
    clock_gettime(clock, &time);
    return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

/* Returns the calling thread's number for clua_send_signal, which never signals another thread. Once per thread. */
int clua_name_thread(void);

/* Sends a signal of this number to a thread, unless it has ended. `spare` has the number of a classic one, for a kernel
 * that queues no other. */
void clua_send_signal(int thread, int number, int (*spare)(void));

/* For the signal handler: whether the signal was sent by this header's functions. */
int clua_sent_signal(const siginfo_t *info);

/* A timer that signals one thread. */
typedef struct clua_timer clua_timer;

/* A timer for the calling thread, with a signal of this number; NULL if the system has none available. */
clua_timer *clua_open_timer(int number);
void clua_close_timer(clua_timer *timer);

/* Signals at a time of the monotonic clock, in nanoseconds, and every 10 ms from then on, since at one tick the code
 * may be in a C function. 0: never. */
void clua_set_timer(clua_timer *timer, int64_t deadline);

#endif
