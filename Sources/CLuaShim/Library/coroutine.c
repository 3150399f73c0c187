/* The coroutine library: interruptible, and supporting waits of host functions.
 *
 * A waiting host function yields from the innermost coroutine to the host. Each `resume` in between yields in turn,
 * with the same marker, and resumes its coroutine when the host resumes the outermost: the wait is invisible to
 * scripts. The marker is a light userdata that is never passed to scripts. While it is on top of a coroutine's stack,
 * the coroutine belongs to the host, and scripts can neither resume nor close it. */
#include <string.h>

#include "library.h"

static const char marker;

/* The awaited object is below the marker: another coroutine, or a function's continuation. */
int clua_wait(lua_State *L, lua_KFunction resumed) {
    lua_pushlightuserdata(L, (void *)&marker);
    return lua_yieldk(L, 1, 0, resumed);
}

static int waits(lua_State *co) {
    return lua_status(co) == LUA_YIELD && lua_gettop(co) > 0 && lua_touserdata(co, -1) == &marker;
}

static void close_coroutine(lua_State *co) {
    clua_host *host = host_of(co);
    if (clua_is_given_up(co)) return;
    lua_State *inner = waits(co) ? lua_tothread(co, -2) : NULL, *outer = host->current;
    if (inner) close_coroutine(inner);
    clua_switch(host, co);
    lua_resetthread(co); /* protected internally */
    lua_settop(co, 0);
    clua_switch(host, outer);
}

int clua_canwait(lua_State *L) { return host_of(L)->canWait && lua_isyieldable(L); }

/* ---- Bodies ---- */

static int body_ended(lua_State *L, int status, lua_KContext context) {
    (void)context;
    if (status == LUA_OK || status == LUA_YIELD) return lua_gettop(L) - 1;
    host_of(L)->raised = NULL; /* the hooks are enabled again */
    return lua_error(L);
}

/* A protected call around a coroutine's function. A hook's error that ends a coroutine leaves its hooks disabled; a
 * protected call enables them again, so that code closing the coroutine's variables can be stopped, and need not be
 * skipped. The host's coroutines have it. Scripts' have it if a limit of call depth raises such errors for scripts to
 * catch: a coroutine's start and end then take 1.3 times as long, and its end by an error twenty times. */
static int body(lua_State *L) {
    lua_pushvalue(L, lua_upvalueindex(1));
    lua_insert(L, 1);
    lua_pushcfunction(L, clua_record_traceback);
    lua_insert(L, 1);
    return body_ended(L, lua_pcallk(L, lua_gettop(L) - 2, LUA_MULTRET, 1, 0, body_ended), 0);
}

int clua_is_body(lua_CFunction function) { return function == body; }

void clua_pushbody(lua_State *L) { lua_pushcclosure(L, body, 1); }

static lua_State *new_coroutine(lua_State *L) {
    luaL_checktype(L, 1, LUA_TFUNCTION);
    lua_State *co = lua_newthread(L);
    lua_pushvalue(L, 1);
    if (host_of(L)->protects) clua_pushbody(L);
    lua_xmove(L, co, 1);
    return co;
}

/* ---- Resuming ---- */

#define FAILED (-1) /* the error is on L */
#define WAITS (-2)

/* Resumes the coroutine and makes it current, so that an interrupt reaches it. Returns the number of results. */
static int resume(lua_State *L, lua_State *co, int arguments) {
    clua_host *host = host_of(L);
    int results, canWait = host->canWait;
    clua_resumption resumption = {L, host->resumption};
    clua_check_stack(L);
    if (!lua_checkstack(co, arguments)) {
        lua_pushliteral(L, "too many arguments to resume");
        return FAILED;
    }
    lua_xmove(L, co, arguments);
    host->canWait = clua_canwait(L);
    host->resumption = &resumption;
    clua_switch(host, co);
    int status = clua_abort_coroutine(co, lua_resume(co, L, arguments, &results));
    host->canWait = canWait;
    host->resumption = resumption.outer;
    if (host->debugger.step && !waits(co)) host->debugger.calls->returns(host, co, L);
    clua_switch(host, L);
    if (host->debugger.errors && status != LUA_OK && status != LUA_YIELD) host->debugger.calls->error(L, co, 0, 0);
    if (waits(co)) return WAITS;
    if (status == LUA_OK || status == LUA_YIELD) {
        if (!lua_checkstack(L, results + 1)) {
            lua_pop(co, results);
            lua_pushliteral(L, "too many results to resume");
            return FAILED;
        }
        lua_xmove(co, L, results);
        return results;
    }
    lua_xmove(co, L, 1);
    return FAILED;
}

