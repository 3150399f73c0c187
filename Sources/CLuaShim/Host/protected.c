/* Protected entries: each body that may raise runs inside lua_pcall. */
#include "host.h"

int clua_was_out_of_memory(int status) { return status == LUA_ERRMEM; }
int clua_was_syntax_error(int status) { return status == LUA_ERRSYNTAX; }

int clua_overflows(lua_State *L, const char *limit, int values) {
    if ((char *)__builtin_frame_address(0) >= limit) return 0;
    lua_pop(L, values);
    lua_pushliteral(L, "C stack overflow");
    return 1;
}

int clua_is_denied(lua_State *L, int values) {
    if (!host_of(L)->denied) return 0;
    lua_pop(L, values);
    clua_push_denial(L);
    return 1;
}

int clua_pcall(lua_State *L, int arguments, int results) {
    clua_host *host = host_of(L);
    if (clua_is_denied(L, arguments + 1)) return LUA_ERRMEM;
    if (clua_overflows(L, host->stack.entry, arguments + 1)) return LUA_ERRRUN;
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

int clua_protect(lua_State *L, lua_CFunction body, int arguments, int results) {
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
    return clua_protect(L, gettable_body, 2, 1);
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
    return clua_protect(L, settable_body, 3, 0);
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
    int status = clua_protect(L, next_body, 2, LUA_MULTRET);
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
    int status = clua_protect(L, compare_body, 3, 1);
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
    return clua_protect(L, tolstring_body, 1, 1);
}
