/* Reads a table with known fields in one call: iterating over its entries from Swift takes a dozen calls each.
 *
 * Names are compared by identity, like those of an object's fields: Lua interns short strings, layouts pin names. */
#include <string.h>

#include "../Host/host.h"

const void *clua_pinname(lua_State *L, const char *name, int *reference) {
    lua_pushstring(L, name);
    const void *identity = lua_topointer(L, -1);
    *reference = luaL_ref(L, LUA_REGISTRYINDEX);
    return identity;
}

const char *clua_readtext(lua_State *L, int index, const clua_layout *layout, unsigned field, size_t *length) {
    if (lua_type(L, index) != LUA_TTABLE) return NULL;
    lua_rawgeti(L, LUA_REGISTRYINDEX, layout->references[field]);
    const char *text = lua_rawget(L, index) == LUA_TSTRING ? lua_tolstring(L, -1, length) : NULL;
    lua_pop(L, 1);
    return text;
}

/* Reads the value on top if it is of a supported kind; records the kind. */
static int read_value(lua_State *L, const clua_class *cls, clua_field *field) {
    switch (lua_type(L, -1)) {
    case LUA_TSTRING:
        field->bytes = lua_tolstring(L, -1, &field->length);
        field->kind = CLUA_FIELD_STRING;
        return 1;
    case LUA_TNUMBER: {
        int ok;
        field->integer = lua_tointegerx(L, -1, &ok);
        field->kind = CLUA_FIELD_INTEGER;
        return ok;
    }
    case LUA_TLIGHTUSERDATA:
    case LUA_TUSERDATA:
        field->kind = CLUA_FIELD_INLINE;
        return cls && clua_toinline(L, -1, cls, &field->payload);
    default: return 0;
    }
}

int clua_readrecord(lua_State *L, int index, const clua_layout *layout, clua_field *fields) {
    memset(fields, 0, layout->count * sizeof *fields);
    if (lua_type(L, index) != LUA_TTABLE) return 0;
    lua_pushnil(L);
    while (lua_next(L, index)) {
        /* Check the type: a light userdata's payload may equal a string's address. */
        const void *name = lua_type(L, -2) == LUA_TSTRING ? lua_topointer(L, -2) : NULL;
        unsigned i = 0;
        while (i < layout->count && layout->names[i] != name) i++;
        if (i == layout->count || !read_value(L, layout->classes[i], &fields[i])) {
            lua_pop(L, 2);
            return 0;
        }
        lua_pop(L, 1);
    }
    return 1;
}
