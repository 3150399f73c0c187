#include <stddef.h>
#include <stdint.h>

// The lower bound that archiving is measured against: a program in C that writes one kind of keyed archive and no other.
typedef struct {
    const char *name, *serial, *key;
    uint32_t name_length, serial_length, key_length;
    int64_t value;
    double date;
} floor_item;

// Writes an archive of items, all texts ASCII, with equal leaves written once; the bytes are to be freed by free().
uint8_t *floor_write(const floor_item *items, size_t count, size_t *length);

// Reads every field of every item of such an archive; the sum of the values and of the lengths of the texts.
int64_t floor_read(const uint8_t *bytes, size_t length);

// The allocator keeps what is freed, as far as it can.
void floor_keep_memory(void);
