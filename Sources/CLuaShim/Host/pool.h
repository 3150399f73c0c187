/* An allocator of small blocks, and the accounts of those who own them, see pool.c. */
#ifndef CLUA_POOL_H
#define CLUA_POOL_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define CLUA_POOL_SLAB ((size_t)1 << 13)
#define CLUA_POOL_CHUNK 8 /* slabs */
#define CLUA_POOL_GRAIN 16
#define CLUA_POOL_LARGEST 256
#define CLUA_POOL_CLASSES (CLUA_POOL_LARGEST / CLUA_POOL_GRAIN)

typedef struct clua_account clua_account;

/* What malloc gives for slabs: each alone would touch more pages for malloc's own records than for its blocks. */
typedef struct clua_chunk clua_chunk;
struct clua_chunk {
    clua_chunk *next, *previous;
    char *slabs;
    unsigned begun, empty; /* the slabs that have been used, and those of them that are empty */
};

typedef struct clua_slab clua_slab;
struct clua_slab {
    clua_slab *next, *previous; /* slabs of the same account: of the same size with room, or full ones; or empty ones */
    void *free;                 /* freed blocks, as a linked list */
    char *fresh;                /* the start of the never used rest */
    clua_account *account;      /* the owner of its blocks */
    clua_chunk *chunk;
    uint16_t size, used, capacity;
    uint16_t isListed; /* among those with room */
};

/* The slabs of a state, for all of its accounts. */
typedef struct {
    clua_slab *empty;
    unsigned emptyCount;
    clua_chunk *chunks; /* the first has those that have not been used */
} clua_slabs;

/* What one owner has allocated: the state, or an environment with a limit. An environment's is in memory of its own, with
 * a reference of the state and one of the host. */
struct clua_account {
    clua_slab *slabs[CLUA_POOL_CLASSES]; /* by size, those with room */
    clua_slab *full;
    clua_slabs *all;
    atomic_size_t used, peak; /* in bytes; other threads may read them */
    size_t calm;              /* the use below which a small block is within the limit */
    size_t limit;             /* in bytes; 0: none */
    clua_account *state;      /* the state's account; of that itself, NULL */
    /* Of an environment's account only. */
    size_t large; /* the number of large blocks that name it */
    int hasEnded; /* its blocks are the state's */
    atomic_int references;
    clua_account *next;
};

/* Counts an account's bytes: only the thread that uses the state changes them. */
static inline void clua_account_add(clua_account *account, size_t bytes) {
    size_t used = atomic_load_explicit(&account->used, memory_order_relaxed) + bytes;
    atomic_store_explicit(&account->used, used, memory_order_relaxed);
    if (used > atomic_load_explicit(&account->peak, memory_order_relaxed))
        atomic_store_explicit(&account->peak, used, memory_order_relaxed);
}

static inline void clua_account_remove(clua_account *account, size_t bytes) {
    size_t used = atomic_load_explicit(&account->used, memory_order_relaxed);
    atomic_store_explicit(&account->used, used - bytes, memory_order_relaxed);
}

static inline size_t clua_account_used(const clua_account *account) {
    return atomic_load_explicit(&((clua_account *)account)->used, memory_order_relaxed);
}

/* The owner of a block; `state` is the state's account. */
clua_account *clua_pool_owner(clua_account *state, void *block, size_t size);
/* Resizes a block of the account and keeps its content, or allocates one for NULL. Without memory it returns NULL and
 * changes nothing. No size is 0. It counts nothing. */
void *clua_pool_resize(clua_account *account, void *block, size_t old, size_t size);
/* Passes the blocks of an environment's account on to the state's. */
void clua_pool_merge(clua_account *account);
/* Frees all slabs, once every block has been freed. */
void clua_pool_close(clua_slabs *all);

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
void *clua_pool_take(clua_account *account, size_t size);
void clua_pool_give(void *block);
void clua_pool_free_large(clua_account *state, void *block, size_t size);

/* A small block from a slab with room; NULL without one: use clua_pool_resize. It counts nothing. */
static inline void *clua_pool_new(clua_account *account, size_t size) {
    if (!clua_pool_is_small(size)) return NULL;
    clua_slab *slab = account->slabs[clua_pool_class(size)];
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

/* Frees a block, and counts that for its owner; `state` is the state's account. */
static inline void clua_pool_free(clua_account *state, void *block, size_t size) {
    if (!clua_pool_is_small(size)) {
        clua_pool_free_large(state, block, size);
        return;
    }
    clua_slab *slab = clua_pool_slab(block);
    clua_account_remove(slab->account, size);
    if (!slab->isListed || slab->used == 1) {
        clua_pool_give(block);
        return;
    }
    memcpy(block, &slab->free, sizeof slab->free);
    slab->free = block;
    slab->used--;
}

#endif
