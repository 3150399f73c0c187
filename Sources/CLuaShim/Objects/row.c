/* Rows of a table, which have neither a handle nor a Swift object (object.h). */
#include <limits.h>
#include <string.h>

#include "object.h"

/* Lua's errors name the class of a full userdata but say "userdata" for a light one: these errors name the class. */
static int refuse_operation(lua_State *L) {
    uint64_t payload;
    const char *operation = lua_tostring(L, lua_upvalueindex(1)), *name[2];
    for (int i = 0; i < 2; i++)
        name[i] = to_row(L, i + 1, &payload) ? host_of(L)->rows->name : luaL_typename(L, i + 1);
    if (*operation) return luaL_error(L, "attempt to %s a %s value", operation, name[!to_row(L, 1, &payload)]);
    if (strcmp(name[0], name[1]) == 0) return luaL_error(L, "attempt to compare two %s values", name[0]);
    return luaL_error(L, "attempt to compare %s with %s", name[0], name[1]);
}

static const char *const operations[][2] = {
    {"__add", "perform arithmetic on"}, {"__sub", "perform arithmetic on"}, {"__mul", "perform arithmetic on"},
    {"__div", "perform arithmetic on"}, {"__mod", "perform arithmetic on"}, {"__pow", "perform arithmetic on"},
    {"__unm", "perform arithmetic on"}, {"__idiv", "perform arithmetic on"},
    {"__band", "perform bitwise operation on"}, {"__bor", "perform bitwise operation on"},
    {"__bxor", "perform bitwise operation on"}, {"__bnot", "perform bitwise operation on"},
    {"__shl", "perform bitwise operation on"}, {"__shr", "perform bitwise operation on"},
    {"__concat", "concatenate"}, {"__len", "get length of"}, {"__call", "call"}, {"__lt", ""}, {"__le", ""},
};

void clua_set_row_metatable(lua_State *L, clua_class *cls) {
    host_of(L)->rows = cls;
    for (size_t i = 0; i < sizeof operations / sizeof *operations; i++) {
        lua_pushstring(L, operations[i][1]);
        lua_pushcclosure(L, refuse_operation, 1);
        lua_setfield(L, -2, operations[i][0]);
    }
    push_row(L, 0);
    lua_pushvalue(L, -2);
    lua_setmetatable(L, -2);
    lua_pop(L, 1);
}

static int describe_row(lua_State *L) {
    clua_check_stack(L);
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
    clua_createtable(L, count > INT_MAX ? INT_MAX : (int)count, 0);
    for (size_t i = 0; i < count && !host_of(L)->denied; i++) {
        push_row(L, payloads[i]);
        lua_rawseti(L, -2, (lua_Integer)i + 1);
    }
}

void clua_setrowexistence(clua_class *cls, void *accessor, const uint64_t *epoch) {
    cls->existence = accessor;
    cls->epoch = epoch;
}

/* The rows of an iterator. */
typedef struct {
    size_t count, next;
    uint64_t epoch; /* at the time of the query */
    uint64_t rows[];
} row_list;

static int is_present(lua_State *L, const clua_class *cls, const row_list *list, uint64_t row) {
    if (!cls->existence || *cls->epoch == list->epoch) return 1;
    return call(L, host_of(L)->callbacks.get, cls->existence, &row) != 0;
}

static int next_row(lua_State *L) {
    row_list *list = lua_touserdata(L, lua_upvalueindex(1));
    const clua_class *cls = host_of(L)->rows;
    while (list->next < list->count) {
        uint64_t row = list->rows[list->next++];
        if (!is_present(L, cls, list, row)) continue;
        lua_pushinteger(L, (lua_Integer)list->next);
        push_row(L, row);
        return 2;
    }
    lua_pushnil(L);
    return 1;
}

uint64_t *clua_pushrowiterator(lua_State *L, size_t count, uint64_t epoch) {
    if (!clua_admits(L, count * sizeof(uint64_t))) return NULL;
    row_list *list = lua_newuserdatauv(L, sizeof *list + count * sizeof *list->rows, 0);
    list->count = count;
    list->next = 0;
    list->epoch = epoch;
    lua_pushcclosure(L, next_row, 1);
    return list->rows;
}

int clua_hasrows(lua_State *L) { return host_of(L)->rows != NULL; }
