/* Lua's small blocks: most tables, strings, closures and handles live for a moment, and malloc's care for each of them takes
 * longer than what is done with it.
 *
 * A slab holds blocks of one size. It lies at a multiple of its own size, so that a block's address tells its slab, and it
 * counts its blocks in use: an empty one serves another size, or goes back, so that what a script has dropped is never
 * held for a size that nobody asks for any more. A block's size is known from Lua, which gives it with each call. */
#include "pool.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { SLAB = 1 << 16, HEADER = 64, KEPT = 16 };

struct clua_slab {
    clua_slab *next, *previous; /* among those of its size that have room */
    void *free;                 /* blocks that were given back, each with the address of the next */
    char *fresh;                /* behind it nothing was given out yet */
    unsigned size, used, room;
    int isListed;
};

static inline clua_slab *slab_of(void *block) { return (clua_slab *)((uintptr_t)block & ~(uintptr_t)(SLAB - 1)); }

static inline unsigned class_of(size_t size) { return (unsigned)((size - 1) / CLUA_POOL_GRAIN); }

static void list(clua_pool *pool, clua_slab *slab) {
    clua_slab **first = &pool->slabs[class_of(slab->size)];
    slab->previous = NULL;
    slab->next = *first;
    if (*first) (*first)->previous = slab;
    *first = slab;
    slab->isListed = 1;
}

static void unlist(clua_pool *pool, clua_slab *slab) {
    if (slab->previous) slab->previous->next = slab->next;
    else pool->slabs[class_of(slab->size)] = slab->next;
    if (slab->next) slab->next->previous = slab->previous;
    slab->isListed = 0;
}

static clua_slab *make_slab(clua_pool *pool, unsigned class) {
    clua_slab *slab = pool->empty;
    if (slab) {
        pool->empty = slab->next;
        pool->emptyCount--;
    } else if (!(slab = aligned_alloc(SLAB, SLAB))) {
        return NULL;
    }
    slab->size = (class + 1) * CLUA_POOL_GRAIN;
    slab->used = 0;
    slab->room = (SLAB - HEADER) / slab->size;
    slab->free = NULL;
    slab->fresh = (char *)slab + HEADER;
    list(pool, slab);
    return slab;
}

static void *take(clua_pool *pool, size_t size) {
    unsigned class = class_of(size);
    clua_slab *slab = pool->slabs[class];
    if (!slab && !(slab = make_slab(pool, class))) return NULL;
    void *block = slab->free;
    if (block) {
        memcpy(&slab->free, block, sizeof slab->free);
    } else {
        block = slab->fresh;
        slab->fresh += slab->size;
    }
    if (++slab->used == slab->room) unlist(pool, slab);
    return block;
}

static void give(clua_pool *pool, void *block) {
    clua_slab *slab = slab_of(block);
    memcpy(block, &slab->free, sizeof slab->free);
    slab->free = block;
    slab->used--;
    if (!slab->isListed) list(pool, slab);
    /* The only one of its size with room stays: the next block is likely to come soon. */
    if (slab->used > 0 || (!slab->previous && !slab->next)) return;
    unlist(pool, slab);
    if (pool->emptyCount == KEPT) {
        free(slab);
        return;
    }
    slab->next = pool->empty;
    pool->empty = slab;
    pool->emptyCount++;
}

#if defined(__SANITIZE_ADDRESS__) || (defined(__has_feature) && __has_feature(address_sanitizer))
static int is_small(size_t size) { return size == SIZE_MAX; } /* the sanitizer watches each block */
#else
static inline int is_small(size_t size) { return size <= CLUA_POOL_LARGEST; }
#endif

void *clua_pool_resize(clua_pool *pool, void *block, size_t old, size_t size) {
    if (!block) return is_small(size) ? take(pool, size) : malloc(size);
    if (!is_small(old) && !is_small(size)) return realloc(block, size);
    if (is_small(old) && is_small(size) && class_of(old) == class_of(size)) return block;
    void *moved = is_small(size) ? take(pool, size) : malloc(size);
    if (!moved) return NULL;
    memcpy(moved, block, old < size ? old : size);
    clua_pool_free(pool, block, old);
    return moved;
}

void clua_pool_free(clua_pool *pool, void *block, size_t size) {
    if (!block) return;
    if (is_small(size)) give(pool, block);
    else free(block);
}

void clua_pool_close(clua_pool *pool) {
    for (unsigned i = 0; i < CLUA_POOL_CLASSES; i++)
        for (clua_slab *slab = pool->slabs[i], *next; slab; slab = next) {
            next = slab->next;
            free(slab);
        }
    for (clua_slab *slab = pool->empty, *next; slab; slab = next) {
        next = slab->next;
        free(slab);
    }
}
