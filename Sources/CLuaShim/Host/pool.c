/* Allocates Lua's small blocks. Most tables, strings, closures and handles are short-lived, and malloc takes a large
 * part of a script's time: without the pool a loop that makes tables or closures takes 1.3 to 1.45 times as long.
 *
 * A slab holds blocks of one size. It is aligned to its own size, so that a block's address determines its slab. It
 * counts its blocks in use: an empty slab is reused for another size or freed, so that memory freed by a script is not
 * held for a size no longer needed. Lua passes a block's size with each call. */
#include "pool.h"

enum { HEADER = 64, RETAINED = 16 };

static void list(clua_pool *pool, clua_slab *slab) {
    clua_slab **first = &pool->slabs[clua_pool_class(slab->size)];
    slab->previous = NULL;
    slab->next = *first;
    if (*first) (*first)->previous = slab;
    *first = slab;
    slab->isListed = 1;
}

static void unlist(clua_pool *pool, clua_slab *slab) {
    if (slab->previous) slab->previous->next = slab->next;
    else pool->slabs[clua_pool_class(slab->size)] = slab->next;
    if (slab->next) slab->next->previous = slab->previous;
    slab->isListed = 0;
}

static clua_slab *make_slab(clua_pool *pool, unsigned class) {
    clua_slab *slab = pool->empty;
    if (slab) {
        pool->empty = slab->next;
        pool->emptyCount--;
    } else if (!(slab = aligned_alloc(CLUA_POOL_SLAB, CLUA_POOL_SLAB))) {
        return NULL;
    }
    slab->size = (class + 1) * CLUA_POOL_GRAIN;
    slab->used = 0;
    slab->capacity = (CLUA_POOL_SLAB - HEADER) / slab->size;
    slab->free = NULL;
    slab->fresh = (char *)slab + HEADER;
    list(pool, slab);
    return slab;
}

void *clua_pool_take(clua_pool *pool, size_t size) {
    unsigned class = clua_pool_class(size);
    clua_slab *slab = pool->slabs[class];
    if (!slab && !(slab = make_slab(pool, class))) return NULL;
    void *block = slab->free;
    if (block) {
        memcpy(&slab->free, block, sizeof slab->free);
    } else {
        block = slab->fresh;
        slab->fresh += slab->size;
    }
    if (++slab->used == slab->capacity) unlist(pool, slab);
    return block;
}

void clua_pool_give(clua_pool *pool, void *block) {
    clua_slab *slab = clua_pool_slab(block);
    memcpy(block, &slab->free, sizeof slab->free);
    slab->free = block;
    slab->used--;
    if (!slab->isListed) list(pool, slab);
    /* Keeps the only slab with room for a size: the next block is probably allocated soon. */
    if (slab->used > 0 || (!slab->previous && !slab->next)) return;
    unlist(pool, slab);
    if (pool->emptyCount == RETAINED) {
        free(slab);
        return;
    }
    slab->next = pool->empty;
    pool->empty = slab;
    pool->emptyCount++;
}

void *clua_pool_resize(clua_pool *pool, void *block, size_t old, size_t size) {
    int isSmall = clua_pool_is_small(size);
    if (!block) return isSmall ? clua_pool_take(pool, size) : malloc(size);
    int wasSmall = clua_pool_is_small(old);
    if (!wasSmall && !isSmall) return realloc(block, size);
    if (wasSmall && isSmall && clua_pool_class(old) == clua_pool_class(size)) return block;
    void *moved = isSmall ? clua_pool_take(pool, size) : malloc(size);
    if (!moved) return NULL;
    memcpy(moved, block, old < size ? old : size);
    clua_pool_free(pool, block, old);
    return moved;
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
