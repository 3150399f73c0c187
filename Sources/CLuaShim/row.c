/* Handles of the rows of a table, which have no Swift object behind them. */
#include <limits.h>

#include "object.h"

/* Weak tables of so many handles each, in an array of them: an item that is touched costs the table of its neighbours, and
 * a handle that is dropped no more than its memory, for there is no finalizer. */
enum { ROWS_A_TABLE = 256 };

int clua_new_row_tables(lua_State *L) {
    lua_createtable(L, 0, 1);
    lua_createtable(L, 0, 1);
    lua_pushliteral(L, "v");
    lua_setfield(L, -2, "__mode");
    lua_rawseti(L, -2, 0); /* the metatable of each */
    return luaL_ref(L, LUA_REGISTRYINDEX);
}

/* The table of a row, in the place of the tables that are on top. */
static void push_row_table(lua_State *L, lua_Integer number) {
    if (lua_rawgeti(L, -1, number) == LUA_TTABLE) return;
    lua_pop(L, 1);
    lua_createtable(L, ROWS_A_TABLE, 0);
    lua_rawgeti(L, -2, 0);
    lua_setmetatable(L, -2);
    lua_pushvalue(L, -1);
    lua_rawseti(L, -3, number);
}

/* The handle of a row, from its table on top or made now. */
static void push_row(lua_State *L, clua_class *cls, uint64_t payload) {
    lua_Integer place = (uint32_t)payload % ROWS_A_TABLE + 1;
    if (lua_rawgeti(L, -1, place) == LUA_TUSERDATA) {
        const handle *known = lua_touserdata(L, -1);
        if (known->payload == payload) return;
    }
    lua_pop(L, 1); /* none, or one of an item that had the row before */
    clua_pushinline(L, cls, payload);
    lua_pushvalue(L, -1);
    lua_rawseti(L, -3, place);
}

void clua_pushrow(lua_State *L, clua_class *cls, uint64_t payload) {
    lua_rawgeti(L, LUA_REGISTRYINDEX, cls->rows);
    push_row_table(L, (uint32_t)payload / ROWS_A_TABLE + 1);
    push_row(L, cls, payload);
    lua_replace(L, -3);
    lua_pop(L, 1);
}

void clua_pushrows(lua_State *L, clua_class *cls, const uint64_t *payloads, size_t count) {
    lua_createtable(L, count > INT_MAX ? INT_MAX : (int)count, 0);
    lua_rawgeti(L, LUA_REGISTRYINDEX, cls->rows);
    for (size_t i = 0; i < count; i++) {
        push_row_table(L, (uint32_t)payloads[i] / ROWS_A_TABLE + 1);
        push_row(L, cls, payloads[i]);
        lua_rawseti(L, -4, (lua_Integer)i + 1);
        lua_pop(L, 1);
    }
    lua_pop(L, 1);
}
