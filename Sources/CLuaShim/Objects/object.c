/* Handles: userdata that represent Swift objects. */
#include "object.h"

int clua_object_gc(lua_State *L) {
    clua_host *host = host_of(L);
    handle *h = lua_touserdata(L, 1);
    if (h->object && h->slot) clua_free_slot(host, h->object, h->slot);
    if (h->object) clua_let_go(host, h->held);
    h->object = NULL;
    return 0;
}

static int push_handle(lua_State *L, clua_class *cls, void *object, int canonical) {
    clua_host *host = host_of(L);
    int known = canonical ? clua_slot_of(host, object) : 0;
    if (known) {
        lua_rawgeti(L, LUA_REGISTRYINDEX, host->handles);
        int type = lua_rawgeti(L, -1, known);
        lua_replace(L, -2);
        if (type == LUA_TUSERDATA) return 0;
        lua_pop(L, 1); /* it is being collected */
    }
    if (!clua_admits(L, sizeof(handle))) {
        lua_pushnil(L);
        return 0;
    }
    unsigned held = clua_hold(host, object);
    clua_pace(host, L);
    handle *h = lua_newuserdatauv(L, sizeof *h, 0);
    h->cls = cls;
    h->object = object;
    h->held = held;
    h->slot = 0;
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

int clua_pushobject(lua_State *L, clua_class *cls, void *object) {
    return push_handle(L, cls, object, cls->kind == CLUA_OBJECT);
}

/* ---- Handles that are taken back ---- */

int clua_pushownhandle(lua_State *L, clua_class *cls, void *object) { return push_handle(L, cls, object, 0); }

static int refuse_revoked(lua_State *L) { return luaL_error(L, "%s", lua_tostring(L, lua_upvalueindex(1))); }

void clua_revoke(lua_State *L, int index, const char *message) {
    static const char *const refused[] = {"__index", "__newindex", "__call"};
    handle *h = lua_touserdata(L, index);
    if (!h || lua_rawlen(L, index) != sizeof(handle) || !h->object) return;
    index = lua_absindex(L, index);
    clua_let_go(host_of(L), h->held);
    h->cls = NULL;
    h->object = NULL;
    /* Without the class's metamethods; the object needs no finalizer any more. */
    lua_createtable(L, 0, 5);
    lua_pushstring(L, message);
    lua_pushcclosure(L, refuse_revoked, 1);
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        lua_pushvalue(L, -1);
        lua_setfield(L, -3, refused[i]);
    }
    lua_pop(L, 1);
    lua_pushboolean(L, 0);
    lua_setfield(L, -2, "__metatable");
    lua_setmetatable(L, index);
}

const char *clua_revocation(lua_State *L, int index) {
    if (lua_type(L, index) != LUA_TUSERDATA || !lua_checkstack(L, 3) || !lua_getmetatable(L, index)) return NULL;
    lua_pushliteral(L, "__index");
    lua_rawget(L, -2);
    const char *message = NULL;
    if (lua_tocfunction(L, -1) == refuse_revoked) {
        lua_getupvalue(L, -1, 1);
        message = lua_tostring(L, -1); /* the function retains it */
        lua_pop(L, 1);
    }
    lua_pop(L, 2);
    return message;
}

void clua_pushinline(lua_State *L, clua_class *cls, uint64_t payload) {
    if (!clua_admits(L, sizeof(handle))) return lua_pushnil(L);
    handle *h = lua_newuserdatauv(L, sizeof *h, 0);
    h->cls = cls;
    h->payload = payload;
    h->slot = 0;
    lua_rawgeti(L, LUA_REGISTRYINDEX, cls->metatable);
    lua_setmetatable(L, -2);
}

clua_class *clua_classof(lua_State *L, int index) {
    uint64_t payload;
    if (to_row(L, index, &payload)) return host_of(L)->rows;
    if (lua_type(L, index) != LUA_TUSERDATA || lua_rawlen(L, index) != sizeof(handle)) return NULL;
    handle *h = lua_touserdata(L, index);
    /* The word may belong to a foreign userdata, so it is compared but not dereferenced. */
    clua_class *c = host_of(L)->classes;
    while (c && c != h->cls) c = c->next;
    return c;
}

/* ---- Errors ---- */

static int is_error(lua_State *L, int index) { return find_handle(L, index, host_of(L)->errors) != NULL; }

void clua_set_error_class(clua_host *host, const clua_class *cls) {
    host->errors = cls;
    host->isError = cls ? is_error : NULL;
}

int clua_descends(const clua_class *cls, const clua_class *ancestor) {
    for (const clua_class *each = ancestor->subclasses; each; each = each->sibling)
        if (each == cls || clua_descends(cls, each)) return 1;
    return 0;
}

void clua_setsuperclass(clua_class *cls, clua_class *superclass) {
    cls->sibling = superclass->subclasses;
    superclass->subclasses = cls;
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
