/* The stack: functions that never raise, or only for lack of memory, which the allocator never refuses to Swift. */
#include <string.h>

#include "host.h"

int clua_gettop(lua_State *L) { return lua_gettop(L); }
void clua_settop(lua_State *L, int index) { lua_settop(L, index); }
int clua_absindex(lua_State *L, int index) { return lua_absindex(L, index); }
int clua_checkstack(lua_State *L, int n) { return lua_checkstack(L, n); }
/* Swift sees light userdata, including rows, with the type userdata, like scripts. */
int clua_type(lua_State *L, int index) {
    int type = lua_type(L, index);
    return type == LUA_TLIGHTUSERDATA ? LUA_TUSERDATA : type;
}
int clua_isinteger(lua_State *L, int index) { return lua_isinteger(L, index); }
int clua_toboolean(lua_State *L, int index) { return lua_toboolean(L, index); }
int64_t clua_tointeger(lua_State *L, int index, int *ok) { return lua_tointegerx(L, index, ok); }
double clua_tonumber(lua_State *L, int index, int *ok) { return lua_tonumberx(L, index, ok); }
const void *clua_topointer(lua_State *L, int index) { return lua_topointer(L, index); }
lua_State *clua_tothread(lua_State *L, int index) { return lua_tothread(L, index); }
size_t clua_rawlen(lua_State *L, int index) { return lua_rawlen(L, index); }
void clua_pushnil(lua_State *L) { lua_pushnil(L); }
void clua_pushboolean(lua_State *L, int value) { lua_pushboolean(L, value); }
void clua_pushinteger(lua_State *L, int64_t value) { lua_pushinteger(L, value); }
void clua_pushnumber(lua_State *L, double value) { lua_pushnumber(L, value); }
int clua_pushnumeral(lua_State *L, const char *text) { return lua_stringtonumber(L, text) != 0; }

int clua_iscallable(lua_State *L, int index) {
    if (lua_type(L, index) == LUA_TFUNCTION) return 1;
    if (luaL_getmetafield(L, index, "__call") == LUA_TNIL) return 0;
    lua_pop(L, 1);
    return 1;
}

void clua_pushvalue(lua_State *L, int index) { lua_pushvalue(L, index); }
void clua_replacevalue(lua_State *L, int index) { lua_replace(L, index); }
int clua_rawget(lua_State *L, int index) { return lua_rawget(L, index); }
int clua_getmetatable(lua_State *L, int index) { return lua_getmetatable(L, index); }
void clua_setmetatable(lua_State *L, int index) { lua_setmetatable(L, index); }
int clua_getref(lua_State *L, int ref) { return lua_rawgeti(L, LUA_REGISTRYINDEX, ref); }
void clua_unref(lua_State *L, int ref) { luaL_unref(L, LUA_REGISTRYINDEX, ref); }
int clua_isyieldable(lua_State *L) { return lua_isyieldable(L); }

int clua_setupvalue(lua_State *L, int index, int n) {
    if (lua_setupvalue(L, index, n)) return 1;
    lua_pop(L, 1);
    return 0;
}

const char *clua_typename(int type) { return lua_typename(NULL, type); }

const char *clua_tostring(lua_State *L, int index, size_t *length) {
    return lua_type(L, index) == LUA_TSTRING ? lua_tolstring(L, index, length) : NULL;
}

/* Lua caches recent strings by address, and compares them instead of hashing. A text of up to fifteen bytes is stored
 * in Swift's stack frame, at changing addresses, and a text of pages is copied faster than read twice. */
void clua_pushcstring(lua_State *L, const char *text, size_t length) {
    if (length > 15 && length < 4096 && strlen(text) == length && clua_admits(L, length))
        lua_pushstring(L, text);
    else
        clua_pushlstring(L, text, length);
}

/* A refused text is an empty one: a key must not be nil. */
void clua_pushlstring(lua_State *L, const char *bytes, size_t length) {
    if (bytes && clua_admits(L, length)) lua_pushlstring(L, bytes, length);
    else lua_pushliteral(L, "");
}

void clua_createtable(lua_State *L, int array, int hash) {
    if (clua_admits(L, ((size_t)(array > 0 ? array : 0) + 2 * (size_t)(hash > 0 ? hash : 0)) * 16))
        lua_createtable(L, array, hash);
    else
        lua_newtable(L);
}

void clua_rawseti(lua_State *L, int index, int64_t n) {
    if (clua_admits(L, 0)) lua_rawseti(L, index, n);
    else lua_pop(L, 1);
}

void clua_rawset(lua_State *L, int index) {
    if (clua_admits(L, 0)) lua_rawset(L, index);
    else lua_pop(L, 2);
}

int clua_ref(lua_State *L) { return luaL_ref(L, LUA_REGISTRYINDEX); }
lua_State *clua_newthread(lua_State *L) { return lua_newthread(L); }
void clua_pushglobals(lua_State *L) { lua_rawgeti(L, LUA_REGISTRYINDEX, LUA_RIDX_GLOBALS); }

/* The text of a number as in tostring: 2.0, 1e+15. */
int clua_numbertext(double value, char *text, size_t size) {
    int length = lua_number2str(text, size, value);
    if (text[strspn(text, "-0123456789")] == '\0' && (size_t)length + 2 < size) {
        memcpy(text + length, ".0", 3);
        length += 2;
    }
    return length;
}
