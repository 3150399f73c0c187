/* Allocates Lua's small blocks. Most tables, strings, closures and handles are short-lived, and malloc takes a large
 * part of a script's time: without the pool a loop that makes tables or closures takes 1.3 to 1.45 times as long.
 *
 * A slab holds blocks of one size. It is aligned to its own size, so that a block's address determines its slab. It
 * counts its blocks in use: an empty slab is reused for another size or owner, and a chunk of empty slabs freed, so that
 * memory freed by a script is not held for a size no longer needed. Lua passes a block's size with each call.
 *
 * Each block has an owner, whoever frees it: the collector runs in any owner's time. A slab's blocks have one owner, which
 * is in its header. A large block of the state comes from malloc, which aligns to 16 bytes; one of an environment begins 8
 * bytes later, behind its owner. So its address tells whose it is, and a state without such environments pays nothing.
 * Eight bytes are as much as Lua aligns to. */
#include "pool.h"

enum { HEADER = 64, RETAINED = 128, OWNER = sizeof(clua_account *) };

_Static_assert(sizeof(clua_slab) <= HEADER, "a slab's header is before its first block");
_Static_assert(OWNER == 8, "malloc aligns to twice a pointer's size, and Lua needs 8 bytes: only of 64 bits is that both");

/* ---- Lists of slabs ---- */

static void link_first(clua_slab **first, clua_slab *slab) {
    slab->previous = NULL;
    slab->next = *first;
    if (*first) (*first)->previous = slab;
    *first = slab;
}

static void unlink_from(clua_slab **first, clua_slab *slab) {
    if (slab->previous) slab->previous->next = slab->next;
    else *first = slab->next;
    if (slab->next) slab->next->previous = slab->previous;
}

static clua_slab **list_of(clua_slab *slab) {
    return slab->isListed ? &slab->account->slabs[clua_pool_class(slab->size)] : &slab->account->full;
}

/* Moves a slab that is full, or full no more. */
static void move_slab(clua_slab *slab, int hasRoom) {
    unlink_from(list_of(slab), slab);
    slab->isListed = (uint16_t)hasRoom;
    link_first(list_of(slab), slab);
}

/* ---- Empty slabs ---- */

static clua_chunk *make_chunk(clua_slabs *all) {
    clua_chunk *chunk = calloc(1, sizeof *chunk);
    if (chunk) chunk->slabs = aligned_alloc(CLUA_POOL_SLAB, CLUA_POOL_CHUNK * CLUA_POOL_SLAB);
    if (!chunk || !chunk->slabs) {
        free(chunk);
        return NULL;
    }
    chunk->next = all->chunks;
    if (chunk->next) chunk->next->previous = chunk;
    return all->chunks = chunk;
}

static void free_chunk(clua_slabs *all, clua_chunk *chunk) {
    for (unsigned i = 0; i < chunk->begun; i++)
        unlink_from(&all->empty, (clua_slab *)(chunk->slabs + i * CLUA_POOL_SLAB));
    all->emptyCount -= chunk->begun;
    if (chunk->next) chunk->next->previous = chunk->previous;
    if (chunk->previous) chunk->previous->next = chunk->next;
    else all->chunks = chunk->next;
    free(chunk->slabs);
    free(chunk);
}

/* An empty slab: one that was used before, or the next of the newest chunk. */
static clua_slab *empty_slab(clua_slabs *all) {
    clua_slab *slab = all->empty;
    if (slab) {
        unlink_from(&all->empty, slab);
        all->emptyCount--;
        slab->chunk->empty--;
        return slab;
    }
    clua_chunk *chunk = all->chunks;
    if ((!chunk || chunk->begun == CLUA_POOL_CHUNK) && !(chunk = make_chunk(all))) return NULL;
    slab = (clua_slab *)(chunk->slabs + chunk->begun++ * CLUA_POOL_SLAB);
    slab->chunk = chunk;
    return slab;
}

/* Keeps an empty slab, which is in no list, or frees its chunk. */
static void retire(clua_slab *slab) {
    clua_slabs *all = slab->account->all;
    link_first(&all->empty, slab);
    all->emptyCount++;
    clua_chunk *chunk = slab->chunk;
    if (++chunk->empty == CLUA_POOL_CHUNK && all->emptyCount > RETAINED) free_chunk(all, chunk);
}

