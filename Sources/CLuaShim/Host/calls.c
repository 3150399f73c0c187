/* The functions on the stack. */
#include <stdio.h>
#include <string.h>

#include "host.h"

static void describe(clua_frame *frame, const lua_Debug *ar) {
    snprintf(frame->source, sizeof frame->source, "%s", ar->short_src);
    frame->name = ar->name;
    frame->line = ar->currentline;
    frame->definedAt = ar->linedefined;
    frame->isC = ar->what[0] == 'C';
    frame->isMain = ar->what[0] == 'm';
}

int clua_getframe(lua_State *L, int level, clua_frame *frame) {
    lua_Debug ar;
    if (!lua_getstack(L, level, &ar)) return 0;
    lua_getinfo(L, "Sln", &ar);
    describe(frame, &ar);
    return 1;
}

int clua_getcalls(lua_State *L, int isRunning, clua_frame *frames, int capacity) {
    const clua_resumption *outer = isRunning ? host_of(L)->resumption : NULL;
    int count = 0;
    for (;;) {
        for (int level = 0; count < capacity && clua_getframe(L, level, frames + count); level++) count++;
        if (!outer || count == capacity) return count;
        L = outer->L;
        outer = outer->outer;
    }
}

void clua_where(lua_State *L) {
    lua_Debug ar;
    for (int level = 1; lua_getstack(L, level, &ar); level++) {
        lua_getinfo(L, "Sl", &ar);
        if (strcmp(ar.source, "=(environment)") == 0) continue;
        if (ar.currentline <= 0) break;
        lua_pushfstring(L, "%s:%d: ", ar.short_src, ar.currentline);
        return;
    }
    lua_pushliteral(L, "");
}

const char *clua_getsource(lua_State *L, int level) {
    lua_Debug ar;
    if (!lua_getstack(L, level, &ar)) return NULL;
    lua_getinfo(L, "S", &ar);
    return ar.source;
}

void clua_getfunction(lua_State *L, clua_frame *frame) {
    lua_Debug ar;
    memset(&ar, 0, sizeof ar);
    lua_getinfo(L, ">S", &ar);
    ar.currentline = -1;
    describe(frame, &ar);
}
