/* Breakpoints, steps and breaks.
 *
 * A line hook at least halves the VM's speed, so it is set only while something is debugged. It shares the resting
 * hook with the limit of call depth, and the hook for interrupts replaces it as before (interrupt.c). Lines are
 * compared here: Swift is called only at a possible break.
 *
 * Lua disables hooks while a hook runs. So a break runs Swift in a separate coroutine, where code that the user
 * evaluates can be stopped like any other. A C function around it keeps that code from yielding. */
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "../Library/library.h"
#include "debugger.h"

/* Whether a function catches errors of scripts. */
static int is_catcher(lua_CFunction function) { return clua_is_protecting(function) || clua_is_resume(function); }

/* A break, on the C stack of run_break. */
typedef struct clua_break {
    clua_resumption first, second; /* the coroutine at the break, and the running one if it differs */
    int level; /* the level of the first frame shown */
    int reason, number;
    int stops; /* whether the host has decided to stop the code */
} clua_break;

static void update_mask(clua_host *host) {
    clua_debugger *debugger = &host->debugger;
    int steps = debugger->step == CLUA_STEP_OVER || debugger->step == CLUA_STEP_OUT;
    debugger->mask = (debugger->count || debugger->step || debugger->observes ? LUA_MASKLINE : 0) | (steps ? LUA_MASKCALL : 0);
    clua_update_watch(host);
}

void clua_observe_lines(clua_host *host, int observes) {
    host->debugger.observes = observes;
    update_mask(host);
}

/* ---- Breakpoints ---- */

static unsigned bit_of(int line) { return (unsigned)line & 4095; }

int clua_add_breakpoint(clua_host *host, int line, int number) {
    clua_debugger *debugger = &host->debugger;
    if (debugger->count == debugger->capacity) {
        int capacity = debugger->capacity ? debugger->capacity * 2 : 8;
        clua_breakpoint *more = realloc(debugger->breakpoints, (size_t)capacity * sizeof *more);
        if (!more) return 0;
        debugger->breakpoints = more;
        debugger->capacity = capacity;
    }
    debugger->breakpoints[debugger->count++] = (clua_breakpoint){line, number};
    debugger->lines[bit_of(line) / 8] |= (unsigned char)(1 << bit_of(line) % 8);
    update_mask(host);
    return 1;
}

static void forget_decisions(clua_debugger *debugger) {
    for (size_t i = 0; i < sizeof debugger->decisions / sizeof *debugger->decisions; i++) {
        free(debugger->decisions[i].name);
        debugger->decisions[i].name = NULL;
    }
}

void clua_remove_breakpoints(clua_host *host) {
    clua_debugger *debugger = &host->debugger;
    debugger->count = 0;
    forget_decisions(debugger);
    memset(debugger->lines, 0, sizeof debugger->lines);
    update_mask(host);
}

void clua_close_debugger(clua_debugger *debugger) {
    forget_decisions(debugger);
    free(debugger->breakpoints);
}

/* Whether one path ends with the other, starting after a slash. */
static int is_tail(const char *a, size_t lengthOfA, const char *b, size_t lengthOfB) {
    if (lengthOfA < lengthOfB) return is_tail(b, lengthOfB, a, lengthOfA);
    if (lengthOfB == 0 || memcmp(a + lengthOfA - lengthOfB, b, lengthOfB) != 0) return 0;
    return lengthOfA == lengthOfB || *b == '/' || a[lengthOfA - lengthOfB - 1] == '/';
}

static int matches(const char *name, const char *path, size_t length) {
    if (*name != '@' && *name != '=') return 0;
    int isInHome = strncmp(name, "@~/", 3) == 0 && *path != '~';
    const char *place = name + (isInHome ? 3 : 1);
    return is_tail(place, strlen(place), path, length);
}

int clua_matches(const char *name, const char *path) { return matches(name, path, strlen(path)); }

/* Whether a breakpoint is in a chunk: the host decides once for a name, since it may have to look at files. */
static int is_in(clua_host *host, const char *name, int number) {
    size_t hash = (size_t)number;
    for (const char *byte = name; *byte; byte++) hash = hash * 31 + (unsigned char)*byte;
    clua_debugger *debugger = &host->debugger;
    clua_decision *decision = &debugger->decisions[hash % (sizeof debugger->decisions / sizeof *debugger->decisions)];
    if (decision->name && decision->number == number && strcmp(decision->name, name) == 0) return decision->isIn;
    int isIn = host->callbacks.matches(host->owner, name, number);
    free(decision->name);
    *decision = (clua_decision){strdup(name), number, isIn};
    return isIn;
}

