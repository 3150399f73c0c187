/* Rows of texts as tables, for functions that get and give back very many: a call a row instead of three a cell. */
#include <string.h>

#include "host.h"

void clua_pushtextrow(lua_State *L, int names, const clua_text *texts, int count) {
    names = lua_absindex(L, names);
    clua_createtable(L, 0, count);
    for (int i = 0; i < count; i++) {
        if (!texts[i].bytes) continue;
        lua_rawgeti(L, names, i + 1);
        clua_pushlstring(L, texts[i].bytes, texts[i].length);
        clua_rawset(L, -3);
    }
}

int clua_comparetextrow(
    lua_State *L, int index, int names, const clua_text *texts, int count, unsigned char *states) {
    int found = 0, entries = 0;
    index = lua_absindex(L, index);
    names = lua_absindex(L, names);
    for (int i = 0; i < count; i++) {
        size_t length;
        lua_rawgeti(L, names, i + 1);
        int type = lua_rawget(L, index);
        if (type == LUA_TNIL) {
            states[i] = CLUA_TEXT_NONE;
        } else {
            const char *bytes = type == LUA_TSTRING ? lua_tolstring(L, -1, &length) : NULL;
            int is_same = bytes && texts[i].bytes && length == texts[i].length &&
                          memcmp(bytes, texts[i].bytes, length) == 0;
            states[i] = is_same ? CLUA_TEXT_SAME : CLUA_TEXT_OTHER;
            found++;
        }
        lua_pop(L, 1);
    }
    /* The table does not change between two steps: lua_next cannot raise. */
    for (lua_pushnil(L); lua_next(L, index) != 0; lua_pop(L, 1)) entries++;
    return entries - found;
}
