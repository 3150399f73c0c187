/* Signals to a thread by its kernel id, and timers that signal a thread. */
#define _GNU_SOURCE
#include "wake.h"

#if CUBBY_LINUX
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "host.h"
#include "sanitizer.h"

static char mark; /* its address marks our own signals */

int clua_name_thread(void) { return (int)syscall(SYS_gettid); }

CLUA_UNSANITIZED int clua_sent_signal(const siginfo_t *info) {
    return (info->si_code == SI_QUEUE || info->si_code == SI_TIMER) && info->si_value.sival_ptr == &mark;
}

/* Uses the kernel's id, which, unlike a pthread_t, may be stale or reused: such a thread has nothing pending. */
void clua_send_signal(int thread, int number, int (*spare)(void)) {
    int error = errno;
    siginfo_t info;
    memset(&info, 0, sizeof info);
    info.si_signo = number;
    info.si_code = SI_QUEUE;
    info.si_pid = getpid();
    info.si_uid = getuid();
    info.si_value.sival_ptr = &mark;
    /* The kernel queues no signal with a value beyond the user's limit (ulimit -i); a classic one needs no queue. */
    if (syscall(SYS_rt_tgsigqueueinfo, getpid(), thread, number, &info) != 0 && errno == EAGAIN)
        syscall(SYS_tgkill, getpid(), thread, spare());
    errno = error;
}

struct clua_timer {
    timer_t id;
};

clua_timer *clua_open_timer(int number) {
    clua_timer *timer = malloc(sizeof *timer);
    if (!timer) return NULL;
    struct sigevent event;
    memset(&event, 0, sizeof event);
    event.sigev_notify = SIGEV_THREAD_ID;
    event.sigev_signo = number;
    event.sigev_value.sival_ptr = &mark;
#ifndef sigev_notify_thread_id
#define sigev_notify_thread_id _sigev_un._tid
#endif
    event.sigev_notify_thread_id = clua_self.id;
    if (timer_create(CLOCK_MONOTONIC, &event, &timer->id) == 0) return timer;
    free(timer);
    return NULL;
}

void clua_close_timer(clua_timer *timer) {
    if (timer) timer_delete(timer->id);
    free(timer);
}

void clua_set_timer(clua_timer *timer, int64_t deadline) {
    struct itimerspec when;
    memset(&when, 0, sizeof when);
    when.it_value.tv_sec = (time_t)(deadline / 1000000000);
    when.it_value.tv_nsec = (long)(deadline % 1000000000);
    if (deadline) when.it_interval.tv_nsec = 10 * 1000 * 1000;
    timer_settime(timer->id, TIMER_ABSTIME, &when, NULL);
}
#else
typedef int clua_no_linux; /* a translation unit needs a declaration */
#endif
