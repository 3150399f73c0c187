/* Opens and closes a state: above all layers, of which it puts together the host's record. */
#include <stdio.h>
#include <stdlib.h>

#include "Debugger/debugger.h"
#include "Objects/object.h"

static int panic(lua_State *L) {
    const char *message = lua_tostring(L, -1);
    fprintf(stderr, "cubby: Lua error outside of a protected call: %s\n", message ? message : "?");
    return 0; /* Lua aborts */
}

/* A reference to a new table with weak values. */
static int new_weak_table(lua_State *L) {
    lua_createtable(L, 0, 0);
    lua_createtable(L, 0, 1);
    lua_pushliteral(L, "v");
    lua_setfield(L, -2, "__mode");
    lua_setmetatable(L, -2);
    return luaL_ref(L, LUA_REGISTRYINDEX);
}

/* A reference to a value that is set later: the slot exists, so that this takes no memory. */
static int new_slot(lua_State *L) {
    lua_pushboolean(L, 0);
    return luaL_ref(L, LUA_REGISTRYINDEX);
}

clua_host *clua_open(const clua_callbacks *callbacks, void *owner, size_t limit) {
    clua_host *host = calloc(1, sizeof *host);
    if (!host) return NULL;
    host->callbacks = *callbacks;
    host->owner = owner;
    host->limit = limit;
    clua_set_calm(host);
    clua_open_accounts(host);
    host->finalizerHint = "";
    host->hook = clua_hook;
    host->debugger.calls = &clua_debugger_functions;
    clua_adopt(host);
    lua_State *L = lua_newstate(clua_allocate, host);
    if (!L) {
        free(host);
        return NULL;
    }
    host->main = host->current = L;
    *space_of(L) = (uintptr_t)host;
    lua_atpanic(L, panic);
    host->handles = new_weak_table(L);
    host->traceback = new_slot(L);
    host->traced = new_slot(L);
    host->frames = new_slot(L);
    host->abortion = new_slot(L);
    return host;
}

void clua_close(clua_host *host) {
    clua_close_timer(host->timer);
    lua_close(host->main); /* every handle's __gc runs now */
    clua_close_releases(host);
    clua_close_accounts(host);
    clua_close_debugger(&host->debugger);
    free(host->places);
    free(host->freeSlots);
    free(host->lostPath);
    free(host->failedProgram);
    while (host->classes) host->classes = clua_freeclass(host->classes);
    free(host);
}
