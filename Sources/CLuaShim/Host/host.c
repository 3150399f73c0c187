/* The host's record: its counting allocator, its limits, and the interrupts by memory use. */
#include "host.h"

#include <stdio.h>
#include <stdlib.h>

/* Sets the use below which a small block needs no check of the limit: without a limit, any. */
void clua_set_calm(clua_host *host) {
    size_t pressing = host->limit / 8 * 6;
    if (host->failAt || host->pressed) host->calm = 0;
    else if (!host->limit) host->calm = SIZE_MAX;
    else host->calm = pressing > CLUA_POOL_LARGEST ? pressing - CLUA_POOL_LARGEST : 0;
}

/* Interrupts at three quarters and seven eighths of the limit, so that the host collects garbage at the next
 * instruction and drops caches before a script is refused memory. */
static void watch_limit(clua_host *host) {
    size_t eighth = host->limit / 8;
    int level = host->used > eighth * 7 ? 2 : host->used > eighth * 6 ? 1 : 0;
    if (level > host->pressed) {
        host->pressed = level;
        clua_interrupt(host, CLUA_INTERRUPT_MEMORY);
    } else if (level == 0 && host->pressed) {
        host->pressed = host->used < eighth * 5 ? 0 : 1;
    } else {
        return;
    }
    clua_set_calm(host);
}

/* Whether a growth exceeds the limit. Never in a finalizer: Lua calls it once, and if its stack could not grow, it
 * would be lost together with its Swift object. While a finalizer runs, and only then, the collector refuses requests
 * by -1. */
static int is_denied(clua_host *host, const clua_account *account, size_t old, size_t nsize) {
    host->allocations++;
    int fails = host->failAt && host->allocations >= host->failAt &&
                (!host->failures || host->allocations - host->failAt < host->failures);
    fails |= !clua_fits(host->limit, host->used - old, nsize);
    if (!fails && clua_fits(account->limit, clua_account_used(account) - old, nsize)) return 0;
    if (lua_gc(host->main, LUA_GCCOUNT) == -1) return 0;
    host->deniedLimit = fails ? 0 : account->limit;
    return 1;
}

static void count_used(clua_host *host, size_t more) {
    host->used += more;
    if (host->used > host->peak) host->peak = host->used;
    if (host->limit) watch_limit(host);
}

/* A block that is resized keeps its owner, whose limit is in force. Growth is refused only while `enforce` is on: then no
 * Swift frame is between the VM and the protected call that catches the error. Otherwise the excess is recorded as debt,
 * and the VM's own next allocation fails. */
__attribute__((noinline)) static void *resize(clua_host *host, void *block, size_t old, size_t nsize) {
    clua_account *account = block ? clua_pool_owner(&host->account, block, old) : host->charged;
    if (nsize > old && host->enforce && is_denied(host, account, old, nsize)) return NULL;
    void *result = clua_pool_resize(account, block, old, nsize);
    if (!result) {
        host->deniedLimit = 0;
        if (nsize > old && host->enforce) return NULL; /* shrinking never fails */
        fputs("cubby: out of memory\n", stderr);
        abort();
    }
    count_used(host, nsize - old);
    clua_account_add(account, nsize - old);
    return result;
}

/* The fast path: nearly every call allocates or frees a small block. */
void *clua_allocate(void *ud, void *block, size_t osize, size_t nsize) {
    clua_host *host = ud;
    if (nsize == 0) {
        if (block) {
            host->used -= osize;
            clua_pool_free(&host->account, block, osize);
        }
        return NULL;
    }
    if (block) return resize(host, block, osize, nsize);
    /* For a new block, osize is a type tag. */
    clua_account *account = host->charged;
    int isCalm = host->used < host->calm && clua_account_used(account) < account->calm;
    void *result = isCalm ? clua_pool_new(account, nsize) : NULL;
    if (!result) return resize(host, NULL, 0, nsize);
    host->allocations += host->enforce != 0;
    host->used += nsize;
    if (host->used > host->peak) host->peak = host->used;
    clua_account_add(account, nsize);
    return result;
}

void clua_set_owner(clua_host *host, void *owner) { host->owner = owner; }
lua_State *clua_current(clua_host *host) { return host->current; }
clua_host *clua_host_of(lua_State *L) { return host_of(L); }
void *clua_owner(lua_State *L) { return host_of(L)->owner; }
size_t clua_used(const clua_host *host) { return host->used; }
size_t clua_limit(const clua_host *host) { return host->limit; }

