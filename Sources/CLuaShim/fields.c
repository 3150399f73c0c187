/* The tables of classes' members, see fields.h. */
#include "fields.h"

#include <stdlib.h>
#include <string.h>

void clua_init_fields(clua_fields *fields) {
    fields->factor = 1442695040888963407u;
    fields->shift = 60;
    fields->count = 0;
    fields->slots = calloc(16, sizeof *fields->slots);
    if (!fields->slots) abort();
}

/* The free slot for a name that has none. */
static clua_slot *vacant(const clua_fields *fields, const void *name) {
    size_t i = clua_field_place(fields, name);
    while (fields->slots[i].name) i = (i + 1) & clua_field_mask(fields);
    return &fields->slots[i];
}

/* Twice the slots, by the best of some factors. */
static void grow(clua_fields *fields) {
    clua_slot *old = fields->slots, *best = NULL;
    size_t size = clua_field_mask(fields) + 1, fewest = SIZE_MAX;
    uint64_t factor = fields->factor, chosen = factor;
    fields->shift--;
    for (int attempt = 0; attempt < 16 && fewest; attempt++) {
        factor = factor * 6364136223846793005u + 1442695040888963407u; /* Knuth's, in MMIX */
        fields->factor = factor | 1;
        fields->slots = calloc(size * 2, sizeof *fields->slots);
        if (!fields->slots) abort();
        size_t displaced = 0;
        for (size_t i = 0; i < size; i++) {
            if (!old[i].name) continue;
            clua_slot *s = vacant(fields, old[i].name);
            displaced += s != &fields->slots[clua_field_place(fields, old[i].name)];
            *s = old[i];
        }
        if (displaced < fewest) {
            free(best);
            best = fields->slots;
            fewest = displaced;
            chosen = fields->factor;
        } else {
            free(fields->slots);
        }
    }
    free(old);
    fields->slots = best;
    fields->factor = chosen;
}

clua_slot *clua_add_field(clua_fields *fields, const void *name) {
    clua_slot *s = clua_find_field(fields, name);
    if (!s) {
        if (++fields->count * 4 > clua_field_mask(fields)) grow(fields);
        s = vacant(fields, name);
    }
    memset(s, 0, sizeof *s);
    s->name = name;
    return s;
}
