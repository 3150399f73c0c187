/* The limit of call depth: a call hook that counts down, only used if a limit is set.
 *
 * After a measurement at depth d the next one is due after limit - d calls: none of them can be deeper. Returns are not
 * counted, so that one hook per call is sufficient. The depth includes all coroutines that have resumed one another. */
#include <limits.h>

#include "host.h"

/* The number of active functions of a script, at most `most`. */
static int depth(const clua_host *host, lua_State *L, int most) {
    lua_Debug ar;
    int bodies = L != host->main; /* the function around a coroutine's own (coroutine.c) */
    int low = bodies, high = most < INT_MAX ? most + bodies : most;
    while (low < high) {
        int middle = low + (high - low) / 2;
        if (lua_getstack(L, middle, &ar)) low = middle + 1;
        else high = middle;
    }
    return low - bodies;
}

/* The number of further calls within the limit; negative if it is exceeded. */
static int measure(const clua_host *host, lua_State *L) {
    int left = host->callLimit - depth(host, L, host->callLimit + 1);
    for (const clua_resumption *outer = host->resumption; outer && left >= 0; outer = outer->outer)
        left -= depth(host, outer->L, left + 1);
    return left;
}

void clua_count_call(lua_State *L, const lua_Debug *ar) {
    clua_host *host = host_of(L);
    if (ar->event != LUA_HOOKCALL || !host->callLimit || host->callsLeft-- > 0) return;
    host->callsLeft = measure(host, L);
    if (host->callsLeft >= 0) return;
    host->raised = L;
    host->exceeded = CLUA_EXCEEDED_DEPTH;
    luaL_error(L, "stack overflow (the limit of call depth is %d)", host->callLimit);
}
