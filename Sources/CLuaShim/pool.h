/* Blocks for Lua, see pool.c. All zeros is a pool without any. */
#ifndef CLUA_POOL_H
#define CLUA_POOL_H

#include <stddef.h>

#define CLUA_POOL_GRAIN 16
#define CLUA_POOL_LARGEST 256
#define CLUA_POOL_CLASSES (CLUA_POOL_LARGEST / CLUA_POOL_GRAIN)

typedef struct clua_slab clua_slab;
typedef struct {
    clua_slab *slabs[CLUA_POOL_CLASSES]; /* by size, those that have room */
    clua_slab *empty;
    unsigned emptyCount;
} clua_pool;

/* A block of another size with the same content, or a new one for NULL; NULL, and nothing changed, when there is no
 * memory. No size is 0. */
void *clua_pool_resize(clua_pool *pool, void *block, size_t old, size_t size);
void clua_pool_free(clua_pool *pool, void *block, size_t size);
/* Gives back what is left, once every block has been freed. */
void clua_pool_close(clua_pool *pool);

#endif
