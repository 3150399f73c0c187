/* Swift functions and objects as Lua values.
 *
 * A class's fields are found by the identity of their name: Lua interns short strings, and a class pins its field names,
 * so a lookup is a multiplication and one comparison: the factor is one for which few names fall together, or none. No
 * other key has the identity of a string that lives, and a number has none (NULL). */
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "host.h"

typedef struct {
    const void *name; /* the interned string's identity; NULL: free */
    void *getter, *setter;
    int method; /* index in the table of methods; 0: a property */
    int cache;  /* the user value that keeps its text; 0: it is asked for each time */
} slot;

struct clua_class {
    const char *name;
    clua_kind kind;
    void *fallbackGet, *fallbackSet;
    clua_class *super, *next;
    slot *slots;
    uint64_t factor;
    unsigned shift, count; /* 64 - shift bits of the product are the place */
    const uint64_t *version; /* when this word changes, the kept texts are old */
    int caches;              /* user values of a handle */
    int metatable, methods; /* references */
    int rows;               /* reference: the weak tables of rows' handles */
};

typedef struct {
    const clua_class *cls;
    union {
        void *object;
        uint64_t payload;
    };
    int slot;         /* of a canonical handle; 0: of its own */
    unsigned held;    /* the object's place among what is held */
    uint64_t version; /* of the kept texts; 0: there are none */
} handle;

/* ---- Calls ---- */

static handle *find_handle(lua_State *L, int index, const clua_class *cls);

static inline int is_object(const clua_class *cls) { return cls->kind <= CLUA_BOX; }

static inline void *target(handle *h) { return is_object(h->cls) ? h->object : (void *)&h->payload; }

/* Ends a call from Lua into Swift: raises or yields now that no Swift frame stands. */
static int finish(lua_State *L, int status) {
    switch (status) {
    case CLUA_RAISE_HERE:
        luaL_where(L, 1);
        lua_insert(L, -2);
        lua_concat(L, 2);
        return lua_error(L);
    case CLUA_RAISE:
        return lua_error(L);
    case CLUA_YIELD:
        return lua_yield(L, lua_gettop(L));
    default:
        return status;
    }
}

static inline int call(lua_State *L, int (*entry)(void *, void *, lua_State *), void *box, void *object) {
    clua_host *host = host_of(L);
    clua_check_stack(L);
    int enforce = host->enforce;
    host->enforce = 0;
    int status = entry(box, object, L);
    host->enforce = enforce;
    return status >= 0 ? status : finish(L, status);
}

static int invoke(lua_State *L, void *function) {
    clua_host *host = host_of(L);
    clua_check_stack(L);
    if (host->releaseCount > 256) clua_drain_releases(host);
    int enforce = host->enforce;
    host->enforce = 0;
    int status = host->callbacks.call(function, L);
    host->enforce = enforce;
    return status >= 0 ? status : finish(L, status);
}

static int method_trampoline(lua_State *L) {
    clua_host *host = host_of(L);
    if (host->releaseCount > 256) clua_drain_releases(host);
    handle *h = find_handle(L, 1, lua_touserdata(L, lua_upvalueindex(2)));
    int enforce = host->enforce;
    host->enforce = 0;
    int status = host->callbacks.method(lua_touserdata(L, lua_upvalueindex(1)), h ? target(h) : NULL, L);
    host->enforce = enforce;
    return status >= 0 ? status : finish(L, status);
}

void clua_pushmethod(lua_State *L, clua_class *cls, void *function) {
    lua_pushlightuserdata(L, function);
    lua_pushlightuserdata(L, cls);
    lua_pushcclosure(L, method_trampoline, 2);
}

int clua_trampoline(lua_State *L) { return invoke(L, lua_touserdata(L, lua_upvalueindex(1))); }

typedef struct {
    void *function;
    unsigned held; /* its place among what is held */
} function_box;

static int owned_trampoline(lua_State *L) {
    return invoke(L, ((function_box *)lua_touserdata(L, lua_upvalueindex(1)))->function);
}

