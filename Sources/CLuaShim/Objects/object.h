/* Shared by the files of classes, handles and calls. */
#ifndef CLUA_OBJECT_H
#define CLUA_OBJECT_H

#include "../Library/library.h"

/* A hash table of a class's fields by the identity of their names: Lua interns short strings, and a class pins its
 * field names, so a lookup is a multiplication and usually one comparison. The factor minimises collisions. No other
 * key has the identity of a live string; a number has none (NULL). */
typedef struct {
    const void *name; /* the interned string's identity; NULL: free */
    void *getter, *setter;
    int method; /* index in the table of methods; 0: a property */
} slot;

struct clua_class {
    const char *name;
    clua_kind kind;
    void *fallbackGet, *fallbackSet;
    clua_class *next;
    clua_class *subclasses, *sibling; /* the direct subclasses, and the next one of the same superclass */
    slot *slots;
    uint64_t factor;
    unsigned shift, count; /* 64 - shift bits of the product are the index */
    void *existence;       /* of rows: the accessor that detects removed rows; NULL: none */
    const uint64_t *epoch; /* while this counter is unchanged, no row was removed */
    int metatable, methods; /* references */
};

typedef struct {
    const clua_class *cls;
    union {
        void *object;
        uint64_t payload;
    };
    int slot;      /* of a canonical handle; 0: of another one */
    unsigned held; /* the object's index in the host's list */
} handle;

static inline int is_object(const clua_class *cls) { return cls->kind <= CLUA_BOX; }

static inline void *target(handle *h) { return is_object(h->cls) ? h->object : (void *)&h->payload; }

/* A row in Lua is a light userdata: its number, with mark bits that no address of a process has, to distinguish it from
 * those of other libraries. It costs no memory, and the same row is the same value. All light userdata share one
 * metatable, so a state has one class of rows. */
#define ROW_MARK 0xC0B9u
enum { ROW_BITS = 48 };

static inline void push_row(lua_State *L, uint64_t payload) {
    lua_pushlightuserdata(L, (void *)(uintptr_t)(payload | (uint64_t)ROW_MARK << ROW_BITS));
}

static inline int to_row(lua_State *L, int index, uint64_t *payload) {
    if (lua_type(L, index) != LUA_TLIGHTUSERDATA) return 0;
    uint64_t bits = (uint64_t)(uintptr_t)lua_touserdata(L, index);
    *payload = bits & (((uint64_t)1 << ROW_BITS) - 1);
    return bits >> ROW_BITS == ROW_MARK;
}

/* Frees a class, and returns the next one (class.c). */
clua_class *clua_freeclass(clua_class *cls);

/* ---- Calls (function.c) ---- */

/* Ends a call from Lua into Swift: raises or yields after Swift's frames have returned. */
int clua_finish(lua_State *L, int status);

static inline int call(lua_State *L, int (*entry)(void *, void *, lua_State *), void *box, void *object) {
    clua_host *host = host_of(L);
    clua_check_stack(L);
    int enforce = host->enforce;
    host->enforce = 0;
    int status = entry(box, object, L);
    host->enforce = enforce;
    return status >= 0 && !host->denied ? status : clua_finish(L, status);
}

/* ---- Fields (field.c) ---- */

static inline size_t place(const clua_class *cls, const void *name) {
    return (size_t)((uint64_t)(uintptr_t)name * cls->factor >> cls->shift);
}

static inline size_t mask(const clua_class *cls) { return ((size_t)1 << (64 - cls->shift)) - 1; }

static inline slot *find(const clua_class *cls, const void *name) {
    if (!name) return NULL;
    for (size_t i = place(cls, name); cls->slots[i].name; i = (i + 1) & mask(cls))
        if (cls->slots[i].name == name) return &cls->slots[i];
    return NULL;
}

int clua_index_field(lua_State *L);
int clua_set_field(lua_State *L);
/* The same for a class of rows. */
int clua_index_row(lua_State *L);
int clua_set_row(lua_State *L);

/* ---- Handles (object.c, row.c) ---- */

/* Whether a class descends from another one. The first may be any word: it is compared but not dereferenced. */
int clua_descends(const clua_class *cls, const clua_class *ancestor);

/* The handle at an index if it is one of this class or of a subclass; else NULL. */
static inline handle *find_handle(lua_State *L, int index, const clua_class *cls) {
    handle *h = lua_rawlen(L, index) == sizeof(handle) ? lua_touserdata(L, index) : NULL; /* NULL for a string as long */
    return h && (h->cls == cls || (cls->subclasses && clua_descends(h->cls, cls))) ? h : NULL;
}

int clua_object_gc(lua_State *L);
/* Gives light userdata the metatable on top, which is that of the class of rows. */
void clua_set_row_metatable(lua_State *L, clua_class *cls);
/* Wraps the class's __tostring on top: it is called for rows; other light userdata have Lua's own text. */
void clua_wrap_row_text(lua_State *L);

#endif
