/* Stopping a running script, without a hook while it runs.
 *
 * A permanent count hook halves the VM's speed at any count. So a signal sent to the Lua thread installs the hook when it
 * is needed, as lua.c's own laction does (lua_sethook may be called from a signal handler on the thread that runs the
 * state). Once a reason demands an end, the hook stays at a count of one and raises again in every frame, so no pcall of
 * the script can swallow it. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "host.h"
#include "sanitizer.h"

#define INTERRUPT_SIGNAL SIGURG /* ignored by default: harmless when it arrives late */

static _Thread_local clua_host *running; /* the host of this thread, for the handler */

/* Asks the host what to do about what is pending; 1: to stop, by the error that is kept as the abortion. */
static int must_stop(lua_State *L) {
    clua_host *host = host_of(L);
    if (host->abortDepth) return clua_unwinds(host);
    int reasons = atomic_exchange(&host->pending, 0);
    if (!reasons) return 0;
    int enforce = host->enforce;
    lua_State *current = host->current;
    host->enforce = 0;
    int top = lua_gettop(L);
    int status = host->callbacks.interrupt(host->owner, L, reasons);
    host->enforce = enforce;
    host->current = current;
    if (status < 0) lua_rawseti(L, LUA_REGISTRYINDEX, host->abortion);
    lua_settop(L, top);
    if (status < 0 && host->abortDepth) clua_arm(host);
    return status < 0;
}

static int raise_abortion(lua_State *L) {
    lua_rawgeti(L, LUA_REGISTRYINDEX, host_of(L)->abortion);
    return lua_error(L);
}

/* Without room for the host's frames the answer waits for the next look. */
void clua_serve(lua_State *L) {
    if ((char *)__builtin_frame_address(0) < host_of(L)->stackLimit || !lua_checkstack(L, LUA_MINSTACK)) return;
    if (must_stop(L)) raise_abortion(L);
}

/* A coroutine is stopped by a yield: no pcall catches that, and unwinding a hundred thousand of them one by one would take
 * Lua a time that grows with their square. Whoever resumed it sees to the rest, by clua_abort_coroutine. */
static void hook(lua_State *L, lua_Debug *ar) {
    clua_host *host = host_of(L);
    /* Lua gives a hook room on its own stack. On C's, what recurses without end can live here: the half of the reserve is for
     * that. Lower still it waits for the next instruction, as the stack can only get shorter. */
    if ((char *)__builtin_frame_address(0) < host->stackFloor) return;
    /* While a chunk is being stopped, the hook stays. */
    if (!clua_unwinds(host)) lua_sethook(L, NULL, 0, 0);
    if (!must_stop(L)) return;
    if (!clua_unwinds(host) || !lua_isyieldable(L)) raise_abortion(L);
    /* At a call or a return no hook may yield; the instruction that follows does. */
    if (ar->event == LUA_HOOKCOUNT || ar->event == LUA_HOOKLINE) lua_yield(L, 0);
}

int clua_abort_coroutine(lua_State *co, int status) {
    clua_host *host = host_of(co);
    if (status != LUA_YIELD || !clua_unwinds(host)) return status;
    lua_resetthread(co); /* its pending variables are closed, each stopped in turn */
    lua_settop(co, 0);
    lua_rawgeti(co, LUA_REGISTRYINDEX, host->abortion);
    return LUA_ERRRUN;
}

CLUA_UNSANITIZED void clua_arm(clua_host *host) {
    lua_sethook(host->current, hook, LUA_MASKCALL | LUA_MASKRET | LUA_MASKLINE | LUA_MASKCOUNT, 1);
}

CLUA_UNSANITIZED static void on_signal(int number, siginfo_t *info, void *context) {
    (void)number;
    (void)context;
    clua_host *host = running;
    if (!host) return;
    if (info->si_code == SI_TIMER) atomic_fetch_or(&host->pending, CLUA_INTERRUPT_DEADLINE);
    if (host->depth > 0 && atomic_load(&host->pending)) clua_arm(host);
}

void clua_interrupt_init(clua_host *host) {
    running = host;
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_sigaction = on_signal;
    action.sa_flags = SA_SIGINFO | SA_RESTART;
    clua_sigaction(INTERRUPT_SIGNAL, &action);
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, INTERRUPT_SIGNAL);
    pthread_sigmask(SIG_UNBLOCK, &set, NULL);
}

void clua_interrupt_close(clua_host *host) {
    if (host->hasTimer) timer_delete(host->timer);
    if (running == host) running = NULL;
}

void clua_interrupt(clua_host *host, int reasons) {
    atomic_fetch_or(&host->pending, reasons);
    pthread_kill(host->thread, INTERRUPT_SIGNAL);
}

int clua_pending(const clua_host *host) { return atomic_load(&((clua_host *)host)->pending); }
void clua_clear_pending(clua_host *host, int reasons) { atomic_fetch_and(&host->pending, ~reasons); }
void clua_abort_above(clua_host *host, int depth) { host->abortDepth = depth > 0 ? depth : 1; }
int clua_is_aborting(const clua_host *host) { return host->abortDepth != 0; }

void clua_set_deadline(clua_host *host, double seconds) {
    if (!host->hasTimer) {
        if (seconds <= 0) return;
        struct sigevent event;
        memset(&event, 0, sizeof event);
        event.sigev_notify = SIGEV_THREAD_ID;
        event.sigev_signo = INTERRUPT_SIGNAL;
#ifndef sigev_notify_thread_id
#define sigev_notify_thread_id _sigev_un._tid
#endif
        event.sigev_notify_thread_id = (int)syscall(SYS_gettid);
        if (timer_create(CLOCK_MONOTONIC, &event, &host->timer) != 0) return;
        host->hasTimer = 1;
    }
    struct itimerspec when;
    memset(&when, 0, sizeof when);
    if (seconds > 0) {
        if (seconds > 1e9) seconds = 1e9;
        when.it_value.tv_sec = (time_t)seconds;
        when.it_value.tv_nsec = (long)((seconds - (double)when.it_value.tv_sec) * 1e9);
        if (when.it_value.tv_sec == 0 && when.it_value.tv_nsec == 0) when.it_value.tv_nsec = 1;
        /* Again every 10 ms: code that was in a C function at the first tick is met at a later one. */
        when.it_interval.tv_nsec = 10 * 1000 * 1000;
    }
    timer_settime(host->timer, 0, &when, NULL);
    if (seconds <= 0) clua_clear_pending(host, CLUA_INTERRUPT_DEADLINE);
}