void clua_pushfunction(lua_State *L, void *function) {
    lua_pushlightuserdata(L, function);
    lua_pushcclosure(L, clua_trampoline, 1);
}

static int function_gc(lua_State *L) {
    clua_let_go(host_of(L), ((function_box *)lua_touserdata(L, 1))->held);
    return 0;
}

void clua_pushownedfunction(lua_State *L, void *function) {
    static const char key = 0;
    unsigned held = clua_hold(host_of(L), function);
    function_box *box = lua_newuserdatauv(L, sizeof *box, 0);
    box->function = function;
    box->held = held;
    if (lua_rawgetp(L, LUA_REGISTRYINDEX, &key) != LUA_TTABLE) {
        lua_pop(L, 1);
        lua_createtable(L, 0, 2);
        lua_pushcfunction(L, function_gc);
        lua_setfield(L, -2, "__gc");
        lua_pushvalue(L, -1);
        lua_rawsetp(L, LUA_REGISTRYINDEX, &key);
    }
    lua_setmetatable(L, -2);
    lua_pushcclosure(L, owned_trampoline, 1);
}

/* ---- Fields ---- */

static inline size_t place(const clua_class *cls, const void *name) {
    return (size_t)((uint64_t)(uintptr_t)name * cls->factor >> cls->shift);
}

static inline size_t mask(const clua_class *cls) { return ((size_t)1 << (64 - cls->shift)) - 1; }

static inline slot *find(const clua_class *cls, const void *name) {
    if (!name) return NULL;
    for (size_t i = place(cls, name); cls->slots[i].name; i = (i + 1) & mask(cls))
        if (cls->slots[i].name == name) return &cls->slots[i];
    return NULL;
}

/* The free slot for a name that has none. */
static slot *vacant(const clua_class *cls, const void *name) {
    size_t i = place(cls, name);
    while (cls->slots[i].name) i = (i + 1) & mask(cls);
    return &cls->slots[i];
}

