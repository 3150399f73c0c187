/* Active functions with their variables at a break: Swift reads the stack itself. */
#include "../Library/library.h"
#include "debugger.h"

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