/* The number of the breakpoint at a line event; 0: none. */
static int breakpoint_at(clua_host *host, lua_State *L, lua_Debug *ar) {
    const clua_debugger *debugger = &host->debugger;
    unsigned bit = bit_of(ar->currentline);
    if (!(debugger->lines[bit / 8] >> bit % 8 & 1)) return 0;
    lua_getinfo(L, "S", ar);
    /* A name without a mark is the text of a chunk. */
    if (*ar->source != '@' && *ar->source != '=') return 0;
    for (int i = 0; i < debugger->count; i++) {
        const clua_breakpoint breakpoint = debugger->breakpoints[i];
        if (breakpoint.line == ar->currentline && is_in(host, ar->source, breakpoint.number)) return breakpoint.number;
    }
    return 0;
}

/* ---- Steps ---- */

/* The number of stack frames of a coroutine. */
static int depth(lua_State *L) {
    lua_Debug ar;
    int low = 0, high = 1;
    while (lua_getstack(L, high, &ar)) high *= 2;
    while (low < high) {
        int middle = low + (high - low) / 2;
        if (lua_getstack(L, middle, &ar)) low = middle + 1;
        else high = middle;
    }
    return low;
}

void clua_take_step(clua_host *host, int step) {
    clua_debugger *debugger = &host->debugger;
    const clua_break *pause = debugger->pause;
    debugger->step = step;
    debugger->stepping = debugger->suspended = NULL;
    debugger->depth = INT_MAX;
    if (pause) {
        int isRunning = pause->first.outer != &pause->second;
        debugger->stepping = isRunning ? pause->first.L : pause->second.L;
        if (isRunning) debugger->depth = depth(pause->first.L) - pause->level - (step == CLUA_STEP_OUT);
    }
    update_mask(host);
}

static void end_step(clua_host *host) { clua_take_step(host, CLUA_STEP_NONE); }

static void step_returns(clua_host *host, lua_State *from, lua_State *to) {
    clua_debugger *debugger = &host->debugger;
    if (debugger->pause || debugger->suspended) return;
    if (!to) return end_step(host);
    if (debugger->stepping != from) return;
    debugger->stepping = to;
    debugger->depth = INT_MAX;
}

/* Whether a function is the host's own Lua code: its chunk name is in parentheses. */
static int is_hidden(lua_State *L, lua_Debug *ar) {
    lua_getinfo(L, "S", ar);
    return ar->source[0] == '=' && ar->source[1] == '(';
}

static int ends_step(const clua_debugger *debugger, lua_State *L, lua_Debug *ar) {
    lua_Debug deeper;
    if (!debugger->step || debugger->suspended || is_hidden(L, ar)) return 0;
    if (debugger->step == CLUA_STEP_IN) return 1;
    return L == debugger->stepping && !(debugger->depth < INT_MAX && lua_getstack(L, debugger->depth, &deeper));
}

/* A tail call replaces the function that is stepped over: the step then ends in its caller. */
static void replaced(clua_debugger *debugger, lua_State *L) {
    lua_Debug ar;
    if (L != debugger->stepping || debugger->step != CLUA_STEP_OVER || debugger->depth == INT_MAX) return;
    if (!lua_getstack(L, debugger->depth, &ar)) debugger->depth--;
}

/* ---- Breaks ---- */

static int inner_body(lua_State *L) {
    clua_host *host = host_of(L);
    clua_break *pause = host->debugger.pause;
    if (clua_unwinds(host)) return 0;
    int enforce = host->enforce;
    host->enforce = 0;
    pause->stops = host->callbacks.pause(host->owner, L, pause->reason, pause->number) < 0;
    if (pause->stops) lua_rawseti(L, LUA_REGISTRYINDEX, host->abortion);
    host->enforce = enforce;
    return 0;
}

/* The code cannot yield across a call without a continuation. */
static int outer_body(lua_State *L) {
    lua_pushcfunction(L, inner_body);
    lua_call(L, 0, 0);
    return 0;
}

/* Calls the host for a break; 1: the code stops. `L` is the running coroutine, `at` the one shown to the user. */
static int run_break(lua_State *L, lua_State *at, int level, int reason, int number) {
    clua_host *host = host_of(L);
    clua_break pause = {{at, &pause.second}, {L, host->resumption}, level, reason, number, 0};
    if (at == L) pause.first.outer = host->resumption;
    if (host->debugger.pause || clua_unwinds(host) || !lua_checkstack(L, LUA_MINSTACK)) return 0;
    if ((char *)__builtin_frame_address(0) < host->stack.limit) return 0;
    clua_resumption *outer = host->resumption;
    int enforce = host->enforce, canWait = host->canWait, top = lua_gettop(L), results;
    host->enforce = 0;
    host->canWait = 0;
    host->debugger.pause = &pause;
    host->resumption = &pause.first;
    lua_State *co = lua_newthread(L);
    lua_pushcfunction(co, outer_body);
    clua_switch(host, co);
    lua_resume(co, L, 0, &results);
    lua_settop(L, top);
    host->resumption = outer;
    host->debugger.pause = NULL;
    host->canWait = canWait;
    host->enforce = enforce;
    clua_switch(host, L);
    return pause.stops;
}

