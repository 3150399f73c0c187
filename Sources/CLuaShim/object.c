/* Swift functions and objects as Lua values. A member is found by the identity of its name, see fields.h. */
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "fields.h"
#include "host.h"

struct clua_class {
    const char *name;
    clua_kind kind;
    void *fallbackGet, *fallbackSet;
    clua_class *super, *next;
    clua_fields fields;
    const uint64_t *version; /* when this word changes, the kept texts are old */
    int caches;              /* user values of a handle */
    int metatable, methods; /* references */
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

/* A row in Lua is a light userdata: its number with a mark on top that no address of a process has, so that those of other
 * libraries are told apart. It costs no memory, and the same row is the same value. All light userdata have one
 * metatable, so a state has one class of rows. */
#define ROW_MARK 0xC0B9u
enum { ROW_BITS = 48 };

static inline void push_row(lua_State *L, uint64_t payload) {
    lua_pushlightuserdata(L, (void *)(uintptr_t)(payload | (uint64_t)ROW_MARK << ROW_BITS));
}

static inline int to_row(lua_State *L, int index, uint64_t *payload) {
    if (lua_type(L, index) != LUA_TLIGHTUSERDATA) return 0;
    uint64_t bits = (uint64_t)(uintptr_t)lua_touserdata(L, index);
    *payload = bits & (((uint64_t)1 << ROW_BITS) - 1);
    return bits >> ROW_BITS == ROW_MARK;
}

/* What a method's receiver stands for, a row's number in `payload`; NULL when it is none of the class. */
static void *receiver(lua_State *L, const clua_class *cls, uint64_t *payload) {
    if (cls->kind == CLUA_ROW) return to_row(L, 1, payload) ? payload : NULL;
    handle *h = find_handle(L, 1, cls);
    return h ? target(h) : NULL;
}

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
    uint64_t payload;
    void *object = receiver(L, lua_touserdata(L, lua_upvalueindex(2)), &payload);
    int enforce = host->enforce;
    host->enforce = 0;
    int status = host->callbacks.method(lua_touserdata(L, lua_upvalueindex(1)), object, L);
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

/* The cleared slot for a name, which is pinned in the table of methods. */
static clua_slot *add(lua_State *L, clua_class *cls, const char *name) {
    lua_rawgeti(L, LUA_REGISTRYINDEX, cls->methods);
    lua_pushstring(L, name);
    const void *interned = lua_topointer(L, -1);
    lua_pushboolean(L, 1);
    lua_rawset(L, -3);
    lua_pop(L, 1);
    return clua_add_field(&cls->fields, interned);
}

static handle *check(lua_State *L, const clua_class *cls) {
    handle *h = lua_rawlen(L, 1) == sizeof(handle) ? lua_touserdata(L, 1) : NULL; /* NULL for a string as long */
    if (h && h->cls == cls) return h;
    luaL_error(L, "%s expected, got %s", cls->name, luaL_typename(L, 1));
    return NULL;
}

/* A text that is kept in the handle at 1 as long as its class's version word stays. */
static int get_cached(lua_State *L, const clua_slot *s, handle *h) {
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

/* The member of a name, for the object that `target` is; `h` is its handle, which may keep texts. */
static inline int get_member(lua_State *L, const clua_class *cls, handle *h, void *target) {
    const void *name = lua_topointer(L, 2);
    for (const clua_class *c = cls; c; c = c->super) {
        const clua_slot *s = clua_find_field(&c->fields, name);
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
        if (h && s->cache && c == cls) return get_cached(L, s, h);
        return call(L, host_of(L)->callbacks.get, s->getter, target);
    }
    if (cls->fallbackGet) return call(L, host_of(L)->callbacks.get, cls->fallbackGet, target);
    return luaL_error(L, "%s has no such member", cls->name);
}

static inline int set_member(lua_State *L, const clua_class *cls, void *target) {
    const void *name = lua_topointer(L, 2);
    for (const clua_class *c = cls; c; c = c->super) {
        const clua_slot *s = clua_find_field(&c->fields, name);
        if (s && s->setter) return call(L, host_of(L)->callbacks.set, s->setter, target);
        if (s) return luaL_error(L, "%s.%s cannot be assigned", cls->name, lua_tostring(L, 2));
    }
    if (cls->fallbackSet) return call(L, host_of(L)->callbacks.set, cls->fallbackSet, target);
    return luaL_error(L, "%s has no such property", cls->name);
}

static int index_field(lua_State *L) {
    const clua_class *cls = lua_touserdata(L, lua_upvalueindex(1));
    handle *h = check(L, cls);
    return get_member(L, cls, h, target(h));
}

static int set_field(lua_State *L) {
    const clua_class *cls = lua_touserdata(L, lua_upvalueindex(1));
    handle *h = check(L, cls);
    if (cls->caches) h->version = 0;
    return set_member(L, cls, target(h));
}

static int index_row(lua_State *L) {
    uint64_t payload;
    if (!to_row(L, 1, &payload)) return luaL_error(L, "attempt to index a %s value", luaL_typename(L, 1));
    return get_member(L, lua_touserdata(L, lua_upvalueindex(1)), NULL, &payload);
}

static int set_row(lua_State *L) {
    uint64_t payload;
    if (!to_row(L, 1, &payload)) return luaL_error(L, "attempt to index a %s value", luaL_typename(L, 1));
    return set_member(L, lua_touserdata(L, lua_upvalueindex(1)), &payload);
}

/* The text of a light userdata: the class's for a row, Lua's own for another library's. */
static int describe_row(lua_State *L) {
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

static int object_gc(lua_State *L) {
    clua_host *host = host_of(L);
    handle *h = lua_touserdata(L, 1);
    if (h->object && h->slot) clua_free_slot(host, h->object, h->slot);
    if (h->object) clua_let_go(host, h->held);
    h->object = NULL;
    return 0;
}

/* ---- Classes ---- */

clua_class *clua_newclass(lua_State *L, const char *name, clua_kind kind, void *fallbackGet, void *fallbackSet) {
    clua_host *host = host_of(L);
    clua_class *cls = calloc(1, sizeof *cls);
    if (!cls) abort();
    cls->name = strdup(name);
    cls->kind = kind;
    cls->fallbackGet = fallbackGet;
    cls->fallbackSet = fallbackSet;
    if (!cls->name) abort();
    clua_init_fields(&cls->fields);
    cls->next = host->classes;
    host->classes = cls;

    lua_createtable(L, 0, 8); /* metatable */
    lua_createtable(L, 8, 8); /* methods by index, and the pinned names */
    lua_pushlightuserdata(L, cls);
    lua_pushvalue(L, -2);
    lua_pushcclosure(L, kind == CLUA_ROW ? index_row : index_field, 2);
    lua_setfield(L, -3, "__index");
    lua_pushlightuserdata(L, cls);
    lua_pushcclosure(L, kind == CLUA_ROW ? set_row : set_field, 1);
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
    if (kind == CLUA_ROW) {
        host->rows = cls;
        push_row(L, 0);
        lua_pushvalue(L, -2);
        lua_setmetatable(L, -2);
        lua_pop(L, 1);
    }
    cls->metatable = luaL_ref(L, LUA_REGISTRYINDEX);
    return cls;
}

clua_class *clua_freeclass(clua_class *cls) {
    clua_class *next = cls->next;
    free(cls->fields.slots);
    free((void *)cls->name);
    free(cls);
    return next;
}

void clua_setsuperclass(clua_class *cls, clua_class *super) { cls->super = super; }
const char *clua_classname(const clua_class *cls) { return cls->name; }

void clua_addproperty(lua_State *L, clua_class *cls, const char *name, void *getter, void *setter) {
    clua_slot *s = add(L, cls, name);
    s->getter = getter;
    s->setter = setter;
}

void clua_addcached(
    lua_State *L, clua_class *cls, const char *name, void *getter, void *setter, const uint64_t *version) {
    clua_addproperty(L, cls, name, getter, setter);
    if (!is_object(cls) || (cls->version && cls->version != version)) return; /* asked for each time */
    lua_rawgeti(L, LUA_REGISTRYINDEX, cls->methods);
    lua_pushstring(L, name);
    clua_slot *s = clua_find_field(&cls->fields, lua_topointer(L, -1));
    lua_pop(L, 2);
    if (!s) return;
    cls->version = version;
    s->cache = ++cls->caches;
}

void clua_addmethod(lua_State *L, clua_class *cls, const char *name) {
    clua_slot *s = add(L, cls, name);
    lua_rawgeti(L, LUA_REGISTRYINDEX, cls->methods);
    s->method = (int)lua_rawlen(L, -1) + 1;
    lua_insert(L, -2);
    lua_rawseti(L, -2, s->method);
    lua_pop(L, 1);
}

void clua_addmetamethod(lua_State *L, clua_class *cls, const char *name) {
    if (cls->kind == CLUA_ROW && strcmp(name, "__tostring") == 0) lua_pushcclosure(L, describe_row, 1);
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

void clua_pushrow(lua_State *L, uint64_t payload) { push_row(L, payload); }

void clua_pushrows(lua_State *L, const uint64_t *payloads, size_t count) {
    lua_createtable(L, count > INT_MAX ? INT_MAX : (int)count, 0);
    for (size_t i = 0; i < count; i++) {
        push_row(L, payloads[i]);
        lua_rawseti(L, -2, (lua_Integer)i + 1);
    }
}

int clua_hasrows(lua_State *L) { return host_of(L)->rows != NULL; }

clua_class *clua_classof(lua_State *L, int index, void **object) {
    uint64_t payload;
    if (to_row(L, index, &payload)) {
        if (object) *object = NULL;
        return host_of(L)->rows;
    }
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
    if (cls->kind == CLUA_ROW) return to_row(L, index, payload);
    handle *h = find_handle(L, index, cls);
    if (h) *payload = h->payload;
    return h != NULL;
}
