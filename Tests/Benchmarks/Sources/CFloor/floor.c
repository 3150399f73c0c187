#include "CFloor.h"

#include <malloc.h>
#include <stdlib.h>
#include <string.h>

// Writes what Cubby's archiver writes, byte for byte: equal strings, dates and numbers once, references and offsets as
// narrow as they can be. It knows beforehand what an item is, and how many there are.
typedef struct {
    uint8_t *at;        // where the next object goes
    uint8_t *body;      // the first object behind those of the head
    uint64_t *offsets;  // of each object, from the body's beginning
    uint32_t number;    // the next object's
    uint64_t *slots;    // 32 bits of hash, 32 bits of object number
    uint32_t *tags;     // by object number, the UID of a string
    size_t mask;
    uint32_t *entries;  // $objects: the object of each UID
    uint32_t uids;
    uint32_t *uid_objects;  // by UID, the object that refers to it
    uint32_t smalls[1024];  // the objects of the small integers
} writer;

enum { HEAD = 11 };  // how many objects come before the body

#define INLINE static inline __attribute__((always_inline))

INLINE uint32_t begin(writer *w) {
    w->offsets[w->number] = w->at - w->body;
    return w->number++;
}

INLINE uint8_t *big(uint8_t *at, uint64_t value, int size) {
    if (size == 1) {
        *at = value;
    } else if (size == 2) {
        uint16_t bytes = __builtin_bswap16(value);
        memcpy(at, &bytes, 2);
    } else if (size == 4) {
        uint32_t bytes = __builtin_bswap32(value);
        memcpy(at, &bytes, 4);
    } else {
        uint64_t bytes = __builtin_bswap64(value);
        memcpy(at, &bytes, 8);
    }
    return at + size;
}

INLINE uint8_t *number(uint8_t *at, uint8_t marker, uint64_t value) {
    int width = value < 0x100 ? 0 : value < 0x10000 ? 1 : value < 0x100000000 ? 2 : 3;
    *at++ = marker | width;
    return big(at, value, 1 << width);
}

INLINE uint8_t *header(uint8_t *at, uint8_t marker, uint64_t count) {
    *at++ = marker | (count < 15 ? count : 15);
    return count < 15 ? at : number(at, 0x10, count);
}

// The number of the leaf that lies at the cursor: its own, or that of an equal one.
INLINE uint32_t leaf(writer *w, uint64_t hash, size_t size) {
    for (size_t at = hash & w->mask;; at = (at + 1) & w->mask) {
        if (!w->slots[at]) {
            uint32_t number = begin(w);
            w->slots[at] = (hash & 0xFFFFFFFF) << 32 | (number + 1);
            w->at += size;
            return number;
        }
        if (w->slots[at] >> 32 == (hash & 0xFFFFFFFF)) {
            uint32_t number = (uint32_t)w->slots[at] - 1;
            if (!memcmp(w->body + w->offsets[number], w->at, size)) return number;
        }
    }
}

INLINE uint64_t hash_of(const uint8_t *bytes, size_t length, uint64_t *seen) {
    uint64_t hash = 14695981039346656037ull ^ length;
    size_t i = 0;
    for (; i + 8 <= length; i += 8) {
        uint64_t word;
        memcpy(&word, bytes + i, 8);
        *seen |= word;
        hash = (hash ^ word) * 0x9E3779B97F4A7C15ull;
        hash ^= hash >> 29;
    }
    for (; i < length; i++) *seen |= bytes[i], hash = (hash ^ bytes[i]) * 0x9E3779B97F4A7C15ull;
    return hash ^ hash >> 32;
}

INLINE uint32_t string(writer *w, const char *text, size_t length) {
    uint64_t seen = 0, hash = hash_of((const uint8_t *)text, length, &seen);
    if (seen & 0x8080808080808080) abort();  // would have to be UTF-16
    uint8_t *start = header(w->at, 0x50, length);
    memcpy(start, text, length);
    return leaf(w, hash, start - w->at + length);
}

static uint32_t word(writer *w, const char *text) { return string(w, text, strlen(text)); }

