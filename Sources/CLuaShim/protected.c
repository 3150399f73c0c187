/* Protected entries: each body that may raise runs inside lua_pcall. */
#include <string.h>

#include "host.h"

/* Represents nil as an error: a registry slot with nil counts as free. */
static char nothing;

/* Stores the error of the last traceback. */
static void remember_traced(lua_State *L, int index) {
    if (lua_isnil(L, index)) lua_pushlightuserdata(L, &nothing);
    else lua_pushvalue(L, index);
    lua_rawseti(L, LUA_REGISTRYINDEX, host_of(L)->traced);
}

/* Whether the value at the index has its traceback. */
static int is_traced(lua_State *L, int index) {
    index = lua_absindex(L, index);
    lua_rawgeti(L, LUA_REGISTRYINDEX, host_of(L)->traced);
    int same = lua_isnil(L, index) ? lua_touserdata(L, -1) == &nothing : lua_rawequal(L, index, -1);
    lua_pop(L, 1);
    return same;
}

/* The message handler. Each error has one traceback, made at the deepest frame: a value that passes an outer boundary
 * keeps its first traceback. */
int clua_record_traceback(lua_State *L) {
    clua_host *host = host_of(L);
    if (is_traced(L, 1)) return 1;
    if (host->debugger.errors) clua_break_at_error(L, L, 1, 0);
    luaL_traceback(L, L, NULL, 1);
    lua_rawseti(L, LUA_REGISTRYINDEX, host->traceback);
    clua_capture_frames(L, 1);
    remember_traced(L, 1);
    return 1;
}

const char *clua_last_traceback(lua_State *L) {
    clua_host *host = host_of(L);
    lua_rawgeti(L, LUA_REGISTRYINDEX, host->traceback);
    const char *text = lua_type(L, -1) == LUA_TSTRING ? lua_tostring(L, -1) : NULL; /* the registry keeps it alive */
    lua_pop(L, 1);
    return text;
}

void clua_forget_traceback(lua_State *L) {
    clua_host *host = host_of(L);
    lua_pushboolean(L, 0);
    lua_rawseti(L, LUA_REGISTRYINDEX, host->traceback);
    lua_pushboolean(L, 0);
    lua_rawseti(L, LUA_REGISTRYINDEX, host->traced);
    lua_pushboolean(L, 0);
    lua_rawseti(L, LUA_REGISTRYINDEX, host->frames);
}

int clua_was_out_of_memory(int status) { return status == LUA_ERRMEM; }
int clua_was_syntax_error(int status) { return status == LUA_ERRSYNTAX; }

/* Whether C's stack has reached a limit; if so, the error replaces the topmost values. */
static int overflows(lua_State *L, const char *limit, int values) {
    if ((char *)__builtin_frame_address(0) >= limit) return 0;
    lua_pop(L, values);
    lua_pushliteral(L, "C stack overflow");
    return 1;
}

/* Whether a value of the host was refused, such as an argument; if so, the error replaces the topmost values. */
static int is_denied(lua_State *L, int values) {
    if (!host_of(L)->denied) return 0;
    lua_pop(L, values);
    clua_push_denial(L);
    return 1;
}

int clua_load(lua_State *L, const char *bytes, size_t length, const char *name) {
    clua_host *host = host_of(L);
    if (is_denied(L, 0)) return LUA_ERRMEM;
    if (overflows(L, host->stack.limit, 0)) return LUA_ERRRUN; /* the parser is recursive as well */
    clua_entry entry;
    clua_enter(host, L, &entry);
    int status = clua_load_text(L, bytes, length, name); /* never bytecode: it can corrupt the VM */
    clua_leave(host, &entry);
    return status;
}

int clua_pcall(lua_State *L, int arguments, int results) {
    clua_host *host = host_of(L);
    if (is_denied(L, arguments + 1)) return LUA_ERRMEM;
    if (overflows(L, host->stack.entry, arguments + 1)) return LUA_ERRRUN;
    int base = lua_gettop(L) - arguments;
    lua_pushcfunction(L, clua_record_traceback);
    lua_insert(L, base);
    clua_entry entry;
    clua_enter(host, L, &entry);
    int status = lua_pcall(L, arguments, results, base);
    clua_leave(host, &entry);
    lua_remove(L, base);
    return status;
}

/* Stores the traceback of a coroutine that has raised the value on top of its stack. */
static void trace(lua_State *co) {
    clua_host *host = host_of(co);
    if (is_traced(co, -1)) return;
    luaL_traceback(co, co, NULL, 0);
    lua_rawseti(co, LUA_REGISTRYINDEX, host->traceback);
    clua_capture_frames(co, 0);
    remember_traced(co, -1);
}

