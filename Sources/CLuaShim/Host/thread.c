/* Threads: the thread that uses a state, the limits of its stack, and its timer. */
#include "host.h"

_Thread_local clua_thread clua_self;

/* The reserve is a quarter of the thread's stack, 256 KB to 2 MB, or half of a stack too small for that. */
static clua_stack limits_of_stack(void) {
    char *here = __builtin_frame_address(0), *low = cubby_stack_end();
    size_t available = (size_t)(here - low);
    if (available > (size_t)64 << 20) low = here - (available = (size_t)64 << 20); /* `ulimit -s unlimited` */
    size_t reserve = available / 4;
    if (reserve > 2 << 20) reserve = 2 << 20;
    if (reserve < 256 << 10) reserve = available / 2 < 256 << 10 ? available / 2 : 256 << 10;
    return (clua_stack){.limit = low + reserve, .entry = low + reserve / 4 * 3, .floor = low + reserve / 2};
}

void clua_begin_thread(void) {
    static atomic_ulong count;
    clua_self.stack = limits_of_stack();
    clua_self.id = clua_name_thread();
    /* A pool's thread may start with all signals blocked. */
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, clua_signal_number());
    pthread_sigmask(SIG_UNBLOCK, &set, NULL);
    clua_self.number = atomic_fetch_add(&count, 1) + 1;
}

/* ---- Deadlines ---- */

/* Directs the deadline's signals to the calling thread. */
static void bind_timer(clua_host *host) {
    if (host->timerThread != clua_self.number) {
        clua_close_timer(host->timer);
        host->timer = NULL;
    }
    if (!host->timer) host->timer = clua_open_timer(clua_signal_number());
    if (!host->timer) return;
    host->timerThread = clua_self.number;
    clua_set_timer(host->timer, host->deadline);
}

int clua_is_overdue(const clua_host *host) {
    return host->deadline && clua_nanoseconds(CLUA_COARSE_CLOCK) >= host->deadline;
}

int clua_keeps_time(void) {
    clua_begin_thread();
    clua_timer *timer = clua_open_timer(clua_signal_number());
    clua_close_timer(timer);
    return timer != NULL;
}

void clua_set_deadline(clua_host *host, double seconds) {
    int64_t deadline = 0, former = host->deadline;
    if (seconds > 0) deadline = clua_nanoseconds(CLOCK_MONOTONIC) + (int64_t)((seconds < 1e9 ? seconds : 1e9) * 1e9);
    host->deadline = deadline;
    if (deadline || (former && host->timer)) bind_timer(host); /* a call of the system */
}

/* ---- The state's thread ---- */

void clua_adopt(clua_host *host) {
    if (!clua_self.number) clua_begin_thread();
    host->stack = clua_self.stack;
    /* An interrupt stores its reason first and then reads the id; an entry stores the id and then reads the reasons: at
     * least one of them reads the other's value. */
    atomic_store(&host->threadId, clua_self.id);
    atomic_thread_fence(memory_order_seq_cst);
    atomic_store_explicit(&host->thread, clua_self.number, memory_order_relaxed);
    if (host->deadline && host->timerThread != clua_self.number) bind_timer(host);
}

int clua_use(clua_host *host) {
    if (atomic_load_explicit(&host->thread, memory_order_relaxed) == clua_self.number) return 1;
    if (depth_of(host)) return 0;
    clua_adopt(host);
    return 1;
}
