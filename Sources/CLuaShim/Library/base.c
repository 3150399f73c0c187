/* The base library, without the functions that could corrupt the VM, run inside the collector, or escape an
 * interrupt. */
#include <stdio.h>
#include <string.h>

#include "library.h"

/* A finalizer would run inside Swift's frames, with hooks off: a loop in it could not be stopped. Lua reads __gc only
 * when a metatable is set, so refusing it here is enough. */
static int narrow_setmetatable(lua_State *L) {
    int type = lua_type(L, 2);
    luaL_checktype(L, 1, LUA_TTABLE);
    luaL_argexpected(L, type == LUA_TNIL || type == LUA_TTABLE, 2, "nil or table");
    if (type == LUA_TTABLE) {
        lua_pushliteral(L, "__gc");
        if (lua_rawget(L, 2) != LUA_TNIL)
            return luaL_error(L, "a metatable with __gc is refused: use __close%s", host_of(L)->finalizerHint);
        lua_pop(L, 1);
    }
    if (luaL_getmetafield(L, 1, "__metatable") != LUA_TNIL) return luaL_error(L, "cannot change a protected metatable");
    lua_settop(L, 2);
    lua_setmetatable(L, 1);
    return 1;
}

/* What is behind a read-only view of a value, see ReadOnlyViews: its contents take the place of the first argument, whose type
 * this returns; LUA_TFUNCTION for an array whose elements are made when they are read, LUA_TNIL for any other table. */
static int look_behind(lua_State *L, int count) {
    luaL_checktype(L, 1, LUA_TTABLE);
    lua_settop(L, count);
    if (!lua_getmetatable(L, 1)) return LUA_TNIL;
    lua_pushliteral(L, "__contents");
    int type = lua_rawget(L, -2);
    if (type == LUA_TTABLE) lua_replace(L, 1);
    lua_settop(L, count);
    return type == LUA_TTABLE || type == LUA_TFUNCTION ? type : LUA_TNIL;
}

static int looking_next(lua_State *L) {
    if (look_behind(L, 2) == LUA_TFUNCTION) {
        lua_Integer place = lua_isnil(L, 2) ? 1 : luaL_checkinteger(L, 2) + 1;
        lua_pushinteger(L, place);
        return lua_geti(L, 1, place) == LUA_TNIL ? 1 : 2;
    }
    if (lua_next(L, 1)) return 2;
    lua_pushnil(L);
    return 1;
}

static int looking_rawget(lua_State *L) {
    luaL_checkany(L, 2);
    if (look_behind(L, 2) == LUA_TFUNCTION) lua_gettable(L, 1);
    else lua_rawget(L, 1);
    return 1;
}

static int looking_rawlen(lua_State *L) {
    luaL_argexpected(L, lua_istable(L, 1) || lua_type(L, 1) == LUA_TSTRING, 1, "table or string");
    if (lua_type(L, 1) == LUA_TSTRING) lua_pushinteger(L, (lua_Integer)lua_rawlen(L, 1));
    else if (look_behind(L, 1) == LUA_TFUNCTION) lua_pushinteger(L, luaL_len(L, 1));
    else lua_pushinteger(L, (lua_Integer)lua_rawlen(L, 1));
    return 1;
}

static int refusing_rawset(lua_State *L) {
    luaL_checkany(L, 3);
    if (look_behind(L, 3) != LUA_TNIL)
        return luaL_error(L, "this value is read-only: assign a new table to the item's field");
    lua_rawset(L, 1);
    return 1;
}

/* Whether the running function was called for a hook's error, where no hook can interrupt it. */
static int is_in_hook(lua_State *L) {
    lua_Debug ar;
    return lua_getstack(L, 0, &ar) && lua_getinfo(L, "n", &ar) && strcmp(ar.namewhat, "hook") == 0;
}

/* While a script is being stopped, its message handlers are not run, nor are handlers in Lua for an error raised by a
 * hook: they could not be stopped. */
