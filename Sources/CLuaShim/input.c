/* Standard input: its reading functions first call a host function, which waits, and may yield, until input is
 * available. Lua's own functions then read, as if called by the script itself, whose line is in their errors. */
#include <stdio.h>

#include "host.h"

/* Two upvalues: the waiting function, and Lua's own function. */

static int is_input(lua_State *L, int index) {
    luaL_Stream *stream = luaL_testudata(L, index, LUA_FILEHANDLE);
    return stream && stream->closef && stream->f == stdin;
}

static int read_on(lua_State *L, int status, lua_KContext reads) {
    (void)status;
    return ((lua_CFunction)reads)(L);
}

static int wait_and_read(lua_State *L, int waits) {
    clua_check_stack(L);
    lua_KContext reads = (lua_KContext)lua_tocfunction(L, lua_upvalueindex(2));
    if (waits) {
        luaL_checkstack(L, 1, NULL);
        lua_pushvalue(L, lua_upvalueindex(1));
        lua_callk(L, 0, 0, reads, read_on);
    }
    return read_on(L, LUA_OK, reads);
}

static int file_read(lua_State *L) { return wait_and_read(L, is_input(L, 1)); }

/* io.read: reads the file set by io.input, which the io library stores under this name. */
static int default_read(lua_State *L) {
    luaL_checkstack(L, 1, NULL);
    lua_getfield(L, LUA_REGISTRYINDEX, "_IO_input");
    int waits = is_input(L, -1);
    lua_pop(L, 1);
    return wait_and_read(L, waits);
}

static int next_line_on(lua_State *L, int status, lua_KContext context) {
    (void)status;
    (void)context;
    lua_pushvalue(L, lua_upvalueindex(2));
    lua_call(L, 0, LUA_MULTRET);
    return lua_gettop(L);
}

static int next_line(lua_State *L) {
    clua_check_stack(L);
    lua_settop(L, 0);
    lua_pushvalue(L, lua_upvalueindex(1));
    lua_callk(L, 0, 0, 0, next_line_on);
    return next_line_on(L, LUA_OK, 0);
}

static int file_lines(lua_State *L) {
    int waits = is_input(L, 1);
    int count = lua_tocfunction(L, lua_upvalueindex(2))(L);
    if (!waits) return count;
    lua_pushvalue(L, lua_upvalueindex(1));
    lua_insert(L, -2);
    lua_pushcclosure(L, next_line, 2);
    return 1;
}

/* Replaces the function with a name in a table. */
static void replace(lua_State *L, int table, const char *name, lua_CFunction function) {
    lua_pushvalue(L, 1);
    lua_getfield(L, table, name);
    lua_pushcclosure(L, function, 2);
    lua_setfield(L, table, name);
}

int clua_wrap_input(lua_State *L) {
    lua_settop(L, 1);
    luaL_getmetatable(L, LUA_FILEHANDLE);
    lua_getfield(L, 2, "__index");
    replace(L, 3, "read", file_read);
    replace(L, 3, "lines", file_lines);
    lua_getglobal(L, LUA_IOLIBNAME);
    replace(L, 4, "read", default_read);
    return 0;
}
