/* Signal sets and dispositions are macros, and the stop must happen on one thread step by step. */
#define _GNU_SOURCE
#include "CPlatform.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <unistd.h>

/* Blocked signals are queued even if they are ignored: a signal ignored by nohup, or by a shell without job control,
   must not be waited for, or it would take effect again. */
static void fill(sigset_t *set) {
    static const int watched[] = {SIGTSTP, SIGCONT, SIGTERM, SIGHUP, SIGINT, SIGWINCH, SIGTTIN, SIGTTOU};
    sigemptyset(set);
    for (size_t i = 0; i < sizeof watched / sizeof *watched; i++) {
        struct sigaction action;
        if (sigaction(watched[i], NULL, &action) == 0 && action.sa_handler == SIG_IGN) continue;
        sigaddset(set, watched[i]);
    }
}

/* A shell without job control ignores SIGINT in background jobs, as do their descendants, such as a terminal with its
   shell. A process in a terminal's foreground handles SIGINT nevertheless; nohup's SIGHUP stays ignored. */
static void take_interrupts(void) {
    struct sigaction action;
    if (!isatty(STDIN_FILENO) || tcgetpgrp(STDIN_FILENO) != getpgrp()) return;
    if (sigaction(SIGINT, NULL, &action) != 0 || action.sa_handler != SIG_IGN) return;
    action.sa_handler = SIG_DFL;
    sigaction(SIGINT, &action, NULL);
}

int cubby_signals_block(void) {
    sigset_t set;
    /* Where SIGCHLD is ignored, as a parent may leave it, the statuses of children are lost. */
    struct sigaction standard = {.sa_handler = SIG_DFL};
    sigemptyset(&standard.sa_mask);
    if (sigaction(SIGCHLD, &standard, NULL) != 0) return -errno;
    take_interrupts();
    fill(&set);
    int result = pthread_sigmask(SIG_BLOCK, &set, NULL);
    if (result != 0) return -result;
    struct sigaction ignore = {.sa_handler = SIG_IGN};
    sigemptyset(&ignore.sa_mask);
    /* A file beyond the size limit is an error of the write (EFBIG), like a full disk; it does not end the process. */
    if (sigaction(SIGXFSZ, &ignore, NULL) != 0) return -errno;
    return sigaction(SIGPIPE, &ignore, NULL) == 0 ? 0 : -errno;
}

int cubby_signals_wait(void) {
    sigset_t set;
    fill(&set);
    int number = 0;
    int result;
    do result = sigwait(&set, &number);
    while (result == EINTR);
    return result == 0 ? number : -result;
}

int cubby_stop_until_continued(int number, int (*is_cancelled)(void *), void *context) {
    sigset_t stop, before;
    sigemptyset(&stop);
    sigaddset(&stop, number);
    struct sigaction standard = {.sa_handler = SIG_DFL}, ignored = {.sa_handler = SIG_IGN}, former;
    sigemptyset(&standard.sa_mask);
    sigemptyset(&ignored.sa_mask);
    int result = pthread_sigmask(SIG_BLOCK, &stop, &before);
    if (result != 0) return -result;
    if (sigaction(number, number == SIGTTIN ? NULL : &standard, &former) != 0) return -errno;
    if (number == SIGTTIN) {
        if (former.sa_handler == SIG_IGN) return 0;
        sigaction(number, &standard, NULL);
    }
    /* The signal is raised while blocked and then unblocked on this thread, which stops the process within the
       unblocking call: the code after it runs after the continuation. kill(getpid()) would return before the stop. In
       between a SIGCONT removes it. */
    raise(number);
    int is_dropped = is_cancelled && is_cancelled(context);
    if (is_dropped) sigaction(number, &ignored, NULL); /* also drops the pending one */
    result = pthread_sigmask(SIG_UNBLOCK, &stop, NULL);
    sigaction(number, &former, NULL);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return is_dropped ? 1 : -result;
}