void clua_set_limit(clua_host *host, size_t bytes) {
    host->limit = bytes;
    clua_set_calm(host);
}

int clua_depth(const clua_host *host) { return depth_of(host); }
size_t clua_live_objects(const clua_host *host) { return host->live; }
void clua_collect(clua_host *host) { lua_gc(host->main, LUA_GCCOLLECT); }

unsigned long clua_fail_allocation(clua_host *host, unsigned long n, unsigned long count) {
    unsigned long counted = host->allocations;
    host->allocations = 0;
    host->failAt = n;
    host->failures = count;
    clua_set_calm(host);
    return counted;
}

void clua_set_finalizer_hint(clua_host *host, const char *text) { host->finalizerHint = text; }

/* ---- Values of the host beyond the limit ---- */

/* Whether so many more bytes, and a part of the limit as a margin, are within a limit of the host's values. Reading a field
 * takes its name, and a refused host must still get there: short values may exceed a limit by an eighth, and `more`. */
static int fits_value(size_t limit, size_t used, size_t bytes, size_t more, int hasMargin) {
    if (!limit) return 1;
    return clua_fits(limit + (bytes <= 4096 ? limit / 8 + more : 0), used, bytes + (hasMargin ? limit / 32 : 0));
}

/* Sets the limit that so many more bytes are beyond; 0: they fit. */
static int exceeds_value(clua_host *host, size_t bytes, int hasMargin) {
    const clua_account *account = host->charged;
    int isState = !fits_value(host->limit, host->used, bytes, 64 << 10, hasMargin);
    host->deniedLimit = isState ? 0 : account->limit;
    return isState || !fits_value(account->limit, clua_account_used(account), bytes, 4 << 10, hasMargin);
}

/* After a collection a margin is left, so that the next value does not collect again. */
int clua_refuses(lua_State *L, size_t bytes) {
    clua_host *host = host_of(L);
    if (host->exempt || host->enforce) return 0;
    if (host->denied) return 1;
    if (!exceeds_value(host, bytes, 0)) return 0;
    lua_gc(host->main, LUA_GCCOLLECT);
    host->denied = exceeds_value(host, bytes, 1);
    return host->denied;
}

int clua_reserve(lua_State *L, size_t bytes) { return clua_admits(L, bytes); }
int clua_is_refusing(const clua_host *host) { return host->denied; }

int clua_take_denial(clua_host *host) {
    int denied = host->denied;
    host->denied = 0;
    return denied;
}

void clua_exempt(clua_host *host, int isExempt) {
    host->exempt = isExempt;
    host->denied = 0;
}

void clua_push_denial(lua_State *L) {
    clua_host *host = host_of(L);
    host->denied = 0;
    host->exceeded = CLUA_EXCEEDED_MEMORY;
    if (host->deniedLimit)
        lua_pushliteral(L, "not enough memory: a value of the host does not fit into the environment's limit");
    else lua_pushliteral(L, "not enough memory: a value of the host does not fit into the limit");
}

int clua_raise_denial(lua_State *L) {
    /* Without memory for its text, Lua's own error tells of it: it must not be raised once more after that. */
    host_of(L)->denied = 0;
    clua_where(L);
    clua_push_denial(L);
    lua_concat(L, 2);
    return lua_error(L);
}

int clua_exceeded(const clua_host *host) { return host->exceeded; }
void clua_set_exceeded(clua_host *host, int limit) { host->exceeded = limit; }

void clua_set_output_limit(clua_host *host, size_t bytes) { host->outputLimit = bytes; }
size_t clua_output(const clua_host *host) { return host->output; }
size_t clua_output_limit(const clua_host *host) { return host->outputLimit; }

void clua_reset_output(clua_host *host) { clua_set_output(host, 0); }

void clua_set_output(clua_host *host, size_t bytes) {
    host->output = bytes;
    host->outputRaised = host->outputLimit && bytes > host->outputLimit;
}

int clua_count_output(clua_host *host, size_t bytes) {
    host->output = bytes > SIZE_MAX - host->output ? SIZE_MAX : host->output + bytes;
    if (!host->outputLimit || host->output <= host->outputLimit) return CLUA_OUTPUT_FITS;
    if (host->outputRaised) return CLUA_OUTPUT_DROPPED;
    host->outputRaised = 1;
    host->exceeded = CLUA_EXCEEDED_OUTPUT;
    return CLUA_OUTPUT_RAISES;
}

const char *clua_release(void) { return LUA_RELEASE; }