/* The same on behalf of a script. */
static int resume_idle(lua_State *L, lua_State *co, int arguments) {
    if (!waits(co)) return resume(L, co, arguments);
    lua_pushliteral(L, "cannot resume non-suspended coroutine");
    return FAILED;
}

static lua_State *check_coroutine(lua_State *L) {
    lua_State *co = lua_tothread(L, 1);
    luaL_argexpected(L, co, 1, "coroutine");
    return co;
}

/* Like Lua's own function, with a message that names the boundary. */
static int co_yield(lua_State *L) {
    int isMain = lua_pushthread(L);
    lua_pop(L, 1);
    if (L == host_of(L)->run) return luaL_error(L, "attempt to yield from outside a coroutine");
    if (!isMain && !lua_isyieldable(L)) {
        lua_pushliteral(
            L, "attempt to yield across a C-call boundary (a function that items:transaction, a query, a handler or "
               "table.sort calls must end before the coroutine can yield)");
        return lua_error(L);
    }
    return lua_yield(L, lua_gettop(L));
}

static int co_resume_again(lua_State *L, int status, lua_KContext context);

static int co_resumed(lua_State *L, int results) {
    if (results == WAITS) return clua_wait(L, co_resume_again);
    lua_pushboolean(L, results != FAILED);
    if (results == FAILED) results = 1;
    lua_insert(L, -(results + 1));
    return results + 1;
}

static int co_resume_again(lua_State *L, int status, lua_KContext context) {
    (void)status;
    (void)context;
    lua_settop(L, 1);
    return co_resumed(L, resume(L, lua_tothread(L, 1), 0));
}

static int co_resume(lua_State *L) {
    lua_State *co = check_coroutine(L);
    return co_resumed(L, resume_idle(L, co, lua_gettop(L) - 1));
}

int clua_is_resume(lua_CFunction function) { return function == co_resume; }

static int co_wrapped_again(lua_State *L, int status, lua_KContext context);

static int co_wrapped_resumed(lua_State *L, lua_State *co, int results) {
    if (results == WAITS) {
        lua_pushvalue(L, lua_upvalueindex(1));
        return clua_wait(L, co_wrapped_again);
    }
    if (results >= 0) return results;
    int status = lua_status(co);
    if (status != LUA_OK && status != LUA_YIELD) {
        int isClosed = !clua_is_given_up(co);
        status = clua_close_dead(co);
        if (isClosed && status != LUA_OK) lua_xmove(co, L, 1);
    }
    if (status != LUA_ERRMEM && lua_type(L, -1) == LUA_TSTRING) {
        luaL_where(L, 1);
        lua_insert(L, -2);
        lua_concat(L, 2);
    }
    return lua_error(L);
}

static int co_wrapped_again(lua_State *L, int status, lua_KContext context) {
    (void)status;
    (void)context;
    lua_State *co = lua_tothread(L, lua_upvalueindex(1));
    lua_settop(L, 0);
    return co_wrapped_resumed(L, co, resume(L, co, 0));
}

static int co_wrapped(lua_State *L) {
    lua_State *co = lua_tothread(L, lua_upvalueindex(1));
    return co_wrapped_resumed(L, co, resume_idle(L, co, lua_gettop(L)));
}

static int co_wrap(lua_State *L) {
    new_coroutine(L);
    lua_pushcclosure(L, co_wrapped, 1);
    return 1;
}

static int co_create(lua_State *L) {
    new_coroutine(L);
    return 1;
}

/* A run of the host is a coroutine; scripts see it as the main one. */
static int co_running(lua_State *L) {
    lua_pushboolean(L, lua_pushthread(L) || L == host_of(L)->run);
    return 2;
}