static int guarded_handler(lua_State *L) {
    if (host_of(L)->abortDepth) return 1;
    if (host_of(L)->debugger.errors == CLUA_ERRORS_ALL) host_of(L)->debugger.calls->error(L, L, 1, 1);
    if (!lua_iscfunction(L, lua_upvalueindex(1)) && is_in_hook(L)) return 1;
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
    clua_check_stack(L);
    luaL_checktype(L, 2, LUA_TFUNCTION);
    lua_pushvalue(L, 2);
    lua_pushcclosure(L, guarded_handler, 1);
    lua_replace(L, 2);
    lua_pushvalue(L, lua_upvalueindex(1));
    lua_insert(L, 1);
    lua_callk(L, lua_gettop(L) - 1, LUA_MULTRET, 0, all_results);
    return all_results(L, LUA_OK, 0);
}

static int break_handler(lua_State *L) {
    host_of(L)->debugger.calls->error(L, L, 1, 1);
    return 1;
}

/* Below the results are the value true for success and, if the debugger breaks at errors, the message handler. */
static int pcall_ended(lua_State *L, int status, lua_KContext breaks) {
    if (status == LUA_OK || status == LUA_YIELD) return lua_gettop(L) - (int)breaks;
    lua_pushboolean(L, 0);
    lua_pushvalue(L, -2);
    return 2;
}

/* Like Lua's own pcall, which has no hook for the debugger: at an error it breaks before the stack is unwound. */
static int narrow_pcall(lua_State *L) {
    int count = lua_gettop(L), breaks = host_of(L)->debugger.errors == CLUA_ERRORS_ALL;
    if (!count) luaL_checkany(L, 1);
    lua_pushboolean(L, 1);
    lua_insert(L, 1);
    if (breaks) {
        lua_pushcfunction(L, break_handler);
        lua_insert(L, 1);
    }
    int status = lua_pcallk(L, count - 1, LUA_MULTRET, breaks, breaks, pcall_ended);
    return pcall_ended(L, status, breaks);
}

int clua_is_protecting(lua_CFunction function) { return function == narrow_pcall || function == narrow_xpcall; }

int clua_is_handling(lua_CFunction function) { return function == guarded_handler; }

/* ---- Output ---- */

/* Whether this many bytes may be written; 0: drop them. */
static int may_write(lua_State *L, size_t bytes) {
    clua_host *host = host_of(L);
    switch (clua_count_output(host, bytes)) {
    case CLUA_OUTPUT_FITS: return 1;
    case CLUA_OUTPUT_RAISES:
        clua_where(L);
        lua_pushfstring(
            L, "output limit reached (%I bytes): what follows is dropped", (LUAI_UACINT)host->outputLimit);
        lua_concat(L, 2);
        return lua_error(L);
    default: return 0;
    }
}

static int counted_print(lua_State *L) {
    clua_check_stack(L);
    int count = lua_gettop(L);
    size_t total = (size_t)count; /* the separators and the line's end */
    for (int i = 1; i <= count; i++) {
        size_t length;
        luaL_tolstring(L, i, &length);
        lua_replace(L, i);
        total += length;
    }
    total += count == 0;
    if (!may_write(L, total)) return 0;
    for (int i = 1; i <= count; i++) {
        size_t length;
        const char *text = lua_tolstring(L, i, &length);
        if (i > 1) fputc('\t', stdout);
        fwrite(text, 1, length, stdout);
        clua_poll(L);
    }
    fputc('\n', stdout);
    fflush(stdout);
    return 0;
}

