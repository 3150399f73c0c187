/* What makes a thread look at what is pending: a signal to it, at once or from a deadline on.
 *
 * Linux's way is in wake_linux.c. That of POSIX is in wake_posix.c: it knows no timer that signals one thread, and a thread
 * that has ended must not be signalled. Both define all of this header. */
#ifndef CLUA_WAKE_H
#define CLUA_WAKE_H

#include <CPlatform.h>
#include <signal.h>
#include <stdint.h>

/* The cheapest monotonic clock, to some milliseconds. */
#if CUBBY_LINUX
#define CLUA_COARSE_CLOCK CLOCK_MONOTONIC_COARSE
#else
#define CLUA_COARSE_CLOCK CLOCK_MONOTONIC
#endif

/* The calling thread's number for clua_send_signal, which never signals another thread instead. Once per thread. */
int clua_name_thread(void);

/* Signals a thread; none when it has ended. */
void clua_send_signal(int thread);

/* For the handler: whether the signal was sent by this header's functions. */
int clua_sent_signal(const siginfo_t *info);

/* A timer that signals one thread. */
typedef struct clua_timer clua_timer;

/* A timer for the calling thread; NULL: the system gives none. */
clua_timer *clua_open_timer(void);
void clua_close_timer(clua_timer *timer);

/* Signals at a time of the monotonic clock, in nanoseconds, and each 10 ms from then on: code that was in a C function at
 * one tick is interrupted at a later one. 0: never. */
void clua_set_timer(clua_timer *timer, int64_t deadline);

#endif
