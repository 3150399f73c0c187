/* Blocks for Lua, see pool.c. All zeros is a pool without any. */
#ifndef CLUA_POOL_H
#define CLUA_POOL_H

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define CLUA_POOL_SLAB ((size_t)1 << 16)
#define CLUA_POOL_GRAIN 16
#define CLUA_POOL_LARGEST 256
#define CLUA_POOL_CLASSES (CLUA_POOL_LARGEST / CLUA_POOL_GRAIN)

typedef struct clua_slab clua_slab;
struct clua_slab {
    clua_slab *next, *previous; /* among those of its size that have room */
    void *free;                 /* blocks that were given back, each with the address of the next */
    char *fresh;                /* behind it nothing was given out yet */
    unsigned size, used, room;
    int isListed;
};

typedef struct {
    clua_slab *slabs[CLUA_POOL_CLASSES]; /* by size, those that have room */
    clua_slab *empty;
    unsigned emptyCount;
} clua_pool;

/* A block of another size with the same content, or a new one for NULL; NULL, and nothing changed, when there is no
 * memory. No size is 0. */
void *clua_pool_resize(clua_pool *pool, void *block, size_t old, size_t size);
/* Gives back what is left, once every block has been freed. */
void clua_pool_close(clua_pool *pool);

static inline unsigned clua_pool_class(size_t size) { return (unsigned)((size - 1) / CLUA_POOL_GRAIN); }

static inline clua_slab *clua_pool_slab(void *block) {
    return (clua_slab *)((uintptr_t)block & ~(uintptr_t)(CLUA_POOL_SLAB - 1));
}

#if defined(__SANITIZE_ADDRESS__) || (defined(__has_feature) && __has_feature(address_sanitizer))
static inline int clua_pool_is_small(size_t size) { return size == SIZE_MAX; } /* the sanitizer watches each block */
#else
static inline int clua_pool_is_small(size_t size) { return size <= CLUA_POOL_LARGEST; }
#endif

/* Where taking or giving back a block is more than a step along a list. */
void *clua_pool_take(clua_pool *pool, size_t size);
void clua_pool_give(clua_pool *pool, void *block);

/* A new block when it is small and at hand; else NULL: it may be had from clua_pool_resize. */
static inline void *clua_pool_new(clua_pool *pool, size_t size) {
    if (!clua_pool_is_small(size)) return NULL;
    clua_slab *slab = pool->slabs[clua_pool_class(size)];
    if (!slab || slab->used + 1 == slab->room) return NULL;
    void *block = slab->free;
    if (block) {
        memcpy(&slab->free, block, sizeof slab->free);
        __builtin_prefetch(slab->free); /* the next one that is asked for */
    } else {
        block = slab->fresh;
        slab->fresh += slab->size;
    }
    slab->used++;
    return block;
}

static inline void clua_pool_free(clua_pool *pool, void *block, size_t size) {
    if (!clua_pool_is_small(size)) {
        free(block);
        return;
    }
    clua_slab *slab = clua_pool_slab(block);
    if (!slab->isListed || slab->used == 1) {
        clua_pool_give(pool, block);
        return;
    }
    memcpy(block, &slab->free, sizeof slab->free);
    slab->free = block;
    slab->used--;
}

#endif
