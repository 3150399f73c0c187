/* The members of a class, found by the identity of their name: Lua interns short strings, and a class pins its members'
 * names, so a lookup is a multiplication and one comparison: the factor is one for which few names fall together, or none.
 * No other key has the identity of a string that lives, and a number has none (NULL). */
#ifndef CLUA_FIELDS_H
#define CLUA_FIELDS_H

#include <stddef.h>
#include <stdint.h>

typedef struct {
    const void *name; /* the interned string's identity; NULL: free */
    void *getter, *setter;
    int method; /* index in the table of methods; 0: a property */
    int cache;  /* the user value that keeps its text; 0: it is asked for each time */
} clua_slot;

typedef struct {
    clua_slot *slots;
    uint64_t factor;
    unsigned shift, count; /* 64 - shift bits of the product are the place */
} clua_fields;

void clua_init_fields(clua_fields *fields);
/* The cleared slot of a name, new or not; it stays where it is until the next name is added. */
clua_slot *clua_add_field(clua_fields *fields, const void *name);

static inline size_t clua_field_place(const clua_fields *fields, const void *name) {
    return (size_t)((uint64_t)(uintptr_t)name * fields->factor >> fields->shift);
}

static inline size_t clua_field_mask(const clua_fields *fields) { return ((size_t)1 << (64 - fields->shift)) - 1; }

static inline clua_slot *clua_find_field(const clua_fields *fields, const void *name) {
    if (!name) return NULL;
    for (size_t i = clua_field_place(fields, name); fields->slots[i].name; i = (i + 1) & clua_field_mask(fields))
        if (fields->slots[i].name == name) return &fields->slots[i];
    return NULL;
}

#endif