/* io.write and file:write: upvalue 1 is Lua's own function, 2 whether the first argument is the file. */
static int counted_write(lua_State *L) {
    clua_check_stack(L);
    int isMethod = lua_toboolean(L, lua_upvalueindex(2)), counts = 1;
    int top = lua_gettop(L);
    if (isMethod) {
        luaL_Stream *stream = luaL_checkudata(L, 1, LUA_FILEHANDLE);
        counts = stream->closef && (stream->f == stdout || stream->f == stderr);
    }
    size_t total = 0;
    for (int i = 1 + isMethod; i <= top; i++)
        if (lua_type(L, i) == LUA_TUSERDATA && clua_is_error(L, i)) clua_error_to_text(L, i);
    for (int i = 1 + isMethod; counts && i <= top; i++) {
        if (!lua_isstring(L, i)) luaL_checklstring(L, i, NULL); /* raises with this function's name */
        total += lua_type(L, i) == LUA_TSTRING ? lua_rawlen(L, i) : 16;
    }
    if (counts && !may_write(L, total)) {
        if (isMethod) lua_settop(L, 1);
        else luaL_pushfail(L);
        return 1;
    }
    lua_pushvalue(L, lua_upvalueindex(1));
    lua_insert(L, 1);
    lua_call(L, top, LUA_MULTRET);
    return lua_gettop(L);
}

static void count_writes(lua_State *L, int isMethod) {
    lua_getfield(L, -1, "write");
    lua_pushboolean(L, isMethod);
    lua_pushcclosure(L, counted_write, 2);
    lua_setfield(L, -2, "write");
}

/* ---- The libraries ---- */

static int openlib_body(lua_State *L) {
    static const luaL_Reg libraries[] = {
        {LUA_GNAME, luaopen_base},          {LUA_COLIBNAME, luaopen_coroutine}, {LUA_TABLIBNAME, luaopen_table},
        {LUA_STRLIBNAME, luaopen_string},   {LUA_MATHLIBNAME, luaopen_math},    {LUA_UTF8LIBNAME, luaopen_utf8},
        {LUA_OSLIBNAME, luaopen_os},        {LUA_IOLIBNAME, luaopen_io},        {LUA_LOADLIBNAME, luaopen_package},
        {LUA_DBLIBNAME, luaopen_debug},
    };
    const char *name = lua_tostring(L, 1);
    for (size_t i = 0; i < sizeof libraries / sizeof *libraries; i++) {
        if (strcmp(libraries[i].name, name) == 0) {
            luaL_requiref(L, name, libraries[i].func, 1);
            return 1;
        }
    }
    return luaL_error(L, "no standard library '%s'", name);
}

int clua_openlib(lua_State *L, const char *name) {
    lua_pushstring(L, name);
    return clua_protect(L, openlib_body, 1, 1);
}

/* copy(table [, others]): another table with its entries, of the size that they need. `others` has what takes the place of
 * some values; the names of the other tables among the values are the second result, an array. */
static int copy_table(lua_State *L) {
    int count = 0, tables = 0;
    luaL_checktype(L, 1, LUA_TTABLE);
    lua_settop(L, 2);
    int hasOthers = lua_istable(L, 2);
    for (lua_pushnil(L); lua_next(L, 1); lua_pop(L, 1)) count++;
    lua_createtable(L, 0, count);
    lua_createtable(L, 4, 0);
    for (lua_pushnil(L); lua_next(L, 1);) {
        int type = lua_type(L, -1);
        if (hasOthers && (type == LUA_TTABLE || type == LUA_TFUNCTION)) {
            lua_pushvalue(L, -1);
            if (lua_rawget(L, 2) != LUA_TNIL) {
                lua_replace(L, -2);
                type = LUA_TNIL;
            } else {
                lua_pop(L, 1);
            }
        }
        if (type == LUA_TTABLE) {
            lua_pushvalue(L, -2);
            lua_rawseti(L, 4, ++tables);
        }
        lua_pushvalue(L, -2);
        lua_insert(L, -2);
        lua_rawset(L, 3);
    }
    return 2;
}

/* Pushes another function with the code of the one at an index, and with a state of the random numbers at an index, or with
 * a new one, which it pushes first. */