/* Twice the slots, by the best of some factors. */
static void grow(clua_class *cls) {
    slot *old = cls->slots, *best = NULL;
    size_t size = mask(cls) + 1, fewest = SIZE_MAX;
    uint64_t factor = cls->factor, chosen = factor;
    cls->shift--;
    for (int attempt = 0; attempt < 16 && fewest; attempt++) {
        factor = factor * 6364136223846793005u + 1442695040888963407u; /* Knuth's, in MMIX */
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

/* The free or equal slot for a name; the name is pinned in the table of methods. */
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

static handle *check(lua_State *L, const clua_class *cls) {
    handle *h = lua_rawlen(L, 1) == sizeof(handle) ? lua_touserdata(L, 1) : NULL; /* NULL for a string as long */
    if (h && h->cls == cls) return h;
    luaL_error(L, "%s expected, got %s", cls->name, luaL_typename(L, 1));
    return NULL;
}

/* A text that is kept in the handle at 1 as long as its class's version word stays. */
static int get_cached(lua_State *L, const slot *s, handle *h) {
    uint64_t version = *h->cls->version;
    if (h->version == version) {
        if (lua_getiuservalue(L, 1, s->cache) == LUA_TSTRING) return 1;
        lua_pop(L, 1);
    } else {
        for (int i = 1; i <= h->cls->caches; i++) {
            lua_pushnil(L);
            lua_setiuservalue(L, 1, i);
        }
        h->version = version;
    }
    int status = call(L, host_of(L)->callbacks.get, s->getter, target(h));
    if (status == 1 && lua_type(L, -1) == LUA_TSTRING && *h->cls->version == version) {
        lua_pushvalue(L, -1);
        lua_setiuservalue(L, 1, s->cache);
    }
    return status;
}

static int index_field(lua_State *L) {
    const clua_class *cls = lua_touserdata(L, lua_upvalueindex(1));
    handle *h = check(L, cls);
    const void *name = lua_topointer(L, 2);
    for (const clua_class *c = cls; c; c = c->super) {
        const slot *s = find(c, name);
        if (!s) continue;
        if (s->method) {
            if (c == cls)
                lua_rawgeti(L, lua_upvalueindex(2), s->method);
            else {
                lua_rawgeti(L, LUA_REGISTRYINDEX, c->methods);
                lua_rawgeti(L, -1, s->method);
            }
            return 1;
        }
        if (s->cache && c == cls) return get_cached(L, s, h);
        return call(L, host_of(L)->callbacks.get, s->getter, target(h));
    }
    if (cls->fallbackGet) return call(L, host_of(L)->callbacks.get, cls->fallbackGet, target(h));
    return luaL_error(L, "%s has no such member", cls->name);
}

static int set_field(lua_State *L) {
    const clua_class *cls = lua_touserdata(L, lua_upvalueindex(1));
    handle *h = check(L, cls);
    if (cls->caches) h->version = 0;
    const void *name = lua_topointer(L, 2);
    for (const clua_class *c = cls; c; c = c->super) {
        const slot *s = find(c, name);
        if (s && s->setter) return call(L, host_of(L)->callbacks.set, s->setter, target(h));
        if (s) return luaL_error(L, "%s.%s cannot be assigned", cls->name, lua_tostring(L, 2));
    }
    if (cls->fallbackSet) return call(L, host_of(L)->callbacks.set, cls->fallbackSet, target(h));
    return luaL_error(L, "%s has no such property", cls->name);
}

static int object_gc(lua_State *L) {
    clua_host *host = host_of(L);
    handle *h = lua_touserdata(L, 1);
    if (h->object && h->slot) clua_free_slot(host, h->object, h->slot);
    if (h->object) clua_let_go(host, h->held);
    h->object = NULL;
    return 0;
}

/* ---- Classes ---- */

/* Weak tables of so many handles each, in an array of them: an item that is touched costs the table of its neighbours, and
 * a handle that is dropped no more than its memory, for there is no finalizer. */
enum { ROWS_A_TABLE = 256 };

static int new_row_tables(lua_State *L) {
    lua_createtable(L, 0, 1);
    lua_createtable(L, 0, 1);
    lua_pushliteral(L, "v");
    lua_setfield(L, -2, "__mode");
    lua_rawseti(L, -2, 0); /* the metatable of each */
    return luaL_ref(L, LUA_REGISTRYINDEX);
}

clua_class *clua_newclass(lua_State *L, const char *name, clua_kind kind, void *fallbackGet, void *fallbackSet) {
    clua_host *host = host_of(L);
    clua_class *cls = calloc(1, sizeof *cls);
    if (!cls) abort();
    cls->name = strdup(name);
    cls->kind = kind;
    cls->fallbackGet = fallbackGet;
    cls->fallbackSet = fallbackSet;
    cls->factor = 1442695040888963407u;
    cls->shift = 60;
    cls->slots = calloc(16, sizeof *cls->slots);
    if (!cls->name || !cls->slots) abort();
    cls->next = host->classes;
    host->classes = cls;

    lua_createtable(L, 0, 8); /* metatable */
    lua_createtable(L, 8, 8); /* methods by index, and the pinned names */
    lua_pushlightuserdata(L, cls);
    lua_pushvalue(L, -2);
    lua_pushcclosure(L, index_field, 2);
    lua_setfield(L, -3, "__index");
    lua_pushlightuserdata(L, cls);
    lua_pushcclosure(L, set_field, 1);
    lua_setfield(L, -3, "__newindex");
    cls->methods = luaL_ref(L, LUA_REGISTRYINDEX);
    if (is_object(cls)) {
        lua_pushcfunction(L, object_gc);
        lua_setfield(L, -2, "__gc");
    }
    lua_pushboolean(L, 0);
    lua_setfield(L, -2, "__metatable");
    lua_pushstring(L, name);
    lua_setfield(L, -2, "__name");
    cls->metatable = luaL_ref(L, LUA_REGISTRYINDEX);
    if (kind == CLUA_ROW) cls->rows = new_row_tables(L);
    return cls;
}

clua_class *clua_freeclass(clua_class *cls) {
    clua_class *next = cls->next;
    free(cls->slots);
    free((void *)cls->name);
    free(cls);
    return next;
}

void clua_setsuperclass(clua_class *cls, clua_class *super) { cls->super = super; }
const char *clua_classname(const clua_class *cls) { return cls->name; }

void clua_addproperty(lua_State *L, clua_class *cls, const char *name, void *getter, void *setter) {
    slot *s = add(L, cls, name);
    s->getter = getter;
    s->setter = setter;
}

void clua_addcached(
    lua_State *L, clua_class *cls, const char *name, void *getter, void *setter, const uint64_t *version) {
    clua_addproperty(L, cls, name, getter, setter);
    if (!is_object(cls) || (cls->version && cls->version != version)) return; /* asked for each time */
    lua_rawgeti(L, LUA_REGISTRYINDEX, cls->methods);
    lua_pushstring(L, name);
    slot *s = find(cls, lua_topointer(L, -1));
    lua_pop(L, 2);
    if (!s) return;
    cls->version = version;
    s->cache = ++cls->caches;
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
    lua_rawgeti(L, LUA_REGISTRYINDEX, cls->metatable);
    lua_insert(L, -2);
    lua_setfield(L, -2, name);
    lua_pop(L, 1);
}

/* ---- Handles ---- */

int clua_pushobject(lua_State *L, clua_class *cls, void *object) {
    clua_host *host = host_of(L);
    int canonical = cls->kind == CLUA_OBJECT;
    int known = canonical ? clua_slot_of(host, object) : 0;
    if (known) {
        lua_rawgeti(L, LUA_REGISTRYINDEX, host->handles);
        int type = lua_rawgeti(L, -1, known);
        lua_replace(L, -2);
        if (type == LUA_TUSERDATA) return 0;
        lua_pop(L, 1); /* it is dying */
    }
    unsigned held = clua_hold(host, object);
    clua_pace(host, L);
    handle *h = lua_newuserdatauv(L, sizeof *h, cls->caches);
    h->cls = cls;
    h->object = object;
    h->held = held;
    h->slot = 0;
    h->version = 0;
    lua_rawgeti(L, LUA_REGISTRYINDEX, cls->metatable);
    lua_setmetatable(L, -2);
    if (canonical) {
        h->slot = clua_take_slot(host, object);
        lua_rawgeti(L, LUA_REGISTRYINDEX, host->handles);
        lua_pushvalue(L, -2);
        lua_rawseti(L, -2, h->slot);
        lua_pop(L, 1);
    }
    return 1;
}

void clua_pushinline(lua_State *L, clua_class *cls, uint64_t payload) {
    handle *h = lua_newuserdatauv(L, sizeof *h, 0);
    h->cls = cls;
    h->payload = payload;
    h->slot = 0;
    h->version = 0;
    lua_rawgeti(L, LUA_REGISTRYINDEX, cls->metatable);
    lua_setmetatable(L, -2);
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

clua_class *clua_classof(lua_State *L, int index, void **object) {
    if (lua_type(L, index) != LUA_TUSERDATA || lua_rawlen(L, index) != sizeof(handle)) return NULL;
    handle *h = lua_touserdata(L, index);
    for (clua_class *c = host_of(L)->classes; c; c = c->next) {
        if (c != h->cls) continue;
        if (object) *object = is_object(c) ? h->object : NULL;
        return c;
    }
    return NULL;
}

static handle *find_handle(lua_State *L, int index, const clua_class *cls) {
    handle *h = lua_rawlen(L, index) == sizeof(handle) ? lua_touserdata(L, index) : NULL;
    if (!h) return NULL;
    if (h->cls == cls) return h;
    /* A subclass: the word may be any foreign userdata's, so look it up before following it. */
    for (const clua_class *c = clua_classof(L, index, NULL); c; c = c->super)
        if (c == cls) return h;
    return NULL;
}

void *clua_toobject(lua_State *L, int index, const clua_class *cls) {
    handle *h = find_handle(L, index, cls);
    return h ? h->object : NULL;
}

int clua_toinline(lua_State *L, int index, const clua_class *cls, uint64_t *payload) {
    handle *h = find_handle(L, index, cls);
    if (h) *payload = h->payload;
    return h != NULL;
}
