/* Swift functions and methods as Lua values. */
#include <math.h>
#include <string.h>

#include "object.h"

static int resumed(lua_State *L, int status, lua_KContext context);

int clua_finish(lua_State *L, int status) {
    if (host_of(L)->denied) {
        if (status >= 0) return clua_raise_denial(L);
        host_of(L)->denied = 0; /* the function has an error of its own, or waits */
    }
    /* The function may have failed because it was stopped: serve the stop before an error handler of the script gets
     * the error. */
    if (status == CLUA_RAISE || status == CLUA_RAISE_HERE) clua_poll(L);
    switch (status) {
    case CLUA_RAISE_HERE:
        clua_where(L);
        lua_insert(L, -2);
        lua_concat(L, 2);
        return lua_error(L);
    case CLUA_RAISE:
        return lua_error(L);
    case CLUA_WAIT:
        return clua_wait(L, resumed);
    default:
        return status;
    }
}

/* The same for a function that may have returned. A stopped function may return normally: serve the stop before the
 * script gets its results. */
static inline int ended(lua_State *L, int status) {
    if (status < 0 || host_of(L)->denied) return clua_finish(L, status);
    clua_poll(L);
    return status;
}

static int invoke(lua_State *L, void *function) {
    clua_host *host = host_of(L);
    clua_check_stack(L);
    if (host->releaseCount > 256) clua_drain_releases(host);
    int enforce = host->enforce;
    host->enforce = 0;
    int status = host->callbacks.call(function, L);
    host->enforce = enforce;
    return ended(L, status);
}

/* The receiver's object, or a row's number in `payload`; NULL for a receiver of another class. */
static inline void *receiver(lua_State *L, const clua_class *cls, uint64_t *payload) {
    if (cls->kind == CLUA_ROW) return to_row(L, 1, payload) ? payload : NULL;
    handle *h = find_handle(L, 1, cls);
    return h ? target(h) : NULL;
}

static int method_trampoline(lua_State *L) {
    clua_check_stack(L);
    clua_host *host = host_of(L);
    if (host->releaseCount > 256) clua_drain_releases(host);
    uint64_t payload;
    void *object = receiver(L, lua_touserdata(L, lua_upvalueindex(2)), &payload);
    int enforce = host->enforce;
    host->enforce = 0;
    int status = host->callbacks.method(lua_touserdata(L, lua_upvalueindex(1)), object, L);
    host->enforce = enforce;
    return ended(L, status);
}

void clua_pushmethod(lua_State *L, clua_class *cls, void *function) {
    lua_pushlightuserdata(L, function);
    lua_pushlightuserdata(L, cls);
    lua_pushcclosure(L, method_trampoline, 2);
}

static int trampoline(lua_State *L) { return invoke(L, lua_touserdata(L, lua_upvalueindex(1))); }

typedef struct {
    void *function;
    unsigned held; /* its index in the host's list */
} function_box;

static int owned_trampoline(lua_State *L) {
    return invoke(L, ((function_box *)lua_touserdata(L, lua_upvalueindex(1)))->function);
}

void clua_pushfunction(lua_State *L, void *function) {
    lua_pushlightuserdata(L, function);
    lua_pushcclosure(L, trampoline, 1);
}

static int function_gc(lua_State *L) {
    clua_let_go(host_of(L), ((function_box *)lua_touserdata(L, 1))->held);
    return 0;
}

static function_box *push_box(lua_State *L, void *function) {
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
    return box;
}

void clua_pushownedfunction(lua_State *L, void *function) {
    push_box(L, function);
    lua_pushcclosure(L, owned_trampoline, 1);
}

void clua_pushcontinuation(lua_State *L, void *function) {
    lua_settop(L, 0);
    push_box(L, function);
}

/* The host has resumed a waiting function: call its continuation instead. */
static int resumed(lua_State *L, int status, lua_KContext context) {
    (void)status;
    (void)context;
    lua_settop(L, 1);
    return invoke(L, ((function_box *)lua_touserdata(L, 1))->function);
}

/* A constructor of inline values from numbers: the payload of a whole number is the number minus an offset. */
static int number_trampoline(lua_State *L) {
    if (lua_gettop(L) > 2) clua_dropnils(L, 3);
    if (lua_gettop(L) == 2 && lua_type(L, 2) == LUA_TNUMBER) {
        double value = lua_tonumber(L, 2) - lua_tonumber(L, lua_upvalueindex(3));
        uint64_t payload;
        if (isfinite(value) && value == floor(value)) {
            memcpy(&payload, &value, sizeof payload);
            clua_pushinline(L, lua_touserdata(L, lua_upvalueindex(2)), payload);
            return 1;
        }
    }
    return trampoline(L);
}

void clua_pushconstructor(lua_State *L, void *function, clua_class *cls, double offset) {
    lua_pushlightuserdata(L, function);
    lua_pushlightuserdata(L, cls);
    lua_pushnumber(L, offset);
    lua_pushcclosure(L, number_trampoline, 3);
}
