/* The base library, narrowed: what would let a script corrupt the VM, run inside the collector, or escape an interrupt. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "host.h"

/* A finalizer would run inside Swift's frames, with hooks off: a loop in it could not be stopped. Lua looks for __gc only
 * when a metatable is set, so refusing it here is enough. */
static int narrow_setmetatable(lua_State *L) {
    int type = lua_type(L, 2);
    luaL_checktype(L, 1, LUA_TTABLE);
    luaL_argexpected(L, type == LUA_TNIL || type == LUA_TTABLE, 2, "nil or table");
    if (type == LUA_TTABLE) {
        lua_pushliteral(L, "__gc");
        if (lua_rawget(L, 2) != LUA_TNIL)
            return luaL_error(L, "a metatable with __gc is refused: use __close, or app:on(\"willTerminate\", …)");
        lua_pop(L, 1);
    }
    if (luaL_getmetafield(L, 1, "__metatable") != LUA_TNIL) return luaL_error(L, "cannot change a protected metatable");
    lua_settop(L, 2);
    lua_setmetatable(L, 1);
    return 1;
}

/* Text only: bytecode is not checked by the VM and can make it crash. */
static int narrow_load(lua_State *L) {
    int top = lua_gettop(L);
    if (top < 3) lua_settop(L, top = 3);
    const char *mode = luaL_optstring(L, 3, "bt");
    lua_pushstring(L, strchr(mode, 't') ? "t" : ""); /* a wish for bytecode alone is refused with Lua's own words */
    lua_replace(L, 3);
    lua_pushvalue(L, lua_upvalueindex(1));
    lua_insert(L, 1);
    lua_call(L, top, LUA_MULTRET);
    return lua_gettop(L);
}

/* While a script is being stopped, its message handlers are not run. */
static int guarded_handler(lua_State *L) {
    if (host_of(L)->abortDepth) return 1;
    lua_pushvalue(L, lua_upvalueindex(1));
    lua_insert(L, 1);
    lua_call(L, lua_gettop(L) - 1, 1);
    return 1;
}

static int all_results(lua_State *L, int status, lua_KContext context) {
    (void)status;
    (void)context;
    return lua_gettop(L);
}

static int narrow_xpcall(lua_State *L) {
    luaL_checktype(L, 2, LUA_TFUNCTION);
    lua_pushvalue(L, 2);
    lua_pushcclosure(L, guarded_handler, 1);
    lua_replace(L, 2);
    lua_pushvalue(L, lua_upvalueindex(1));
    lua_insert(L, 1);
    lua_callk(L, lua_gettop(L) - 1, LUA_MULTRET, 0, all_results);
    return all_results(L, LUA_OK, 0);
}

/* Resumes with the coroutine published, so that an interrupt finds what really runs. -1: the error is on L. */
static int resume(lua_State *L, lua_State *co, int arguments) {
    clua_host *host = host_of(L);
    int results;
    if (!lua_checkstack(co, arguments)) {
        lua_pushliteral(L, "too many arguments to resume");
        return -1;
    }
    lua_xmove(L, co, arguments);
    host->current = co;
    int status = lua_resume(co, L, arguments, &results);
    host->current = L;
    if (host->abortDepth || atomic_load_explicit(&host->pending, memory_order_relaxed)) clua_arm(host);
    if (status == LUA_OK || status == LUA_YIELD) {
        if (!lua_checkstack(L, results + 1)) {
            lua_pop(co, results);
            lua_pushliteral(L, "too many results to resume");
            return -1;
        }
        lua_xmove(co, L, results);
        return results;
    }
    lua_xmove(co, L, 1);
    return -1;
}

static lua_State *check_coroutine(lua_State *L) {
    lua_State *co = lua_tothread(L, 1);
    luaL_argexpected(L, co, 1, "coroutine");
    return co;
}

static int co_resume(lua_State *L) {
    lua_State *co = check_coroutine(L);
    int results = resume(L, co, lua_gettop(L) - 1);
    if (results < 0) {
        lua_pushboolean(L, 0);
        lua_insert(L, -2);
        return 2;
    }
    lua_pushboolean(L, 1);
    lua_insert(L, -(results + 1));
    return results + 1;
}

static int co_wrapped(lua_State *L) {
    lua_State *co = lua_tothread(L, lua_upvalueindex(1));
    int results = resume(L, co, lua_gettop(L));
    if (results >= 0) return results;
    int status = lua_status(co);
    if (status != LUA_OK && status != LUA_YIELD) {
        status = lua_resetthread(co);
        if (status != LUA_OK) lua_xmove(co, L, 1);
    }
    if (status != LUA_ERRMEM && lua_type(L, -1) == LUA_TSTRING) {
        luaL_where(L, 1);
        lua_insert(L, -2);
        lua_concat(L, 2);
    }
    return lua_error(L);
}