static int run_hook(lua_State *L, lua_Debug *ar) {
    clua_debugger *debugger = &host_of(L)->debugger;
    if (debugger->pause) return 0;
    if (ar->event == LUA_HOOKTAILCALL) replaced(debugger, L);
    if (ar->event != LUA_HOOKLINE) return 0;
    if (debugger->observes) {
        lua_getinfo(L, "S", ar);
        host_of(L)->callbacks.line(host_of(L)->owner, ar->source, ar->currentline);
    }
    int number = debugger->count ? breakpoint_at(host_of(L), L, ar) : 0, ends = ends_step(debugger, L, ar);
    if (!number && !ends) return 0;
    if (ends) end_step(host_of(L));
    return run_break(L, L, 0, (number ? CLUA_BREAK_LINE : 0) | (ends ? CLUA_BREAK_STEP : 0), number);
}

int clua_pause(lua_State *L) { return run_break(L, L, 1, CLUA_BREAK_CALL, 0) ? CLUA_RAISE : 0; }

/* The C function at a level; NULL: a Lua function. */
static lua_CFunction function_at(lua_State *L, int level) {
    lua_Debug ar;
    if (!lua_checkstack(L, 1) || !lua_getstack(L, level, &ar)) return NULL;
    lua_getinfo(L, "f", &ar);
    lua_CFunction function = lua_tocfunction(L, -1);
    lua_pop(L, 1);
    return function;
}

/* Whether a function on the stack of this or an outer coroutine catches errors. */
static int is_caught(const clua_host *host, lua_State *L) {
    lua_Debug ar;
    const clua_resumption *outer = host->resumption;
    while (1) {
        for (int level = 0; lua_getstack(L, level, &ar); level++)
            if (is_catcher(function_at(L, level))) return 1;
        if (!outer) return 0;
        L = outer->L;
        outer = outer->outer;
    }
}

static void break_at_error(lua_State *L, lua_State *failed, int level, int isCaught) {
    clua_host *host = host_of(L);
    clua_debugger *debugger = &host->debugger;
    lua_Debug ar;
    if (debugger->pause || host->abortDepth) return;
    int wasSeen = debugger->hasSeenError;
    int breaks = !wasSeen && lua_getstack(failed, level, &ar) &&
                 (debugger->errors == CLUA_ERRORS_ALL || !(isCaught || is_caught(host, L)));
    if (breaks && run_break(L, failed, level, CLUA_BREAK_ERROR, 0)) clua_arm(host);
    /* An error that a coroutine's resumer raises again has been seen. */
    debugger->hasSeenError = failed != L && (breaks || wasSeen) && !clua_is_resume(function_at(L, 0));
}

int clua_is_unwinding(const clua_host *host) { return clua_unwinds(host); }

void clua_set_error_breaks(clua_host *host, int errors) { host->debugger.errors = errors; }

void clua_pusherror(clua_host *host, lua_State *to) {
    const clua_break *pause = host->debugger.pause;
    if (!pause || pause->reason != CLUA_BREAK_ERROR || !lua_gettop(pause->first.L)) return lua_pushnil(to);
    lua_State *L = pause->first.L;
    lua_pushvalue(L, pause->level ? 1 : -1); /* the message handler's argument, or the error on the coroutine's stack */
    lua_xmove(L, to, 1);
}

int clua_next_call(clua_host *host, clua_place_of_call *place, clua_frame *frame) {
    const clua_break *pause = host->debugger.pause;
    const clua_resumption *at = place->resumption;
    if (!pause) return 0;
    if (at) place->level++;
    else *place = (clua_place_of_call){at = &pause->first, pause->first.L, pause->level, 0};
    while (!clua_describe_call(place->L, place->level, frame)) {
        at = at->outer;
        if (!at) return 0;
        *place = (clua_place_of_call){at, at->L, 0, place->coroutine + 1};
    }
    place->resumption = at;
    return 1;
}

/* The number of a coroutine's frames, without the lowest one where that only calls its function. */
static int count_calls(lua_State *L) {
    lua_Debug ar;
    int count = depth(L);
    if (!count || !lua_checkstack(L, 1) || !lua_getstack(L, count - 1, &ar)) return count;
    lua_getinfo(L, "f", &ar);
    count -= clua_is_body(lua_tocfunction(L, -1));
    lua_pop(L, 1);
    return count;
}

int clua_skip_calls(clua_place_of_call *place, int remaining) {
    const clua_resumption *at = place->resumption;
    int skipped = -place->level - 1 - remaining;
    for (const clua_resumption *outer = at; outer; outer = outer->outer) skipped += count_calls(outer->L);
    if (skipped <= 0) return 0;
    int left = skipped, here;
    while (left > (here = count_calls(place->L) - place->level - 1)) {
        left -= here + 1;
        at = at->outer;
        *place = (clua_place_of_call){at, at->L, 0, place->coroutine + 1};
    }
    place->level += left;
    return skipped;
}

const clua_debugger_calls clua_debugger_functions = {run_hook, break_at_error, step_returns, end_step};