INLINE uint32_t uid(writer *w, uint32_t value) {
    if (!w->uid_objects[value]) {
        w->uid_objects[value] = begin(w);
        *w->at++ = 0x80 | (value < 0x100 ? 0 : value < 0x10000 ? 1 : 3);
        w->at = big(w->at, value, value < 0x100 ? 1 : value < 0x10000 ? 2 : 4);
    }
    return w->uid_objects[value];
}

// The UID of a string.
INLINE uint32_t entry(writer *w, const char *text, size_t length) {
    uint32_t number = string(w, text, length);
    if (!w->tags[number]) {
        w->entries[w->uids] = number;
        w->tags[number] = w->uids++;
    }
    return w->tags[number];
}

INLINE uint32_t integer(writer *w, int64_t value) {
    if (value >= 0 && value < 1024 && w->smalls[value]) return w->smalls[value];
    size_t size = (value < 0 ? big((*w->at = 0x13, w->at + 1), value, 8) : number(w->at, 0x10, value)) - w->at;
    uint64_t seen = 0;
    uint32_t object = leaf(w, hash_of(w->at, size, &seen), size);
    if (value >= 0 && value < 1024) w->smalls[value] = object;
    return object;
}

INLINE uint32_t dictionary(writer *w, int count, int size, uint8_t **references) {
    uint32_t object = begin(w);
    *w->at++ = 0xD0 | count;
    *references = w->at;
    w->at += 2 * count * size;
    return object;
}

static void describe(writer *w, const char *name, uint32_t uid, int size) {
    uint8_t *to;
    w->entries[uid] = dictionary(w, 2, size, &to);
    to = big(to, word(w, "$classname"), size), to = big(to, word(w, "$classes"), size);
    to = big(to, word(w, name), size);
    big(to, w->number, size);
    begin(w);
    *w->at++ = 0xA2;
    to = w->at, w->at += 2 * size;
    to = big(to, word(w, name), size), big(to, word(w, "NSObject"), size);
}

