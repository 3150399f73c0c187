/* The signal that makes a thread check for pending interrupts, and its handler; wake.h sends it.
 *
 * It is a real-time signal without a handler of the program, chosen once, so that it does not conflict with the
 * program's signals. If all have handlers, it is SIGURG, whose handler is called for foreign signals. */
#include <string.h>

#include "host.h"
#include "sanitizer.h"

static int number;
static struct sigaction former; /* the program's handler */

/* Makes the innermost running code check for interrupts. The handler only accesses hosts that run on its own thread, so
 * that a late signal cannot reach a closed host. */
CLUA_UNSANITIZED static void on_signal(int which, siginfo_t *info, void *context) {
    clua_stretch *innermost = clua_self.innermost;
    if (innermost) {
        atomic_fetch_or(&innermost->host->pending, CLUA_LOOK);
        clua_arm(innermost->host);
    }
    if (clua_sent_signal(info)) return;
    if (former.sa_flags & SA_SIGINFO) former.sa_sigaction(which, info, context);
    else if (former.sa_handler != SIG_DFL && former.sa_handler != SIG_IGN) former.sa_handler(which);
}

static int is_free(int which) {
    struct sigaction action;
    return sigaction(which, NULL, &action) == 0 && !(action.sa_flags & SA_SIGINFO) && action.sa_handler == SIG_DFL;
}

static void install(void) {
    struct sigaction action;
    number = SIGURG;
#ifdef SIGRTMAX
    for (int real = SIGRTMAX - 1; number == SIGURG && real > SIGRTMIN; real--)
        if (is_free(real)) number = real;
#endif
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
