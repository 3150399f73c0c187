/* Active functions with their variables: at an error, and at a break.
 *
 * The frames of an error are recorded where it is raised, before the stack is unwound. They are stored in a Lua table,
 * which keeps the values alive, and Swift reads it with the error. At a break Swift reads the stack itself. */
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

void clua_capture_frames(lua_State *L, int level) {
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

int clua_pushframes(lua_State *L) {
    lua_rawgeti(L, LUA_REGISTRYINDEX, host_of(L)->frames);
    if (lua_istable(L, -1)) return 1;
    lua_pop(L, 1);
    return 0;
}

/* ---- At a break ---- */

/* The name of the global variable with the function on top; NULL if none. The name is valid as long as the variable
 * exists. */
static const char *global_name(lua_State *L) {
    const char *name = NULL;
    int function = lua_gettop(L);
    if (!lua_checkstack(L, 4)) return NULL;
    lua_pushglobaltable(L);
    lua_pushnil(L);
    while (!name && lua_next(L, function + 1)) {
        if (lua_type(L, -2) == LUA_TSTRING && lua_rawequal(L, -1, function)) name = lua_tostring(L, -2);
        lua_pop(L, 1);
    }
    lua_settop(L, function);
    return name;
}

int clua_describe_call(lua_State *L, int level, clua_frame *frame) {
    lua_Debug ar;
    if (!lua_checkstack(L, 1) || !lua_getstack(L, level, &ar)) return 0;
    lua_getinfo(L, "f", &ar);
    int isFrame = !clua_is_body(lua_tocfunction(L, -1)) && clua_getframe(L, level, frame);
    /* The prompt makes a tail call, which has no name. */
    if (isFrame && !frame->isC && !frame->isMain && !frame->name) frame->name = global_name(L);
    lua_pop(L, 1);
    return isFrame;
}

const char *clua_get_local(lua_State *L, int level, int n, lua_State *to) {
    lua_Debug ar;
    if (!lua_checkstack(L, 1) || !lua_checkstack(to, 1) || !lua_getstack(L, level, &ar)) return NULL;
    const char *name = lua_getlocal(L, &ar, n);
    if (name) lua_xmove(L, to, 1);
    return name;
}

int clua_set_local(lua_State *L, int level, int n, lua_State *from) {
    lua_Debug ar;
    if (!lua_checkstack(L, 1) || !lua_getstack(L, level, &ar)) return 0;
    lua_xmove(from, L, 1);
    return lua_setlocal(L, &ar, n) != NULL; /* it pops the value in any case */
}

/* Pushes the function at a level. */
static int push_function(lua_State *L, int level) {
    lua_Debug ar;
    if (!lua_checkstack(L, 2) || !lua_getstack(L, level, &ar)) return 0;
    lua_getinfo(L, "f", &ar);
    return 1;
}

const char *clua_get_upvalue(lua_State *L, int level, int n, lua_State *to) {
    if (!lua_checkstack(to, 1) || !push_function(L, level)) return NULL;
    const char *name = lua_iscfunction(L, -1) ? NULL : lua_getupvalue(L, -1, n);
    if (name) lua_xmove(L, to, 1);
    lua_pop(L, 1);
    return name;
}

int clua_set_upvalue(lua_State *L, int level, int n, lua_State *from) {
    if (!push_function(L, level)) return 0;
    lua_xmove(from, L, 1);
    int isSet = lua_setupvalue(L, -2, n) != NULL;
    lua_pop(L, isSet ? 1 : 2);
    return isSet;
}