static int co_isyieldable(lua_State *L) {
    lua_State *co = lua_isnone(L, 1) ? L : check_coroutine(L);
    lua_pushboolean(L, lua_isyieldable(co) && co != host_of(L)->run);
    return 1;
}

/* Like Lua's own function, the upvalue, but a waiting coroutine has the status of one that has resumed another. */
static int co_status(lua_State *L) {
    if (waits(check_coroutine(L))) {
        lua_pushliteral(L, "normal");
        return 1;
    }
    lua_settop(L, 1);
    lua_pushvalue(L, lua_upvalueindex(1));
    lua_insert(L, 1);
    lua_call(L, 1, 1);
    return 1;
}

/* Closing calls __close functions on the coroutine. */
static int co_close(lua_State *L) {
    clua_host *host = host_of(L);
    lua_State *co = check_coroutine(L);
    clua_check_stack(L);
    if (waits(co)) return luaL_error(L, "cannot close a normal coroutine");
    if (clua_is_given_up(co)) {
        lua_pushboolean(L, 0);
        lua_pushliteral(L, "the coroutine was stopped");
        return 2;
    }
    lua_settop(L, 1);
    lua_pushvalue(L, lua_upvalueindex(1));
    lua_insert(L, 1);
    clua_switch(host, co);
    int status = lua_pcall(L, 1, LUA_MULTRET, 0);
    clua_switch(host, L);
    return status == LUA_OK ? lua_gettop(L) : lua_error(L);
}

/* ---- From Swift ---- */

int clua_resume(lua_State *co, lua_State *from, int arguments, int *results, int isProgram) {
    clua_host *host = host_of(co);
    if (clua_is_denied(co, arguments)) return LUA_ERRMEM;
    if (clua_overflows(co, host->stack.entry, arguments)) return LUA_ERRRUN;
    clua_entry entry;
    clua_enter(host, co, &entry);
    if ((host->canWait = isProgram)) host->run = co;
    if (host->debugger.suspended == co) host->debugger.suspended = NULL;
    int status = lua_resume(co, from, arguments, results);
    if (status != LUA_OK && (status != LUA_YIELD || clua_unwinds(host))) {
        host->enforce = entry.enforce; /* no protected call is active here */
        lua_checkstack(co, LUA_MINSTACK);
        if (status == LUA_YIELD) lua_rawgeti(co, LUA_REGISTRYINDEX, host->abortion);
        clua_trace(co); /* before its stack is unwound */
        host->enforce = 1;
    }
    int died = status != LUA_OK && status != LUA_YIELD;
    if (host->debugger.step && status == LUA_YIELD && !host->debugger.suspended) host->debugger.suspended = co;
    status = clua_abort_coroutine(co, status);
    if (died) status = clua_close_dead(co); /* while it can still be stopped */
    if (host->debugger.step && status != LUA_YIELD)
        host->debugger.calls->returns(host, co, depth_of(host) > 1 ? entry.current : NULL);
    clua_leave(host, &entry);
    if (status == LUA_OK) return 0;
    if (status != LUA_YIELD) return status;
    if (!waits(co)) return 1;
    *results = 0; /* the marker stays */
    return CLUA_WAITS;
}

void clua_resetthread(lua_State *co) {
    clua_host *host = host_of(co);
    clua_entry entry;
    clua_enter(host, co, &entry);
    if (host->debugger.suspended == co) host->debugger.calls->endStep(host);
    close_coroutine(co);
    clua_leave(host, &entry);
}

/* ---- The library ---- */

void clua_bound_coroutines(lua_State *L) {
    clua_replace(L, "create", co_create, 0);
    clua_replace(L, "resume", co_resume, 0);
    clua_replace(L, "yield", co_yield, 0);
    clua_replace(L, "wrap", co_wrap, 0);
    clua_replace(L, "running", co_running, 0);
    clua_replace(L, "isyieldable", co_isyieldable, 0);
    clua_replace(L, "status", co_status, 1);
    clua_replace(L, "close", co_close, 1);
}
