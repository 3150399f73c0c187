/* Stops a running script, without a hook while it runs.
 *
 * A permanent count hook halves the VM's speed at any count. So a signal sent to the Lua thread installs the hook on
 * demand, as lua.c's laction does (lua_sethook may be called from a signal handler on the thread that runs the state).
 * Once the code must stop, the hook stays at a count of one and raises again in every frame, so that no pcall of the
 * script can swallow the error.
 *
 * In nested states the innermost hook also calls the outer handlers: outer code continues only after it. */
#include <limits.h>

#include "host.h"

/* Stores the error on top of the stack as the one to raise repeatedly. */
static void store_abortion(clua_host *host, lua_State *L) {
    lua_rawseti(L, LUA_REGISTRYINDEX, host->abortion); /* the slot exists: no allocation */
}

/* Calls the host's handler for its pending interrupts; 1: stop, with the error stored as the abortion. */
static int call_handler(clua_host *host, lua_State *L) {
    if (host->abortDepth || !lua_checkstack(L, LUA_MINSTACK)) return 0;
    int reasons = atomic_fetch_and(&host->pending, CLUA_LOOK) & ~CLUA_LOOK;
    if (host->deadline && clua_nanoseconds(CLOCK_MONOTONIC) >= host->deadline) reasons |= CLUA_INTERRUPT_DEADLINE;
    if (!reasons) return 0;
    int enforce = host->enforce;
    lua_State *current = host->current;
    host->enforce = 0;
    int top = lua_gettop(L);
    int status = host->callbacks.interrupt(host->owner, L, reasons);
    host->enforce = enforce;
    host->current = current;
    if (status < 0) store_abortion(host, L);
    lua_settop(L, top);
    if (status < 0 && host->abortDepth) clua_arm(host);
    return status < 0;
}

/* Calls the handlers of the hosts outside a stretch, the outermost first; returns the one that stops its code, or
 * NULL. */
static clua_host *stopping(const clua_stretch *stretch, const clua_host *innermost) {
    if (!stretch->outer) return NULL;
    clua_host *by = stopping(stretch->outer, innermost), *host = stretch->outer->host;
    if (by) return by;
    if (host != innermost) call_handler(host, host->current);
    return host->abortDepth && stretch->outerDepth >= host->abortDepth ? host : NULL;
}

/* Whether the running code must stop, for its own host or an outer one. */
static int must_stop(lua_State *L) {
    clua_host *host = host_of(L);
    if (host->abortDepth) return clua_unwinds(host);
    if (!pending_of(host)) return 0;
    const clua_stretch *stretch = clua_self.innermost;
    atomic_fetch_and(&host->pending, ~CLUA_LOOK);
    clua_host *by = stretch->outer ? stopping(stretch, host) : NULL;
    if (!by) return call_handler(host, L);
    int enforce = host->enforce, top = lua_gettop(L);
    host->enforce = 0;
    host->callbacks.stop(host->owner, by->owner, L);
    host->enforce = enforce;
    store_abortion(host, L);
    lua_settop(L, top);
    host->abortDepth = stretch->base + 1;
    clua_arm(host);
    return 1;
}

static int raise_abortion(lua_State *L) {
    lua_rawgeti(L, LUA_REGISTRYINDEX, host_of(L)->abortion);
    return lua_error(L);
}

/* If the stack is too short for the host's frames, interrupts stay pending. */
void clua_serve(lua_State *L) {
    if ((char *)__builtin_frame_address(0) < host_of(L)->stack.limit || !lua_checkstack(L, LUA_MINSTACK)) return;
    atomic_fetch_add_explicit(&host_of(L)->beats, 1, memory_order_relaxed);
    if (must_stop(L)) raise_abortion(L);
}

/* A coroutine is stopped by a yield, which no pcall catches: unwinding a hundred thousand nested coroutines one by one
 * would take quadratic time in Lua. Its resumer continues in clua_abort_coroutine. */
