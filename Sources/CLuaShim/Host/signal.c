/* The signal that makes a thread check for pending interrupts, and its handler; wake.h sends it.
 *
 * It is a real-time signal without a handler of the program, chosen once, so that it does not conflict with the
 * program's signals. If all have handlers, it is SIGURG, whose handler is called for foreign signals; and so it is where
 * the kernel queues no real-time signal. */
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "host.h"
#include "sanitizer.h"

static int number;
static struct sigaction former, formerSpare; /* the program's handlers */

/* A question of another thread: what does this one run? It is answered in the signal's handler, where the stack of the
 * running code stands still. One thread asks at a time. */
static pthread_mutex_t asking = PTHREAD_MUTEX_INITIALIZER;
static struct {
    atomic_int thread; /* the thread that is asked; 0: none, or it answers */
    atomic_int length; /* of the answer; negative: none yet */
    char text[256];
} question;

/* Reads the stack without changing it. The innermost function with a name is the one that takes the time. */
CLUA_UNSANITIZED static int describe_place(lua_State *L) {
    clua_frame frame;
    char name[80] = "";
    for (int level = 0; level < 20 && clua_getframe(L, level, &frame); level++) {
        if (!name[0] && frame.name && frame.isC) snprintf(name, sizeof name, "%s", frame.name);
        if (frame.isC) continue;
        int count = name[0] ? snprintf(question.text, sizeof question.text, "'%s' (called at %s:%d)", name, frame.source,
                                       frame.line)
                            : snprintf(question.text, sizeof question.text, "the code at %s:%d", frame.source, frame.line);
        return count < (int)sizeof question.text ? count : (int)sizeof question.text - 1;
    }
    return name[0] ? snprintf(question.text, sizeof question.text, "'%s'", name) : 0;
}

CLUA_UNSANITIZED static void answer(const clua_stretch *innermost) {
    int self = clua_self.id;
    if (!atomic_compare_exchange_strong(&question.thread, &self, 0)) return;
    atomic_store(&question.length, innermost ? describe_place(innermost->host->current) : 0);
}

int clua_ask_place(clua_host *host, char *text, size_t size, int milliseconds) {
    int asked = atomic_load(&host->threadId);
    pthread_mutex_lock(&asking);
    atomic_store(&question.length, -1);
    atomic_store(&question.thread, asked);
    clua_signal_thread(asked);
    struct timespec pause = {.tv_nsec = 1000000};
    while (atomic_load(&question.length) < 0 && milliseconds-- > 0) nanosleep(&pause, NULL);
    /* A question that the handler took is answered: the next one must not get its answer. */
    if (!atomic_compare_exchange_strong(&question.thread, &asked, 0))
        while (atomic_load(&question.length) < 0) nanosleep(&pause, NULL);
    int length = atomic_load(&question.length);
    if (length <= 0 || (size_t)length >= size) length = 0;
    else memcpy(text, question.text, (size_t)length);
    pthread_mutex_unlock(&asking);
    return length;
}

/* The handler calls it: the record holds the hook, which is of the code above (interrupt.c). Lua marks all active calls:
 * with a million of them that takes longer than until the timer's next signal, so a hook that is there is not set again. */
CLUA_UNSANITIZED void clua_arm(clua_host *host) {
    enum { EVENTS = LUA_MASKCALL | LUA_MASKRET | LUA_MASKLINE | LUA_MASKCOUNT };
    lua_State *L = host->current;
    if (lua_gethook(L) == host->hook && lua_gethookmask(L) == EVENTS && lua_gethookcount(L) == 1) return;
    lua_sethook(L, host->hook, EVENTS, 1);
}

/* Makes the innermost running code check for interrupts. The handler only accesses hosts that run on its own thread, so
 * that a late signal cannot reach a closed host. */
CLUA_UNSANITIZED static void on_signal(int which, siginfo_t *info, void *context) {
    clua_stretch *innermost = clua_self.innermost;
    answer(innermost);
    if (innermost) {
        atomic_fetch_or(&innermost->host->pending, CLUA_LOOK);
        clua_arm(innermost->host);
    }
    if (clua_sent_signal(info)) return;
    const struct sigaction *before = which == number ? &former : &formerSpare;
    if (before->sa_flags & SA_SIGINFO) before->sa_sigaction(which, info, context);
    else if (before->sa_handler != SIG_DFL && before->sa_handler != SIG_IGN) before->sa_handler(which);
}

static int is_free(int which) {
    struct sigaction action;
    return sigaction(which, NULL, &action) == 0 && !(action.sa_flags & SA_SIGINFO) && action.sa_handler == SIG_DFL;
}

static void take(int which, struct sigaction *before) {
    struct sigaction action;
    sigaction(which, NULL, before);
    memset(&action, 0, sizeof action);
    action.sa_sigaction = on_signal;
    action.sa_mask = before->sa_mask;
    action.sa_flags = SA_SIGINFO | SA_RESTART | (before->sa_flags & SA_ONSTACK);
    clua_sigaction(which, &action, NULL);
}

static void install(void) {
    number = SIGURG;
#ifdef SIGRTMAX
    for (int real = SIGRTMAX - 1; number == SIGURG && real > SIGRTMIN; real--)
        if (is_free(real)) number = real;
#endif
    take(number, &former);
}

int clua_signal_number(void) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, install);
    return number;
}

static void install_spare(void) {
    if (clua_signal_number() != SIGURG) take(SIGURG, &formerSpare);
}

/* A classic signal with the same handler, installed at its first use. */
static int spare_number(void) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, install_spare);
    return SIGURG;
}

void clua_signal_thread(int thread) { clua_send_signal(thread, clua_signal_number(), spare_number); }
