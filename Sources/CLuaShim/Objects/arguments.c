/* Checks the arguments of a call against their declaration, without calling Swift for each. */
#include <string.h>

#include "../Library/library.h"

/* Checks for ASCII only, which covers nearly every text; Swift checks other UTF-8. */
static int is_ascii(const char *bytes, size_t length) {
    uint64_t word, high = 0;
    size_t i = 0;
    for (; i + 8 <= length; i += 8) {
        memcpy(&word, bytes + i, 8);
        high |= word;
    }
    for (; i < length; i++) high |= (unsigned char)bytes[i];
    return (high & 0x8080808080808080u) == 0;
}

static int is_text(lua_State *L, int index) {
    size_t length;
    const char *bytes = lua_tolstring(L, index, &length);
    return is_ascii(bytes, length);
}

static int is_one_of(lua_State *L, int index, int takes, int type) {
    switch (type) {
    case LUA_TNUMBER: return takes & CLUA_TAKES_OR_NUMBER;
    case LUA_TSTRING:
        return (takes & CLUA_TAKES_OR_STRING) || ((takes & CLUA_TAKES_OR_TEXT) && is_text(L, index));
    case LUA_TTABLE: return takes & CLUA_TAKES_OR_TABLE;
    case LUA_TFUNCTION: return takes & CLUA_TAKES_OR_FUNCTION;
    case LUA_TLIGHTUSERDATA: /* a row */
    case LUA_TUSERDATA: return takes & CLUA_TAKES_OR_USERDATA;
    default: return 0;
    }
}

static int conforms(lua_State *L, int index, int takes, int type) {
    switch (takes) {
    case CLUA_TAKES_ANY: return 1;
    case CLUA_TAKES_BOOLEAN: return type == LUA_TBOOLEAN;
    case CLUA_TAKES_INTEGER: {
        int ok;
        if (type != LUA_TNUMBER) return 0;
        lua_tointegerx(L, index, &ok);
        return ok;
    }
    case CLUA_TAKES_NUMBER: return type == LUA_TNUMBER;
    case CLUA_TAKES_STRING: return type == LUA_TSTRING;
    case CLUA_TAKES_TEXT: return type == LUA_TSTRING && is_text(L, index);
    case CLUA_TAKES_TABLE: return type == LUA_TTABLE;
    case CLUA_TAKES_FUNCTION: return type == LUA_TFUNCTION;
    case CLUA_TAKES_USERDATA: return type == LUA_TUSERDATA || type == LUA_TLIGHTUSERDATA;
    case CLUA_TAKES_GENERAL: return 0;
    default: return (takes & CLUA_TAKES_ONE_OF) && is_one_of(L, index, takes, type);
    }
}

/* Whether the argument is one of the words at `words`; advances to the words of the next choice. */
static const char *choose(lua_State *L, int index, int type, const char *words, int *isOne) {
    size_t length, size;
    const char *text = type == LUA_TSTRING ? lua_tolstring(L, index, &length) : NULL;
    *isOne = 0;
    for (; *words; words += size + 1) {
        size = strlen(words);
        if (text && size == length && memcmp(text, words, size) == 0) *isOne = 1;
    }
    return words + 1;
}

int clua_conforms(lua_State *L, int base, uint64_t parameters, const char *words, int most) {
    for (int index = base; parameters; parameters >>= 8, index++) {
        int takes = (int)(parameters & 0xff), isNilToo = takes & CLUA_TAKES_NIL_TOO, isOne;
        int type = lua_type(L, index);
        takes &= ~CLUA_TAKES_NIL_TOO;
        if (takes == CLUA_TAKES_CHOICE)
            words = choose(L, index, type, words, &isOne);
        else
            isOne = (isNilToo && type <= LUA_TNIL) || conforms(L, index, takes, type);
        if (!isOne && !(isNilToo && type <= LUA_TNIL)) return 0;
    }
    return lua_gettop(L) <= most;
}

/* Whether the value at 1 is called as a function, through the running function as its `__call`. */
static int is_called_value(lua_State *L) {
    lua_Debug ar;
    if (!lua_getstack(L, 0, &ar) || luaL_getmetafield(L, 1, "__call") == LUA_TNIL) return 0;
    lua_getinfo(L, "f", &ar);
    int isOne = lua_rawequal(L, -1, -2);
    lua_pop(L, 2);
    return isOne;
}

static lua_CFunction function_at(lua_State *L, int level) {
    lua_Debug ar;
    if (!lua_getstack(L, level, &ar)) return NULL;
    lua_getinfo(L, "f", &ar);
    lua_CFunction function = lua_tocfunction(L, -1);
    lua_pop(L, 1);
    return function;
}

/* Whether a script has written the arguments of the running function: in a call, or in one by pcall or xpcall. Others
 * come from who calls it: the host, gsub or sort, a `for` loop, an operator. */
static int is_written(lua_State *L, int isFunction) {
    lua_Debug ar;
    if (!lua_getstack(L, 1, &ar)) return 0;
    lua_getinfo(L, "S", &ar);
    if (ar.what[0] == 'C') {
        lua_CFunction caller = function_at(L, 1), next = function_at(L, 2);
        return clua_is_protecting(caller) || (next && clua_is_protecting(next) && !clua_is_handling(caller));
    }
    if (!lua_getstack(L, 0, &ar)) return 0;
    lua_getinfo(L, "n", &ar);
    if (strcmp(ar.namewhat, "for iterator") == 0 || strcmp(ar.namewhat, "metamethod") == 0 ||
        strcmp(ar.namewhat, "hook") == 0)
        return 0;
    return !(isFunction && is_called_value(L));
}

void clua_dropnils(lua_State *L, int from) {
    int top = lua_gettop(L);
    while (top >= from && lua_isnil(L, top)) top--;
    lua_settop(L, top);
}

int clua_surplus(lua_State *L, int most, int isFunction) {
    clua_dropnils(L, most + 1);
    int top = lua_gettop(L);
    if (top > most && lua_checkstack(L, 4) && is_written(L, isFunction)) return top - most;
    lua_settop(L, most);
    return 0;
}
