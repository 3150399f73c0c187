/* The rows of a table, which have neither a handle nor a Swift object behind them, see object.h. */
#include <limits.h>

#include "object.h"

void clua_set_row_metatable(lua_State *L, clua_class *cls) {
    host_of(L)->rows = cls;
    push_row(L, 0);
    lua_pushvalue(L, -2);
    lua_setmetatable(L, -2);
    lua_pop(L, 1);
}

static int describe_row(lua_State *L) {
    uint64_t payload;
    if (to_row(L, 1, &payload)) {
        lua_pushvalue(L, lua_upvalueindex(1));
        lua_insert(L, 1);
        lua_call(L, lua_gettop(L) - 1, 1);
    } else {
        lua_pushfstring(L, "%s: %p", luaL_typename(L, 1), lua_topointer(L, 1));
    }
    return 1;
}

void clua_wrap_row_text(lua_State *L) { lua_pushcclosure(L, describe_row, 1); }

void clua_pushrow(lua_State *L, uint64_t payload) { push_row(L, payload); }

void clua_pushrows(lua_State *L, const uint64_t *payloads, size_t count) {
    lua_createtable(L, count > INT_MAX ? INT_MAX : (int)count, 0);
    for (size_t i = 0; i < count; i++) {
        push_row(L, payloads[i]);
        lua_rawseti(L, -2, (lua_Integer)i + 1);
    }
}

int clua_hasrows(lua_State *L) { return host_of(L)->rows != NULL; }