static int resume(lua_State *co, lua_State *from, int arguments, int *results, int isRun) {
    clua_host *host = host_of(co);
    if (is_denied(co, arguments)) return LUA_ERRMEM;
    if (overflows(co, host->stack.entry, arguments)) return LUA_ERRRUN;
    clua_entry entry;
    clua_enter(host, co, &entry);
    if ((host->canWait = isRun)) host->run = co;
    if (host->debugger.suspended == co) host->debugger.suspended = NULL;
    int status = lua_resume(co, from, arguments, results);
    if (status != LUA_OK && (status != LUA_YIELD || clua_unwinds(host))) {
        host->enforce = entry.enforce; /* no protected call is active here */
        lua_checkstack(co, LUA_MINSTACK);
        if (status == LUA_YIELD) lua_rawgeti(co, LUA_REGISTRYINDEX, host->abortion);
        trace(co); /* before its stack is unwound */
        host->enforce = 1;
    }
    int died = status != LUA_OK && status != LUA_YIELD;
    if (host->debugger.step && status == LUA_YIELD && !host->debugger.suspended) host->debugger.suspended = co;
    status = clua_abort_coroutine(co, status);
    if (died) status = clua_close_dead(co); /* while it can still be stopped */
    if (host->debugger.step && status != LUA_YIELD) clua_step_returns(host, co, depth_of(host) > 1 ? entry.current : NULL);
    clua_leave(host, &entry);
    if (status == LUA_OK) return 0;
    if (status != LUA_YIELD) return status;
    if (!clua_waits(co)) return 1;
    *results = 0; /* the marker stays */
    return CLUA_WAITS;
}

int clua_resume(lua_State *co, lua_State *from, int arguments, int *results) {
    return resume(co, from, arguments, results, 0);
}

int clua_run(lua_State *co, lua_State *from, int arguments, int *results) {
    return resume(co, from, arguments, results, 1);
}

void clua_resetthread(lua_State *co) {
    clua_host *host = host_of(co);
    clua_entry entry;
    clua_enter(host, co, &entry);
    if (host->debugger.suspended == co) clua_take_step(host, CLUA_STEP_NONE);
    clua_close_coroutine(co);
    clua_leave(host, &entry);
}

/* Runs a C body on the top `arguments` values. */
static int protect(lua_State *L, lua_CFunction body, int arguments, int results) {
    lua_pushcfunction(L, body);
    lua_insert(L, -1 - arguments);
    return clua_pcall(L, arguments, results);
}

static int gettable_body(lua_State *L) {
    lua_gettable(L, 1);
    return 1;
}

int clua_gettable(lua_State *L, int index) {
    index = lua_absindex(L, index);
    lua_pushvalue(L, index);
    lua_insert(L, -2);
    return protect(L, gettable_body, 2, 1);
}

int clua_getfield(lua_State *L, int index, const char *name) {
    index = lua_absindex(L, index);
    lua_pushstring(L, name);
    return clua_gettable(L, index);
}

static int settable_body(lua_State *L) {
    lua_settable(L, 1);
    return 0;
}

int clua_settable(lua_State *L, int index) {
    index = lua_absindex(L, index);
    lua_pushvalue(L, index);
    lua_insert(L, -3);
    return protect(L, settable_body, 3, 0);
}

static int next_body(lua_State *L) {
    if (lua_next(L, 1)) return 2;
    return 0;
}

int clua_next(lua_State *L, int index, int *more) {
    index = lua_absindex(L, index);
    lua_pushvalue(L, index);
    lua_insert(L, -2);
    int base = lua_gettop(L) - 2;
    int status = protect(L, next_body, 2, LUA_MULTRET);
    *more = status == LUA_OK && lua_gettop(L) == base + 2;
    return status;
}

int clua_nextentry(lua_State *L, int index) { return lua_next(L, index); }

static int compare_body(lua_State *L) {
    lua_pushboolean(L, lua_compare(L, 1, 2, (int)lua_tointegerx(L, 3, NULL)));
    return 1;
}

int clua_compare(lua_State *L, int a, int b, int operation, int *result) {
    a = lua_absindex(L, a);
    b = lua_absindex(L, b);
    lua_pushvalue(L, a);
    lua_pushvalue(L, b);
    lua_pushinteger(L, operation);
    int status = protect(L, compare_body, 3, 1);
    if (status == LUA_OK) {
        *result = lua_toboolean(L, -1);
        lua_pop(L, 1);
    }
    return status;
}

static int tolstring_body(lua_State *L) {
    luaL_tolstring(L, 1, NULL);
    return 1;
}

int clua_tolstring(lua_State *L, int index) {
    lua_pushvalue(L, index);
    return protect(L, tolstring_body, 1, 1);
}

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
    return protect(L, openlib_body, 1, 1);
}

static int newmath_body(lua_State *L) { return luaopen_math(L); }

int clua_newmath(lua_State *L) { return protect(L, newmath_body, 0, 1); }

int clua_takestream(lua_State *L) { return protect(L, clua_wrap_stream, 3, 0); }
