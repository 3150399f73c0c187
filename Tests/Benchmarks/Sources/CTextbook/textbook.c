#include "CTextbook.h"

#include <lauxlib.h>
#include <lua.h>
#include <lualib.h>
#include <stdlib.h>
#include <string.h>

#define COUNTER "Counter"

typedef struct {
    lua_Integer count;
    char label[64]; /* the fastest C has for a text */
    char *note;     /* a text of any length, as Swift's are */
} counter;

typedef struct {
    counter *object;
    int owned;
} box;

static counter *check(lua_State *L) { return ((box *)luaL_checkudata(L, 1, COUNTER))->object; }

static int index_field(lua_State *L) {
    counter *object = check(L);
    const char *key = luaL_checkstring(L, 2);
    if (strcmp(key, "count") == 0) {
        lua_pushinteger(L, object->count);
    } else if (strcmp(key, "label") == 0) {
        lua_pushstring(L, object->label);
    } else if (strcmp(key, "note") == 0) {
        lua_pushstring(L, object->note);
    } else {
        lua_getmetatable(L, 1);
        lua_pushvalue(L, 2);
        lua_rawget(L, -2);
    }
    return 1;
}

static int set_field(lua_State *L) {
    counter *object = check(L);
    const char *key = luaL_checkstring(L, 2);
    if (strcmp(key, "count") == 0) {
        object->count = luaL_checkinteger(L, 3);
    } else if (strcmp(key, "label") == 0) {
        size_t length;
        const char *text = luaL_checklstring(L, 3, &length);
        luaL_argcheck(L, length < sizeof object->label, 3, "too long");
        memcpy(object->label, text, length + 1);
    } else if (strcmp(key, "note") == 0) {
        char *copy = strdup(luaL_checkstring(L, 3));
        free(object->note);
        object->note = copy;
    } else {
        return luaL_error(L, "no field '%s'", key);
    }
    return 0;
}

static int add(lua_State *L) {
    counter *object = check(L);
    lua_Integer amount = luaL_checkinteger(L, 2);
    lua_Integer times = luaL_checkinteger(L, 3);
    object->count += amount * times;
    lua_pushinteger(L, object->count);
    return 1;
}

static int collect(lua_State *L) {
    box *handle = luaL_checkudata(L, 1, COUNTER);
    if (handle->owned && handle->object) {
        free(handle->object->note);
        free(handle->object);
    }
    handle->object = NULL;
    return 0;
}

static void push(lua_State *L, counter *object, int owned) {
    box *handle = lua_newuserdatauv(L, sizeof *handle, 0);
    handle->object = object;
    handle->owned = owned;
    luaL_setmetatable(L, COUNTER);
}

static counter *new_counter(void) {
    counter *object = calloc(1, sizeof *object);
    if (!object) abort();
    strcpy(object->label, "a label of 20 bytes.");
    return object;
}

static int handle(lua_State *L) {
    push(L, lua_touserdata(L, lua_upvalueindex(1)), 0);
    return 1;
}

static int make(lua_State *L) {
    push(L, new_counter(), 1);
    return 1;
}

textbook *textbook_open(void) {
    lua_State *L = luaL_newstate();
    if (!L) abort();
    luaL_openlibs(L);
    luaL_newmetatable(L, COUNTER);
    lua_pushcfunction(L, index_field);
    lua_setfield(L, -2, "__index");
    lua_pushcfunction(L, set_field);
    lua_setfield(L, -2, "__newindex");
    lua_pushcfunction(L, collect);
    lua_setfield(L, -2, "__gc");
    lua_pushcfunction(L, add);
    lua_setfield(L, -2, "add");
    lua_pop(L, 1);
    counter *object = new_counter();
    object->note = strdup("a note that has 24 bytes");
    push(L, object, 1);
    lua_setglobal(L, "object");
    lua_pushlightuserdata(L, object);
    lua_pushcclosure(L, handle, 1);
    lua_setglobal(L, "handle");
    lua_pushcfunction(L, make);
    lua_setglobal(L, "make");
    return L;
}

void textbook_close(textbook *L) { lua_close(L); }

int textbook_load(textbook *L, const char *chunk) {
    if (luaL_loadstring(L, chunk) != LUA_OK) return 0;
    return luaL_ref(L, LUA_REGISTRYINDEX);
}

int textbook_run(textbook *L, int chunk, long long n) {
    lua_rawgeti(L, LUA_REGISTRYINDEX, chunk);
    lua_pushinteger(L, n);
    int ok = lua_pcall(L, 1, 0, 0) == LUA_OK;
    lua_settop(L, 0);
    return ok;
}