INLINE uint8_t *write_all(const floor_item *items, size_t count, size_t *length, int size) {
    size_t slots = 64, dates = 64, most = count * 12 + 64;
    while (slots * 5 < (count * 4 + 64) * 8) slots *= 2;
    while (dates < count * 2) dates *= 2;
    typedef struct {
        uint64_t bits;
        uint64_t uid;
    } date;
    date *table = calloc(dates, sizeof *table);
    // Where the body begins, if no two items share anything.
    uint8_t scratch[16];
    size_t entries = count * 5 + 5, texts = 0;
    size_t room = 8 + (1 + 8 * size) + 33 + 5 + 18 + (1 + 2 * size) + 5 + 2 + entries * size;
    room += header(scratch, 0xA0, entries) - scratch;
    for (size_t i = 0; i < count; i++) texts += items[i].name_length + items[i].serial_length + items[i].key_length;
    uint8_t *file = malloc(room + texts + count * (64 + 17 * size) + 4096);
    writer w = {.at = file + room, .body = file + room, .number = HEAD, .mask = slots - 1, .uids = 1};
    w.offsets = malloc(most * 8);
    w.slots = calloc(slots, 8);
    w.tags = calloc(most, 4);
    w.entries = malloc((count * 5 + 8) * 4);
    w.uid_objects = calloc(count * 5 + 8, 4);
    uint32_t *elements = malloc(count * 4 + 4);
    w.entries[0] = word(&w, "$null");
    uint32_t array = w.uids++, date_class = 0, item_class = 0, time_key = 0, class_key = 0, keys[6] = {0};
    uint8_t *to;
    for (size_t i = 0; i < count; i++) {
        const floor_item *item = &items[i];
        uint32_t self = w.uids++;
        uint32_t name = entry(&w, item->name, item->name_length);
        uint32_t serial = entry(&w, item->serial, item->serial_length);
        uint64_t bits;
        memcpy(&bits, &item->date, 8);
        size_t at = ((bits ^ bits >> 32) * 0x9E3779B97F4A7C15ull >> 20) & (dates - 1);
        while (table[at].uid && table[at].bits != bits) at = (at + 1) & (dates - 1);
        uint32_t when = table[at].uid;
        if (!when) {
            when = w.uids++;
            table[at] = (date){bits, when};
            uint32_t first = !date_class;
            if (first) date_class = w.uids++;
            w.entries[when] = dictionary(&w, 2, size, &to);
            if (first) time_key = word(&w, "NS.time"), class_key = word(&w, "$class");
            to = big(to, time_key, size), to = big(to, class_key, size);
            to = big(to, begin(&w), size);
            *w.at++ = 0x23, w.at = big(w.at, bits, 8);
            big(to, uid(&w, date_class), size);
            if (first) describe(&w, "NSDate", date_class, size);
        }
        uint32_t key = entry(&w, item->key, item->key_length);
        uint32_t first = !item_class;
        if (first) item_class = w.uids++;
        w.entries[self] = dictionary(&w, 6, size, &to);
        if (first) {
            const char *names[] = {"name", "serialNumber", "valueInDollars", "dateCreated", "itemKey", "$class"};
            for (int j = 0; j < 6; j++) keys[j] = word(&w, names[j]);
        }
        for (int j = 0; j < 6; j++) to = big(to, keys[j], size);
        to = big(to, uid(&w, name), size), to = big(to, uid(&w, serial), size);
        to = big(to, integer(&w, item->value), size), to = big(to, uid(&w, when), size);
        to = big(to, uid(&w, key), size), to = big(to, uid(&w, item_class), size);
        if (first) describe(&w, "Item", item_class, size);
        elements[i] = uid(&w, self);
    }
    uint32_t list = begin(&w);
    w.at = header(w.at, 0xA0, count);
    for (size_t i = 0; i < count; i++) w.at = big(w.at, elements[i], size);
    uint32_t array_class = w.uids++;
    w.entries[array] = dictionary(&w, 2, size, &to);
    to = big(to, word(&w, "NS.objects"), size), to = big(to, word(&w, "$class"), size);
    to = big(to, list, size), big(to, uid(&w, array_class), size);
    describe(&w, "NSArray", array_class, size);

    // The head, whose size is known now.
    size_t head_offsets[HEAD], body_size = w.at - w.body;
    uint8_t *at = file;
    memcpy(at, "bplist00", 8), at += 8;
    head_offsets[0] = at - file, *at++ = 0xD4;
    static const uint8_t root[] = {1, 2, 3, 4, 5, 6, 7, 10};
    for (int i = 0; i < 8; i++) at = big(at, root[i], size);
    static const char *words[] = {"$version", "$archiver", "$top", "$objects"};
    for (int i = 0; i < 4; i++) {
        size_t size = strlen(words[i]);
        head_offsets[1 + i] = at - file, *at++ = 0x50 | size, memcpy(at, words[i], size), at += size;
    }
    head_offsets[5] = at - file, at = number(at, 0x10, 100000);
    head_offsets[6] = at - file, at = header(at, 0x50, 15), memcpy(at, "NSKeyedArchiver", 15), at += 15;
    head_offsets[7] = at - file, *at++ = 0xD1, at = big(at, 8, size), at = big(at, 9, size);
    head_offsets[8] = at - file, *at++ = 0x54, memcpy(at, "root", 4), at += 4;
    head_offsets[9] = at - file, *at++ = 0x80, *at++ = array;
    head_offsets[10] = at - file, at = header(at, 0xA0, w.uids);
    for (uint32_t i = 0; i < w.uids; i++) at = big(at, w.entries[i], size);
    if (at != w.body) memmove(at, w.body, body_size);
    size_t body_at = at - file, end = body_at + body_size;
    int width = end < 0x100 ? 1 : end < 0x10000 ? 2 : end < 0x100000000 ? 4 : 8;
    file = realloc(file, end + (size_t)w.number * width + 32);
    at = file + end;
    for (int i = 0; i < HEAD; i++) at = big(at, head_offsets[i], width);
    if (width == 4) {
        for (uint32_t i = HEAD; i < w.number; i++) at = big(at, body_at + w.offsets[i], 4);
    } else {
        for (uint32_t i = HEAD; i < w.number; i++) at = big(at, body_at + w.offsets[i], width);
    }
    memset(at, 0, 32);
    at[6] = width, at[7] = size;
    big(at + 8, w.number, 8), big(at + 24, end, 8);
    *length = at + 32 - file;
    int needed = w.number < 0x100 ? 1 : w.number < 0x10000 ? 2 : 4;
    free(table), free(w.offsets), free(w.slots), free(w.tags), free(w.entries), free(w.uid_objects), free(elements);
    if (needed == size) return file;
    free(file);
    return NULL;
}

