/* The signal that makes a thread look at what is pending.
 *
 * It is a real-time signal for which the program has no handler, chosen once: the signals that the program uses stay its own.
 * Where each has a handler it is SIGURG, whose handler gets what is not ours. */
#define _GNU_SOURCE
#include <errno.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "host.h"
#include "sanitizer.h"

static int number;
static struct sigaction former; /* the program's handler; its address marks our own signals */

void *clua_signal_value(void) { return &former; }

/* Makes the innermost running code check for interrupts. The handler accesses only hosts that run on its own thread,
 * so that a late signal finds no closed host. */
CLUA_UNSANITIZED static void on_signal(int which, siginfo_t *info, void *context) {
    clua_stretch *innermost = clua_self.innermost;
    if (innermost) {
        atomic_fetch_or(&innermost->host->pending, CLUA_LOOK);
        clua_arm(innermost->host);
    }
    if ((info->si_code == SI_QUEUE || info->si_code == SI_TIMER) && info->si_value.sival_ptr == &former) return;
    if (former.sa_flags & SA_SIGINFO) former.sa_sigaction(which, info, context);
    else if (former.sa_handler != SIG_DFL && former.sa_handler != SIG_IGN) former.sa_handler(which);
}

static int is_free(int which) {
    struct sigaction action;
    return sigaction(which, NULL, &action) == 0 && !(action.sa_flags & SA_SIGINFO) && action.sa_handler == SIG_DFL;
}

static void install(void) {
    struct sigaction action;
    number = SIGRTMAX - 1;
    while (number > SIGRTMIN && !is_free(number)) number--;
    if (number == SIGRTMIN) number = SIGURG;
    sigaction(number, NULL, &former);
    memset(&action, 0, sizeof action);
    action.sa_sigaction = on_signal;
    action.sa_mask = former.sa_mask;
    action.sa_flags = SA_SIGINFO | SA_RESTART | (former.sa_flags & SA_ONSTACK);
    clua_sigaction(number, &action, NULL);
}

int clua_signal_number(void) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, install);
    return number;
}

/* Uses the kernel's id, which may be stale or reused by now, unlike a pthread_t: such a thread has nothing pending.
 * */
void clua_send_signal(int threadId) {
    int error = errno;
    siginfo_t info;
    memset(&info, 0, sizeof info);
    info.si_signo = number;
    info.si_code = SI_QUEUE;
    info.si_pid = getpid();
    info.si_uid = getuid();
    info.si_value.sival_ptr = &former;
    syscall(SYS_rt_tgsigqueueinfo, getpid(), threadId, number, &info);
    errno = error;
}
