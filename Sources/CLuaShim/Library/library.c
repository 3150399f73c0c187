/* What the library's files share. */
#include "library.h"

void clua_replace(lua_State *L, const char *name, lua_CFunction function, int keep) {
    if (keep) lua_getfield(L, -1, name);
    lua_pushcclosure(L, function, keep);
    lua_setfield(L, -2, name);
}

void clua_error_to_text(lua_State *L, int index) {
    index = lua_absindex(L, index);
    luaL_tolstring(L, index, NULL);
    lua_replace(L, index);
}

const char *clua_checktext(lua_State *L, int index, size_t *length) {
    if (lua_type(L, index) == LUA_TUSERDATA && clua_is_error(L, index)) clua_error_to_text(L, index);
    return luaL_checklstring(L, index, length);
}
