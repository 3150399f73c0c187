/* Makes a thread check for pending interrupts: by a signal, immediately or after a deadline.
 *
 * Linux uses wake_linux.c. POSIX uses wake_posix.c, since it has no timer that signals a specific thread, and a thread
 * that has ended must not be signalled. Both define everything in this header. */
#ifndef CLUA_WAKE_H
#define CLUA_WAKE_H

#include <CPlatform.h>
#include <signal.h>
#include <stdint.h>

/* The fastest monotonic clock, with a resolution of some milliseconds. */
#if CUBBY_LINUX
#define CLUA_COARSE_CLOCK CLOCK_MONOTONIC_COARSE
#else
#define CLUA_COARSE_CLOCK CLOCK_MONOTONIC
#endif

/* Returns the calling thread's number for clua_send_signal, which never signals another thread. Once per thread. */
int clua_name_thread(void);

/* Signals a thread, unless it has ended. */
void clua_send_signal(int thread);

/* For the signal handler: whether the signal was sent by this header's functions. */
int clua_sent_signal(const siginfo_t *info);

/* A timer that signals one thread. */
typedef struct clua_timer clua_timer;

/* A timer for the calling thread; NULL if the system has none available. */
clua_timer *clua_open_timer(void);
void clua_close_timer(clua_timer *timer);

/* Signals at a time of the monotonic clock, in nanoseconds, and every 10 ms from then on, since at one tick the code
 * may be in a C function. 0: never. */
void clua_set_timer(clua_timer *timer, int64_t deadline);

#endif