static clua_slab *make_slab(clua_account *account, unsigned class) {
    clua_slab *slab = empty_slab(account->all);
    if (!slab) return NULL;
    slab->account = account;
    slab->size = (uint16_t)((class + 1) * CLUA_POOL_GRAIN);
    slab->used = 0;
    slab->capacity = (uint16_t)((CLUA_POOL_SLAB - HEADER) / slab->size);
    slab->free = NULL;
    slab->fresh = (char *)slab + HEADER;
    slab->isListed = 1;
    link_first(list_of(slab), slab);
    return slab;
}

/* ---- Small blocks ---- */

void *clua_pool_take(clua_account *account, size_t size) {
    unsigned class = clua_pool_class(size);
    clua_slab *slab = account->slabs[class];
    if (!slab && !(slab = make_slab(account, class))) return NULL;
    void *block = slab->free;
    if (block) {
        memcpy(&slab->free, block, sizeof slab->free);
    } else {
        block = slab->fresh;
        slab->fresh += slab->size;
    }
    if (++slab->used == slab->capacity) move_slab(slab, 0);
    return block;
}

void clua_pool_give(void *block) {
    clua_slab *slab = clua_pool_slab(block);
    memcpy(block, &slab->free, sizeof slab->free);
    slab->free = block;
    slab->used--;
    if (!slab->isListed) move_slab(slab, 1);
    /* Keeps the only slab with room for a size: the next block is probably allocated soon. */
    if (slab->used > 0 || (!slab->previous && !slab->next)) return;
    unlink_from(list_of(slab), slab);
    retire(slab);
}

/* ---- Large blocks ---- */

static int names_owner(const void *block) { return (uintptr_t)block % 16 != 0; }

static clua_account *named_owner(void *block) {
    clua_account *account;
    memcpy(&account, (char *)block - OWNER, OWNER);
    return account;
}

static void *take_large(clua_account *account, size_t size) {
    if (!account->state) return malloc(size);
    char *start = malloc(size + OWNER);
    if (!start) return NULL;
    memcpy(start, &account, OWNER);
    account->large++;
    return start + OWNER;
}

static void *resize_large(void *block, size_t size) {
    if (!names_owner(block)) return realloc(block, size);
    char *start = realloc((char *)block - OWNER, size + OWNER);
    return start ? start + OWNER : NULL;
}

static void give_large(void *block) {
    if (!names_owner(block)) {
        free(block);
        return;
    }
    named_owner(block)->large--;
    free((char *)block - OWNER);
}

void clua_pool_free_large(clua_account *state, void *block, size_t size) {
    clua_account_remove(clua_pool_owner(state, block, size), size);
    give_large(block);
}

/* ---- Any blocks ---- */

clua_account *clua_pool_owner(clua_account *state, void *block, size_t size) {
    if (clua_pool_is_small(size)) return clua_pool_slab(block)->account;
    if (!names_owner(block)) return state;
    clua_account *account = named_owner(block);
    return account->hasEnded ? state : account;
}

void *clua_pool_resize(clua_account *account, void *block, size_t old, size_t size) {
    int isSmall = clua_pool_is_small(size);
    if (!block) return isSmall ? clua_pool_take(account, size) : take_large(account, size);
    int wasSmall = clua_pool_is_small(old);
    if (!wasSmall && !isSmall) return resize_large(block, size);
    if (wasSmall && isSmall && clua_pool_class(old) == clua_pool_class(size)) return block;
    void *moved = isSmall ? clua_pool_take(account, size) : take_large(account, size);
    if (!moved) return NULL;
    memcpy(moved, block, old < size ? old : size);
    if (wasSmall) clua_pool_give(block);
    else give_large(block);
    return moved;
}

static void merge_list(clua_slab **list, clua_account *state) {
    for (clua_slab *slab = *list, *next; slab; slab = next) {
        next = slab->next;
        slab->account = state;
        if (slab->used > 0) link_first(list_of(slab), slab);
        else retire(slab);
    }
    *list = NULL;
}

void clua_pool_merge(clua_account *account) {
    clua_account *state = account->state;
    for (unsigned i = 0; i < CLUA_POOL_CLASSES; i++) merge_list(&account->slabs[i], state);
    merge_list(&account->full, state);
    account->hasEnded = 1;
    size_t used = clua_account_used(account);
    clua_account_remove(account, used);
    clua_account_add(state, used);
}

void clua_pool_close(clua_slabs *all) {
    for (clua_chunk *chunk = all->chunks, *next; chunk; chunk = next) {
        next = chunk->next;
        free(chunk->slabs);
        free(chunk);
    }
}
