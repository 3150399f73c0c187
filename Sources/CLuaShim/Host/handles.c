/* Maps objects to their handles.
 *
 * A weak table holds the handles by slot number; a separate map goes from objects to slots, because Lua would rehash a
 * table keyed by addresses each time a generation of handles is replaced. A slot is in use until its handle's __gc has
 * run; the table's entry is removed earlier, so that a dying handle is never found. */
#include <stdlib.h>

#include "host.h"

enum { FEWEST = 8192, BYTES_A_HANDLE = 512, HANDLES_A_STEP = 64 };

/* Lua counts objects that wait for their finalizers as in use, and starts its next cycle at twice that: short-lived
 * handles would accumulate without limit, and Swift's objects with them. So if there are many more than the last cycle
 * left, or than the heap size justifies, making a new one performs a collection step. */
void clua_pace(clua_host *host, lua_State *L) {
    if (host->live - host->releaseCount <= host->liveLimit || ++host->pushes % HANDLES_A_STEP) return;
    if (host->liveLimit && (!lua_gc(L, LUA_GCISRUNNING) || lua_gc(L, LUA_GCSTEP, 0) != 1)) return;
    size_t left = host->live - host->releaseCount, more = host->used / BYTES_A_HANDLE;
    if (more < left / 2) more = left / 2;
    host->liveLimit = left + (more < FEWEST ? FEWEST : more);
}

static inline size_t place_of(const clua_host *host, const void *object) {
    return (size_t)(((uint64_t)(uintptr_t)object >> 4) * 0x9E3779B97F4A7C15u >> 32) & host->placeMask;
}

static void grow_places(clua_host *host) {
    size_t size = host->places ? (host->placeMask + 1) * 2 : 64, old = host->places ? host->placeMask + 1 : 0;
    clua_place *before = host->places;
    host->places = calloc(size, sizeof *host->places);
    if (!host->places) abort();
    host->placeMask = size - 1;
    for (size_t i = 0; i < old; i++) {
        if (!before[i].object) continue;
        size_t j = place_of(host, before[i].object);
        while (host->places[j].object) j = (j + 1) & host->placeMask;
        host->places[j] = before[i];
    }
    free(before);
}

static clua_place *find_place(const clua_host *host, const void *object) {
    if (!host->places) return NULL;
    for (size_t i = place_of(host, object); host->places[i].object; i = (i + 1) & host->placeMask)
        if (host->places[i].object == object) return &host->places[i];
    return NULL;
}

int clua_slot_of(const clua_host *host, const void *object) {
    const clua_place *place = find_place(host, object);
    return place ? place->slot : 0;
}

int clua_take_slot(clua_host *host, void *object) {
    int slot;
    if (host->freeCount > 0) {
        slot = host->freeSlots[--host->freeCount];
    } else {
        slot = ++host->slots;
        if ((size_t)slot > host->freeCapacity) { /* room for every slot, so that __gc need not allocate */
            host->freeCapacity = host->freeCapacity ? host->freeCapacity * 2 : 64;
            host->freeSlots = realloc(host->freeSlots, host->freeCapacity * sizeof *host->freeSlots);
            if (!host->freeSlots) abort();
        }
    }
    if ((host->placeCount + 1) * 2 > host->placeMask) grow_places(host);
    size_t i = place_of(host, object);
    while (host->places[i].object && host->places[i].object != object) i = (i + 1) & host->placeMask;
    clua_place *place = &host->places[i];
    if (!place->object) host->placeCount++;
    place->object = object;
    place->slot = slot;
    return slot;
}

void clua_free_slot(clua_host *host, const void *object, int slot) {
    host->freeSlots[host->freeCount++] = slot;
    clua_place *place = find_place(host, object);
    if (!place || place->slot != slot) return; /* the object already has a new handle */
    host->placeCount--;
    /* Moves up the entries after it, so that no search ends too early. */
    size_t hole = (size_t)(place - host->places);
    for (size_t i = (hole + 1) & host->placeMask; host->places[i].object; i = (i + 1) & host->placeMask) {
        size_t home = place_of(host, host->places[i].object);
        if (((i - home) & host->placeMask) < ((i - hole) & host->placeMask)) continue;
        host->places[hole] = host->places[i];
        hole = i;
    }
    host->places[hole].object = NULL;
}
