/* An allocator of small blocks, see pool.c. An empty pool is all zeros. */
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
    clua_slab *next, *previous; /* slabs of the same size with room */
    void *free;                 /* freed blocks, as a linked list */
    char *fresh;                /* the start of the never used rest */
    unsigned size, used, capacity;
    int isListed;
};

typedef struct {
    clua_slab *slabs[CLUA_POOL_CLASSES]; /* by size, those with room */
    clua_slab *empty;
    unsigned emptyCount;
} clua_pool;

/* Resizes a block and keeps its content, or allocates one for NULL. Without memory it returns NULL and changes nothing.
 * No size is 0. */
void *clua_pool_resize(clua_pool *pool, void *block, size_t old, size_t size);
/* Frees the slabs, once every block has been freed. */
void clua_pool_close(clua_pool *pool);

static inline unsigned clua_pool_class(size_t size) { return (unsigned)((size - 1) / CLUA_POOL_GRAIN); }

static inline clua_slab *clua_pool_slab(void *block) {
    return (clua_slab *)((uintptr_t)block & ~(uintptr_t)(CLUA_POOL_SLAB - 1));
}

#if defined(__SANITIZE_ADDRESS__) || (defined(__has_feature) && __has_feature(address_sanitizer))
static inline int clua_pool_is_small(size_t size) { return size == SIZE_MAX; } /* the sanitizer tracks each block */
#else
static inline int clua_pool_is_small(size_t size) { return size <= CLUA_POOL_LARGEST; }
#endif

/* The slow paths, beyond a step along a list. */
void *clua_pool_take(clua_pool *pool, size_t size);
void clua_pool_give(clua_pool *pool, void *block);

/* A small block from a slab with room; NULL without one: use clua_pool_resize. */
static inline void *clua_pool_new(clua_pool *pool, size_t size) {
    if (!clua_pool_is_small(size)) return NULL;
    clua_slab *slab = pool->slabs[clua_pool_class(size)];
    if (!slab || slab->used + 1 == slab->capacity) return NULL;
    void *block = slab->free;
    if (block) {
        memcpy(&slab->free, block, sizeof slab->free);
        __builtin_prefetch(slab->free); /* the next block to be allocated */
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
