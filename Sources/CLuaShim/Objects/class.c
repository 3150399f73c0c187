/* Declaration of classes. */
#include <stdlib.h>
#include <string.h>

#include "object.h"

/* The free slot for a missing name. */
static slot *vacant(const clua_class *cls, const void *name) {
    size_t i = place(cls, name);
    while (cls->slots[i].name) i = (i + 1) & mask(cls);
    return &cls->slots[i];
}

/* Doubles the slots, and selects the best of several factors. */
static void grow(clua_class *cls) {
    slot *old = cls->slots, *best = NULL;
    size_t size = mask(cls) + 1, fewest = SIZE_MAX;
    uint64_t factor = cls->factor, chosen = factor;
    cls->shift--;
    for (int attempt = 0; attempt < 16 && fewest; attempt++) {
        factor = factor * 6364136223846793005u + 1442695040888963407u; /* Knuth's MMIX generator */
        cls->factor = factor | 1;
        cls->slots = calloc(size * 2, sizeof *cls->slots);
        if (!cls->slots) abort();
        size_t displaced = 0;
        for (size_t i = 0; i < size; i++) {
            if (!old[i].name) continue;
            slot *s = vacant(cls, old[i].name);
            displaced += s != &cls->slots[place(cls, old[i].name)];
            *s = old[i];
        }
        if (displaced < fewest) {
            free(best);
            best = cls->slots;
            fewest = displaced;
            chosen = cls->factor;
        } else {
            free(cls->slots);
        }
    }
    free(old);
    cls->slots = best;
    cls->factor = chosen;
}

/* The existing slot for a name, or a free one; the name is pinned in the table of methods. */
static slot *add(lua_State *L, clua_class *cls, const char *name) {
    lua_rawgeti(L, LUA_REGISTRYINDEX, cls->methods);
    lua_pushstring(L, name);
    const void *interned = lua_topointer(L, -1);
    lua_pushboolean(L, 1);
    lua_rawset(L, -3);
    lua_pop(L, 1);
    slot *s = find(cls, interned);
    if (!s) {
        if (++cls->count * 4 > mask(cls)) grow(cls);
        s = vacant(cls, interned);
    }
    memset(s, 0, sizeof *s);
    s->name = interned;
    return s;
}

clua_class *clua_newclass(lua_State *L, const char *name, clua_kind kind) {
    clua_host *host = host_of(L);
    clua_class *cls = calloc(1, sizeof *cls);
    if (!cls) abort();
    cls->name = strdup(name);
    cls->kind = kind;
    cls->factor = 1442695040888963407u;
    cls->shift = 60;
    cls->slots = calloc(16, sizeof *cls->slots);
    if (!cls->name || !cls->slots) abort();
    cls->next = host->classes;
    host->classes = cls;

    lua_createtable(L, 0, 8); /* metatable */
    lua_createtable(L, 8, 8); /* methods by index, and pinned names */
    lua_pushlightuserdata(L, cls);
    lua_pushvalue(L, -2);
    lua_pushcclosure(L, kind == CLUA_ROW ? clua_index_row : clua_index_field, 2);
    lua_setfield(L, -3, "__index");
    lua_pushlightuserdata(L, cls);
    lua_pushcclosure(L, kind == CLUA_ROW ? clua_set_row : clua_set_field, 1);
    lua_setfield(L, -3, "__newindex");
    cls->methods = luaL_ref(L, LUA_REGISTRYINDEX);
    if (is_object(cls)) {
        lua_pushcfunction(L, clua_object_gc);
        lua_setfield(L, -2, "__gc");
    }
    lua_pushboolean(L, 0);
    lua_setfield(L, -2, "__metatable");
    lua_pushstring(L, name);
    lua_setfield(L, -2, "__name");
    if (kind == CLUA_ROW) clua_set_row_metatable(L, cls);
    cls->metatable = luaL_ref(L, LUA_REGISTRYINDEX);
    return cls;
}

clua_class *clua_freeclass(clua_class *cls) {
    clua_class *next = cls->next;
    free(cls->slots);
    free((void *)cls->name);
    free(cls);
    return next;
}

void clua_setfallback(clua_class *cls, void *getter, void *setter) {
    cls->fallbackGet = getter;
    cls->fallbackSet = setter;
}

const char *clua_classname(const clua_class *cls) { return cls->name; }

void clua_addproperty(lua_State *L, clua_class *cls, const char *name, void *getter, void *setter) {
    slot *s = add(L, cls, name);
    s->getter = getter;
    s->setter = setter;
}

void clua_addmethod(lua_State *L, clua_class *cls, const char *name) {
    slot *s = add(L, cls, name);
    lua_rawgeti(L, LUA_REGISTRYINDEX, cls->methods);
    s->method = (int)lua_rawlen(L, -1) + 1;
    lua_insert(L, -2);
    lua_rawseti(L, -2, s->method);
    lua_pop(L, 1);
}

void clua_addmetamethod(lua_State *L, clua_class *cls, const char *name) {
    if (cls->kind == CLUA_ROW && strcmp(name, "__tostring") == 0) clua_wrap_row_text(L);
    lua_rawgeti(L, LUA_REGISTRYINDEX, cls->metatable);
    lua_insert(L, -2);
    lua_setfield(L, -2, name);
    lua_pop(L, 1);
}
