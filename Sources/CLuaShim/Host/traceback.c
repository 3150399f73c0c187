/* The traceback of an error, and the active functions with their variables if the host keeps them.
 *
 * Both are recorded where the error is raised, before the stack is unwound. The functions are stored in a Lua table,
 * which keeps the values alive, and Swift reads it with the error. */
#include <stdio.h>
#include <string.h>

#include "host.h"

enum { MAX_FRAMES = 50, MAX_LOCALS = 100 };

void clua_keep_frames(clua_host *host, int keeps) { host->keepsFrames = keeps; }
int clua_keeps_frames(const clua_host *host) { return host->keepsFrames; }

/* Pushes an array of the alternating names and values of a call's local variables, and returns its length, since a
 * value may be nil. Variables of C and of the VM have no name. */
static lua_Integer push_locals(lua_State *L, lua_Debug *ar) {
    lua_newtable(L);
    lua_Integer at = 0;
    for (int n = 1; n <= MAX_LOCALS; n++) {
        const char *name = lua_getlocal(L, ar, n);
        if (!name) return at;
        if (name[0] == '(') {
            lua_pop(L, 1);
            continue;
        }
        lua_pushstring(L, name);
        lua_rawseti(L, -3, ++at);
        lua_rawseti(L, -2, ++at);
    }
    return at;
}

static void capture_frames(lua_State *L, int level) {
    clua_host *host = host_of(L);
    if (!host->keepsFrames || !lua_checkstack(L, 8)) return;
    lua_newtable(L);
    lua_Debug ar;
    for (int n = 0; n < MAX_FRAMES && lua_getstack(L, level + n, &ar); n++) {
        lua_getinfo(L, "Sln", &ar);
        lua_createtable(L, 5, 0);
        lua_pushstring(L, ar.short_src);
        lua_rawseti(L, -2, 1);
        lua_pushinteger(L, ar.currentline);
        lua_rawseti(L, -2, 2);
        /* Nil for the main function of a chunk, and for a C function without a name. */
        if (ar.name) lua_pushstring(L, ar.name);
        else if (ar.what[0] == 'L') lua_pushfstring(L, "function <%s:%d>", ar.short_src, ar.linedefined);
        else lua_pushnil(L);
        lua_rawseti(L, -2, 3);
        lua_Integer count = push_locals(L, &ar);
        lua_rawseti(L, -2, 4);
        lua_pushinteger(L, count);
        lua_rawseti(L, -2, 5);
        lua_rawseti(L, -2, n + 1);
    }
    lua_rawseti(L, LUA_REGISTRYINDEX, host->frames);
}

/* Keeps the class name of the object whose method a Lua function called in vain, with the error at the index. At such a
 * call the nil and the object are neighbours among the function's temporaries, with the arguments behind them. */
static void keep_receiver(lua_State *L, int level, int index) {
    char *receiver = host_of(L)->receiver;
    *receiver = 0;
    lua_Debug ar;
    const char *name, *text = lua_type(L, index) == LUA_TSTRING ? lua_tostring(L, index) : NULL;
    if (!text || !strstr(text, "attempt to call a nil value (method '")) return;
    if (!lua_checkstack(L, 3) || !lua_getstack(L, level, &ar)) return;
    int isAfterNil = 0;
    for (int n = 1; !*receiver && (name = lua_getlocal(L, &ar, n)); n++) {
        if (isAfterNil && luaL_getmetafield(L, -1, "__name") != LUA_TNIL) {
            if (lua_type(L, -1) == LUA_TSTRING)
                snprintf(receiver, sizeof host_of(L)->receiver, "%s", lua_tostring(L, -1));
            lua_pop(L, 1);
        }
        isAfterNil = lua_isnil(L, -1) && strcmp(name, "(temporary)") == 0;
        lua_pop(L, 1);
    }
}

/* Represents nil as an error: a registry slot with nil counts as free. */
static char nothing;

/* Stores the error of the last traceback. */
static void remember_traced(lua_State *L, int index) {
    if (lua_isnil(L, index)) lua_pushlightuserdata(L, &nothing);
    else lua_pushvalue(L, index);
    lua_rawseti(L, LUA_REGISTRYINDEX, host_of(L)->traced);
}

/* Whether the value at the index has its traceback. */
static int is_traced(lua_State *L, int index) {
    index = lua_absindex(L, index);
    lua_rawgeti(L, LUA_REGISTRYINDEX, host_of(L)->traced);
    int same = lua_isnil(L, index) ? lua_touserdata(L, -1) == &nothing : lua_rawequal(L, index, -1);
    lua_pop(L, 1);
    return same;
}

/* The message handler. Each error has one traceback, made at the deepest frame: a value that passes an outer boundary
 * keeps its first traceback. */
int clua_record_traceback(lua_State *L) {
    clua_host *host = host_of(L);
    if (is_traced(L, 1)) return 1;
    if (host->debugger.errors) host->debugger.calls->error(L, L, 1, 0);
    luaL_traceback(L, L, NULL, 1);
    lua_rawseti(L, LUA_REGISTRYINDEX, host->traceback);
    capture_frames(L, 1);
    keep_receiver(L, 1, 1);
    remember_traced(L, 1);
    return 1;
}

void clua_trace(lua_State *co) {
    clua_host *host = host_of(co);
    if (is_traced(co, -1)) return;
    /* Nothing protects the thread any more, and a long text is closed by a call, which its hook would stop. */
    lua_Hook hook = lua_gethook(co);
    int mask = lua_gethookmask(co), count = lua_gethookcount(co);
    lua_sethook(co, NULL, 0, 0);
    luaL_traceback(co, co, NULL, 0);
    lua_sethook(co, hook, mask, count);
    lua_rawseti(co, LUA_REGISTRYINDEX, host->traceback);
    capture_frames(co, 0);
    keep_receiver(co, 0, -1);
    remember_traced(co, -1);
}

const char *clua_last_traceback(lua_State *L) {
    clua_host *host = host_of(L);
    lua_rawgeti(L, LUA_REGISTRYINDEX, host->traceback);
    const char *text = lua_type(L, -1) == LUA_TSTRING ? lua_tostring(L, -1) : NULL; /* the registry keeps it alive */
    lua_pop(L, 1);
    return text;
}

const char *clua_last_receiver(lua_State *L) {
    const char *receiver = host_of(L)->receiver;
    return *receiver ? receiver : NULL;
}

void clua_forget_traceback(lua_State *L) {
    clua_host *host = host_of(L);
    *host->receiver = 0;
    lua_pushboolean(L, 0);
    lua_rawseti(L, LUA_REGISTRYINDEX, host->traceback);
    lua_pushboolean(L, 0);
    lua_rawseti(L, LUA_REGISTRYINDEX, host->traced);
    lua_pushboolean(L, 0);
    lua_rawseti(L, LUA_REGISTRYINDEX, host->frames);
}

int clua_pushframes(lua_State *L) {
    lua_rawgeti(L, LUA_REGISTRYINDEX, host_of(L)->frames);
    if (lua_istable(L, -1)) return 1;
    lua_pop(L, 1);
    return 0;
}