static int co_wrap(lua_State *L) {
    luaL_checktype(L, 1, LUA_TFUNCTION);
    lua_State *co = lua_newthread(L);
    lua_pushvalue(L, 1);
    lua_xmove(L, co, 1);
    lua_pushcclosure(L, co_wrapped, 1);
    return 1;
}

/* Closing runs __close functions on the coroutine. */
static int co_close(lua_State *L) {
    clua_host *host = host_of(L);
    lua_State *co = check_coroutine(L);
    lua_settop(L, 1);
    lua_pushvalue(L, lua_upvalueindex(1));
    lua_insert(L, 1);
    host->current = co;
    int status = lua_pcall(L, 1, LUA_MULTRET, 0);
    host->current = L;
    if (host->abortDepth || atomic_load_explicit(&host->pending, memory_order_relaxed)) clua_arm(host);
    return status == LUA_OK ? lua_gettop(L) : lua_error(L);
}

/* Replaces a function of the table on top; `keep` passes the old one as its upvalue. */
static void replace(lua_State *L, const char *name, lua_CFunction function, int keep) {
    if (keep) lua_getfield(L, -1, name);
    lua_pushcclosure(L, function, keep);
    lua_setfield(L, -2, name);
}

static void forget(lua_State *L, const char *const *names) {
    for (; *names; names++) {
        lua_pushnil(L);
        lua_setfield(L, -2, *names);
    }
}

static int narrow_body(lua_State *L) {
    static const char *const base[] = {"dofile", "loadfile", "warn", NULL};
    static const char *const debugs[] = {"debug",      "gethook",     "getlocal",   "getmetatable", "getregistry",
                                         "getupvalue", "getuservalue", "sethook",    "setlocal",     "setmetatable",
                                         "setupvalue", "setuservalue", "upvalueid",  "upvaluejoin",  "setcstacklimit", NULL};
    static const char *const oses[] = {"execute", "setlocale", NULL};
    static const char *const ios[] = {"popen", "input", "output", "tmpfile", "close", NULL};
    lua_pushglobaltable(L);
    replace(L, "setmetatable", narrow_setmetatable, 0);
    replace(L, "load", narrow_load, 1);
    replace(L, "xpcall", narrow_xpcall, 1);
    forget(L, base);
    if (lua_getfield(L, -1, LUA_COLIBNAME) == LUA_TTABLE) {
        replace(L, "resume", co_resume, 0);
        replace(L, "wrap", co_wrap, 0);
        replace(L, "close", co_close, 1);
    }
    lua_pop(L, 1);
    if (lua_getfield(L, -1, LUA_DBLIBNAME) == LUA_TTABLE) forget(L, debugs);
    lua_pop(L, 1);
    if (lua_getfield(L, -1, LUA_OSLIBNAME) == LUA_TTABLE) forget(L, oses);
    lua_pop(L, 1);
    if (lua_getfield(L, -1, LUA_IOLIBNAME) == LUA_TTABLE) forget(L, ios);
    lua_pop(L, 1);
    /* A string's methods come through a table that a script could otherwise replace for the host's own scripts. */
    lua_pushliteral(L, "");
    if (lua_getmetatable(L, -1)) {
        lua_pushboolean(L, 0);
        lua_setfield(L, -2, "__metatable");
    }
    return 0;
}

int clua_narrow(lua_State *L) {
    lua_pushcfunction(L, narrow_body);
    return clua_pcall(L, 0, 0);
}

/* ---- Files ---- */

static int close_file(lua_State *L) {
    luaL_Stream *stream = luaL_checkudata(L, 1, LUA_FILEHANDLE);
    return luaL_fileresult(L, fclose(stream->f) == 0, NULL);
}

int clua_pushfile(lua_State *L, int fd, const char *mode) {
    luaL_Stream *stream = lua_newuserdatauv(L, sizeof *stream, 0);
    stream->closef = NULL; /* closed, should anything below fail */
    stream->f = NULL;
    if (luaL_getmetatable(L, LUA_FILEHANDLE) != LUA_TTABLE) {
        lua_pop(L, 2);
        return 0;
    }
    lua_setmetatable(L, -2);
    stream->f = fdopen(fd, mode);
    if (!stream->f) {
        lua_pop(L, 1);
        return 0;
    }
    stream->closef = close_file;
    return 1;
}