uint8_t *floor_write(const floor_item *items, size_t count, size_t *length) {
    // As narrow as the number of objects allows, if no two items share anything; narrower if they do.
    size_t most = count * 11 + 64;
    uint8_t *file = NULL;
    if (most >= 0x10000) file = write_all(items, count, length, 4);
    if (!file && most >= 0x100) file = write_all(items, count, length, 2);
    return file ? file : write_all(items, count, length, 1);
}

INLINE uint64_t get(const uint8_t *at, int size) {
    if (size == 1) return *at;
    uint16_t two;
    uint32_t four;
    uint64_t eight;
    if (size == 2) return memcpy(&two, at, 2), __builtin_bswap16(two);
    if (size == 4) return memcpy(&four, at, 4), __builtin_bswap32(four);
    return memcpy(&eight, at, 8), __builtin_bswap64(eight);
}

// What an array or a string holds, and how many.
INLINE const uint8_t *contents(const uint8_t *object, uint64_t *count) {
    *count = object[0] & 15;
    if (*count < 15) return object + 1;
    int size = 1 << (object[1] & 15);
    *count = get(object + 2, size);
    return object + 2 + size;
}

INLINE int64_t read_all(const uint8_t *bytes, size_t length, int width, int size) {
    const uint8_t *trailer = bytes + length - 32, *offsets = bytes + get(trailer + 24, 8);
    uint64_t count, uids;
#define OBJECT(number) (bytes + get(offsets + (size_t)(number) * width, width))
#define REFERENCE(at, index) get((at) + (size_t)(index) * size, size)
    const uint8_t *root = OBJECT(get(trailer + 16, 8)) + 1;
    const uint8_t *objects = contents(OBJECT(REFERENCE(root, 7)), &uids);
#define RESOLVE(number) OBJECT(REFERENCE(objects, get(OBJECT(number) + 1, 1 + (*OBJECT(number) & 15))))
    const uint8_t *array = OBJECT(REFERENCE(objects, 1)) + 1, *list = contents(OBJECT(REFERENCE(array, 2)), &count);
    int64_t sum = 0;
    for (uint64_t i = 0; i < count; i++) {
        const uint8_t *item = RESOLVE(REFERENCE(list, i)) + 1;
        for (int j = 6; j < 11; j++) {
            if (j == 8) {
                const uint8_t *number = OBJECT(REFERENCE(item, j));
                sum += get(number + 1, 1 << (number[0] & 15));
            } else if (j == 9) {
                uint64_t bits = get(OBJECT(REFERENCE(RESOLVE(REFERENCE(item, j)) + 1, 2)) + 1, 8);
                double date;
                memcpy(&date, &bits, 8);
                sum += date > 0;
            } else {
                uint64_t size_of_text;
                const uint8_t *text = contents(RESOLVE(REFERENCE(item, j)), &size_of_text);
                // The characters are looked at, as a program would that wants the text.
                for (uint64_t k = 0; k < size_of_text; k += 8) sum += text[k] >> 7;
                sum += size_of_text;
            }
        }
    }
    return sum;
}

int64_t floor_read(const uint8_t *bytes, size_t length) {
    int width = bytes[length - 26], size = bytes[length - 25];
    if (size == 4 && width == 4) return read_all(bytes, length, 4, 4);
    if (size == 2 && width == 4) return read_all(bytes, length, 4, 2);
    return read_all(bytes, length, width, size);
}

void floor_keep_memory(void) {
    mallopt(M_MMAP_THRESHOLD, 32 << 20);
    mallopt(M_TRIM_THRESHOLD, 1 << 30);
}