static int renew(lua_State *L, int function, int state) {
    lua_CFunction code = lua_tocfunction(L, function);
    if (!code || !lua_getupvalue(L, function, 1)) return 0;
    if (lua_type(L, -1) != LUA_TUSERDATA) return 0;
    size_t size = lua_rawlen(L, -1);
    lua_pop(L, 1);
    if (!state) {
        lua_newuserdatauv(L, size, 0);
        state = lua_gettop(L);
    }
    lua_pushvalue(L, state);
    lua_pushcclosure(L, code, 1);
    return 1;
}

/* newRandom(random, randomseed): such functions with numbers of their own, which begin with two of the given ones. */
static int new_random(lua_State *L) {
    lua_settop(L, 2);
    if (renew(L, 2, 0)) { /* 3: the state, 4: the function */
        lua_pushvalue(L, 4);
        for (int i = 0; i < 2; i++) {
            lua_pushvalue(L, 1);
            lua_pushinteger(L, 0);
            lua_call(L, 1, 1);
        }
        lua_call(L, 2, 0);
        if (renew(L, 1, 3)) {
            lua_pushvalue(L, 4);
            return 2;
        }
    }
    /* Another release of Lua has them otherwise: the whole library anew. */
    luaopen_math(L);
    lua_getfield(L, -1, "random");
    lua_getfield(L, -2, "randomseed");
    return 2;
}

/* error(message), with the place of the script that called the environment's function. */
static int raise_outside(lua_State *L) {
    lua_settop(L, 1);
    clua_where(L);
    lua_insert(L, 1);
    lua_concat(L, 2);
    return lua_error(L);
}

void clua_pushenvironmenttools(lua_State *L) {
    lua_pushcfunction(L, raise_outside);
    lua_pushcfunction(L, copy_table);
    lua_pushcfunction(L, new_random);
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
    static const char *const oses[] = {"execute", "exit", "setlocale", NULL};
    static const char *const ios[] = {"popen", "input", "output", "tmpfile", "close", NULL};
    lua_pushglobaltable(L);
    clua_replace(L, "setmetatable", narrow_setmetatable, 0);
    clua_replace(L, "load", clua_narrow_load, 0);
    clua_replace(L, "pcall", narrow_pcall, 0);
    clua_replace(L, "xpcall", narrow_xpcall, 1);
    clua_replace(L, "print", counted_print, 0);
    clua_replace(L, "next", looking_next, 0);
    clua_replace(L, "rawget", looking_rawget, 0);
    clua_replace(L, "rawlen", looking_rawlen, 0);
    clua_replace(L, "rawset", refusing_rawset, 0);
    forget(L, base);
    if (lua_getfield(L, -1, LUA_COLIBNAME) == LUA_TTABLE) clua_bound_coroutines(L);
    lua_pop(L, 1);
    if (lua_getfield(L, -1, LUA_DBLIBNAME) == LUA_TTABLE) forget(L, debugs);
    lua_pop(L, 1);
    if (lua_getfield(L, -1, LUA_OSLIBNAME) == LUA_TTABLE) forget(L, oses);
    lua_pop(L, 1);
    if (lua_getfield(L, -1, LUA_IOLIBNAME) == LUA_TTABLE) {
        forget(L, ios);
        count_writes(L, 0);
    }
    lua_pop(L, 1);
    if (luaL_getmetatable(L, LUA_FILEHANDLE) == LUA_TTABLE && lua_getfield(L, -1, "__index") == LUA_TTABLE) {
        count_writes(L, 1);
        lua_pop(L, 1);
    }
    lua_pop(L, 1);
    clua_watch_files(L);
    clua_bound_strings(L);
    clua_bound_tables(L);
    clua_bound_reading(L);
    clua_bound_formats(L);
    /* The methods of strings are found through a table that a script could otherwise replace, also for the host's own
     * scripts. */
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
