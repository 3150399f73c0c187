/* The objects retained by Lua's handles.
 *
 * Each is in a list from its push until its handle's __gc has run, and then in the list of releases until Swift
 * releases it, outside the collector. Lua calls a finalizer only once and drops it if it fails, as it must at the limit
 * of nested calls: the object of such a handle is still in the first list when the state is closed. */
#include <stdint.h>
#include <stdlib.h>

#include "host.h"

/* A free place holds the next free one's index, doubled, plus one; an object's address is even. */
static inline uintptr_t free_place(unsigned next) { return (uintptr_t)next << 1 | 1; }
static inline int is_free(uintptr_t place) { return (int)(place & 1); }

static void *grown(void *list, size_t capacity, size_t size) {
    void *result = realloc(list, capacity * size);
    if (!result) abort();
    return result;
}

unsigned clua_hold(clua_host *host, void *object) {
    host->live++;
    if (host->live > host->releaseCapacity) { /* room for every object, so that __gc need not allocate */
        host->releaseCapacity = host->releaseCapacity ? host->releaseCapacity * 2 : 64;
        host->releases = grown(host->releases, host->releaseCapacity, sizeof *host->releases);
    }
    if (!host->firstFree) {
        unsigned old = host->heldCapacity;
        host->heldCapacity = old ? old * 2 : 64;
        host->held = grown(host->held, host->heldCapacity, sizeof *host->held);
        for (unsigned i = old; i < host->heldCapacity; i++)
            host->held[i] = free_place(i + 1 < host->heldCapacity ? i + 2 : 0);
        host->firstFree = old + 1;
    }
    unsigned place = host->firstFree;
    host->firstFree = (unsigned)(host->held[place - 1] >> 1);
    host->held[place - 1] = (uintptr_t)object;
    return place;
}

void clua_let_go(clua_host *host, unsigned place) {
    host->releases[host->releaseCount++] = (void *)host->held[place - 1];
    host->held[place - 1] = free_place(host->firstFree);
    host->firstFree = place;
}

void clua_drain_releases(clua_host *host) {
    /* A release may run code that collects more: remove one at a time from the end. */
    while (host->releaseCount > 0) {
        void *object = host->releases[--host->releaseCount];
        if (host->releaseCount >= 8) __builtin_prefetch(host->releases[host->releaseCount - 8], 1);
        host->live--;
        host->callbacks.release(object);
    }
}

void clua_settle_releases(clua_host *host) {
    if (!depth_of(host) && host->releaseCount > 0) clua_drain_releases(host);
}

void clua_close_releases(clua_host *host) {
    clua_drain_releases(host);
    for (unsigned place = 1; place <= host->heldCapacity; place++)
        if (!is_free(host->held[place - 1])) clua_let_go(host, place);
    clua_drain_releases(host);
    free(host->held);
    free(host->releases);
}