static void stop_in_hook(lua_State *L, const lua_Debug *ar) {
    clua_host *host = host_of(L);
    if (!clua_unwinds(host) || !lua_isyieldable(L)) {
        host->raised = L;
        raise_abortion(L);
    }
    /* No hook may yield at a call or a return; the next instruction's hook does. */
    if (ar->event == LUA_HOOKCOUNT || ar->event == LUA_HOOKLINE) lua_yield(L, 0);
}

/* The part of a hook besides interrupts: call depth and the debugger. */
static void rest(lua_State *L, lua_Debug *ar) {
    clua_host *host = host_of(L);
    clua_count_call(L, ar);
    if (host->debugger.mask && host->debugger.calls->hook(L, ar)) stop_in_hook(L, ar);
}

void clua_hook(lua_State *L, lua_Debug *ar) {
    clua_host *host = host_of(L);
    /* Lua reserves room on its own stack for a hook. Endless recursion of C can occur here: half of the reserve is for
     * that. Beyond it the hook waits for the next instruction, when the stack may be shorter. */
    if ((char *)__builtin_frame_address(0) < host->stack.floor) return;
    host->raised = NULL;
    atomic_fetch_add_explicit(&host->beats, 1, memory_order_relaxed);
    /* While a chunk is being stopped, the hook stays. */
    if (!clua_unwinds(host)) clua_set_resting_hook(host, L);
    if (must_stop(L)) stop_in_hook(L, ar);
    else rest(L, ar);
}

int clua_is_armed(lua_State *L) { return lua_gethook(L) == clua_hook; }

/* The hook between interrupts. */
static void resting_hook(lua_State *L, lua_Debug *ar) {
    clua_host *host = host_of(L);
    host->raised = NULL;
    if (host->restingMask) return rest(L, ar);
    /* Set on a coroutine while call depth or the debugger was active. */
    clua_set_resting_hook(host, L);
    atomic_signal_fence(memory_order_seq_cst);
    if (host->abortDepth || pending_of(host)) clua_arm(host);
}

void clua_set_resting_hook(clua_host *host, lua_State *L) {
    lua_sethook(L, host->restingMask ? resting_hook : NULL, host->restingMask, 0);
}

void clua_update_watch(clua_host *host) {
    host->restingMask = host->debugger.mask | (host->callLimit ? LUA_MASKCALL : 0);
    if (!depth_of(host) || host->debugger.pause) return; /* set when code is entered or resumes */
    clua_switch(host, host->current);
}

void clua_set_call_limit(clua_host *host, int calls) {
    host->callLimit = calls < INT_MAX ? calls : INT_MAX - 1;
    host->callsLeft = 0;
    clua_update_watch(host);
    if (calls) host->protects = 1;
}

/* A hook's error that ends a coroutine leaves its hooks disabled: code closing its variables could not be stopped. So
 * they are not closed, and the coroutine is left to the collector. A coroutine with a protected call around its
 * function (coroutine.c) gets its hooks back, and closes its variables. */
static void give_up(lua_State *co) { *space_of(co) |= 1; }

int clua_close_dead(lua_State *co) { return clua_is_given_up(co) ? lua_status(co) : lua_resetthread(co); }

int clua_abort_coroutine(lua_State *co, int status) {
    clua_host *host = host_of(co);
    if (status != LUA_OK && status != LUA_YIELD && host->raised == co) give_up(co);
    if (status != LUA_YIELD || !clua_unwinds(host)) return status;
    lua_resetthread(co); /* closes its pending variables, each stopped in turn */
    lua_settop(co, 0);
    lua_rawgeti(co, LUA_REGISTRYINDEX, host->abortion);
    return LUA_ERRRUN;
}

void clua_interrupt(clua_host *host, int reasons) {
    int before = atomic_fetch_or(&host->pending, reasons);
    /* Reasons already pending have been signalled before. */
    if ((before & reasons) != reasons) clua_signal_thread(atomic_load(&host->threadId));
}

unsigned long clua_beats(const clua_host *host) {
    return atomic_load_explicit(&((clua_host *)host)->beats, memory_order_relaxed);
}

int clua_pending(const clua_host *host) { return pending_of(host) & ~CLUA_LOOK; }

void clua_abort_above(clua_host *host, int depth) { host->abortDepth = depth > 0 ? depth : 1; }
