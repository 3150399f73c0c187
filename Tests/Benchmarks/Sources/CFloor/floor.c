#include "CFloor.h"

#include <stdlib.h>
#include <string.h>

typedef struct {
    uint8_t *body;
    size_t used;
    uint64_t *offsets;
    uint32_t objects;
    uint64_t *slots;  // 32 bits of hash, 32 bits of object number
    uint32_t *uids;   // by object number, the UID of a string
    size_t mask;
} writer;

static uint32_t begin(writer *w) {
    w->offsets[w->objects] = w->used;
    return w->objects++;
}

static void put(writer *w, uint8_t byte) { w->body[w->used++] = byte; }

static void put32(writer *w, uint32_t value) {
    value = __builtin_bswap32(value);
    memcpy(w->body + w->used, &value, 4);
    w->used += 4;
}

static void put64(writer *w, uint64_t value) {
    value = __builtin_bswap64(value);
    memcpy(w->body + w->used, &value, 8);
    w->used += 8;
}

static uint32_t string(writer *w, const char *text, uint32_t length) {
    uint64_t hash = 14695981039346656037ull ^ length;
    uint32_t i = 0;
    for (; i + 8 <= length; i += 8) {
        uint64_t word;
        memcpy(&word, text + i, 8);
        hash = (hash ^ word) * 0x9E3779B97F4A7C15ull;
        hash ^= hash >> 29;
    }
    for (; i < length; i++) hash = (hash ^ (uint8_t)text[i]) * 0x9E3779B97F4A7C15ull;
    hash ^= hash >> 32;
    uint32_t start = length < 15 ? 1 : length < 256 ? 3 : 6;
    for (size_t at = hash & w->mask;; at = (at + 1) & w->mask) {
        if (!w->slots[at]) {
            uint32_t number = begin(w);
            w->slots[at] = (hash & 0xFFFFFFFF) << 32 | (number + 1);
            if (length < 15) {
                put(w, 0x50 | length);
            } else if (length < 256) {
                put(w, 0x5F), put(w, 0x10), put(w, length);
            } else {
                put(w, 0x5F), put(w, 0x12), put32(w, length);
            }
            memcpy(w->body + w->used, text, length);
            w->used += length;
            return number;
        }
        if (w->slots[at] >> 32 == (hash & 0xFFFFFFFF)) {
            uint32_t number = (uint32_t)w->slots[at] - 1;
            if (!memcmp(w->body + w->offsets[number] + start, text, length)) return number;
        }
    }
}

static uint32_t uid(writer *w, uint32_t value) {
    uint32_t number = begin(w);
    put(w, 0x83), put32(w, value);
    return number;
}

static uint32_t integer(writer *w, int64_t value) {
    uint32_t number = begin(w);
    if (value >= 0 && value < 256) {
        put(w, 0x10), put(w, value);
    } else {
        put(w, 0x13), put64(w, value);
    }
    return number;
}

uint8_t *floor_write(const floor_item *items, size_t count, size_t *length) {
    size_t slots = 64;
    while (slots * 5 < count * 3 * 8) slots *= 2;
    writer w = {0};
    w.body = malloc(count * 260 + 4096);
    w.offsets = malloc((count * 12 + 64) * 8);
    w.slots = calloc(slots, 8);
    w.uids = calloc(count * 12 + 64, 4);
    w.mask = slots - 1;
    // $objects, by UID: items, strings and dates as they come.
    uint32_t *table = malloc((count * 5 + 8) * 4), uids = 0;
    memcpy(w.body, "bplist00", 8);
    w.used = 8;
    uint32_t root = begin(&w);
    size_t root_at = w.used;
    w.used += 1 + 8 * 4;
    const char *words[] = {"$version", "$archiver", "$top", "$objects", "NSKeyedArchiver", "root", "$null",
                           "$class", "name", "serialNumber", "valueInDollars", "dateCreated", "itemKey", "NS.time",
                           "NS.objects", "$classname", "$classes", "Item", "NSDate", "NSArray", "NSObject"};
    uint32_t word[21];
    for (int i = 0; i < 21; i++) word[i] = string(&w, words[i], strlen(words[i]));
    uint32_t version = begin(&w);
    put(&w, 0x12), put32(&w, 100000);
    table[uids++] = word[6];
    // The array is UID 1, the three classes 2 to 4.
    uint32_t class_uid[3] = {uid(&w, 2), uid(&w, 3), uid(&w, 4)};
    for (int i = 0; i < 3; i++) {
        uint32_t list = begin(&w);
        put(&w, 0xA2), put32(&w, word[17 + i]), put32(&w, word[20]);
        table[2 + i] = begin(&w);
        put(&w, 0xD2), put32(&w, word[15]), put32(&w, word[16]), put32(&w, word[17 + i]), put32(&w, list);
    }
    uids = 5;
    uint32_t *elements = malloc(count * 4 + 4);
    int64_t smalls[256];
    memset(smalls, -1, sizeof smalls);
    for (size_t i = 0; i < count; i++) {
        const floor_item *item = &items[i];
        uint32_t texts[3] = {string(&w, item->name, item->name_length),
                             string(&w, item->serial, item->serial_length), string(&w, item->key, item->key_length)};
        uint32_t refs[3];
        for (int j = 0; j < 3; j++) {
            // The UID object of a string is kept by the string's number, as the string's UID would be.
            if (!w.uids[texts[j]]) {
                table[uids] = texts[j];
                w.uids[texts[j]] = uid(&w, uids++) + 1;
            }
            refs[j] = w.uids[texts[j]] - 1;
        }
        uint32_t time = begin(&w);
        put(&w, 0x23);
        uint64_t bits;
        memcpy(&bits, &item->date, 8);
        put64(&w, bits);
        uint32_t date = begin(&w);
        put(&w, 0xD2), put32(&w, word[13]), put32(&w, word[7]), put32(&w, time), put32(&w, class_uid[1]);
        table[uids] = date;
        uint32_t date_ref = uid(&w, uids++);
        uint32_t value;
        if (item->value >= 0 && item->value < 256) {
            if (smalls[item->value] < 0) smalls[item->value] = integer(&w, item->value);
            value = smalls[item->value];
        } else {
            value = integer(&w, item->value);
        }
        table[uids] = begin(&w);
        put(&w, 0xD6);
        for (int j = 8; j < 13; j++) put32(&w, word[j]);
        put32(&w, word[7]);
        put32(&w, refs[0]), put32(&w, refs[1]), put32(&w, value), put32(&w, date_ref), put32(&w, refs[2]),
            put32(&w, class_uid[0]);
        elements[i] = uid(&w, uids++);
    }
    uint32_t list = begin(&w);
    put(&w, 0xAF), put(&w, 0x12), put32(&w, count);
    for (size_t i = 0; i < count; i++) put32(&w, elements[i]);
    table[1] = begin(&w);
    put(&w, 0xD2), put32(&w, word[14]), put32(&w, word[7]), put32(&w, list), put32(&w, class_uid[2]);
    uint32_t root_uid = uid(&w, 1), top = begin(&w);
    put(&w, 0xD1), put32(&w, word[5]), put32(&w, root_uid);
    uint32_t objects = begin(&w);
    put(&w, 0xAF), put(&w, 0x12), put32(&w, uids);
    for (uint32_t i = 0; i < uids; i++) put32(&w, table[i]);
    size_t end = w.used, after = root_at;
    w.used = after;
    put(&w, 0xD4);
    for (int i = 0; i < 4; i++) put32(&w, word[i]);
    put32(&w, version), put32(&w, word[4]), put32(&w, top), put32(&w, objects);
    w.used = end;
    w.body = realloc(w.body, end + (size_t)w.objects * 4 + 32);
    for (uint32_t i = 0; i < w.objects; i++) put32(&w, w.offsets[i]);
    memset(w.body + w.used, 0, 32);
    w.body[w.used + 6] = 4, w.body[w.used + 7] = 4;
    w.used += 8;
    put64(&w, w.objects), put64(&w, root), put64(&w, end);
    *length = w.used;
    free(w.offsets), free(w.slots), free(w.uids), free(table), free(elements);
    return w.body;
}

static uint32_t get32(const uint8_t *at) {
    uint32_t value;
    memcpy(&value, at, 4);
    return __builtin_bswap32(value);
}

static uint64_t get64(const uint8_t *at) {
    uint64_t value;
    memcpy(&value, at, 8);
    return __builtin_bswap64(value);
}

int64_t floor_read(const uint8_t *bytes, size_t length) {
    const uint8_t *trailer = bytes + length - 32;
    const uint8_t *offsets = bytes + get64(trailer + 24);
#define OBJECT(number) (bytes + get32(offsets + (size_t)(number) * 4))
    const uint8_t *root = OBJECT(get64(trailer + 16));
    const uint8_t *objects = OBJECT(get32(root + 1 + 7 * 4)) + 6;
#define RESOLVE(number) OBJECT(get32(objects + (size_t)get32(OBJECT(number) + 1) * 4))
    const uint8_t *list = OBJECT(get32(OBJECT(get32(objects + 4)) + 1 + 2 * 4));
    uint32_t count = get32(list + 2);
    int64_t sum = 0;
    for (uint32_t i = 0; i < count; i++) {
        const uint8_t *values = RESOLVE(get32(list + 6 + (size_t)i * 4)) + 1 + 6 * 4;
        for (int j = 0; j < 5; j++) {
            if (j == 2) {
                const uint8_t *number = OBJECT(get32(values + 8));
                sum += number[0] == 0x10 ? number[1] : (int64_t)get64(number + 1);
            } else if (j == 3) {
                uint64_t bits = get64(OBJECT(get32(RESOLVE(get32(values + 12)) + 1 + 2 * 4)) + 1);
                double date;
                memcpy(&date, &bits, 8);
                sum += date > 0;
            } else {
                const uint8_t *text = RESOLVE(get32(values + j * 4));
                uint32_t size = (text[0] & 15) < 15 ? text[0] & 15 : text[2];
                // The characters are looked at, as a program would that wants the text.
                for (uint32_t k = 0; k < size; k += 8) sum += text[k + 1] >> 7;
                sum += size;
            }
        }
    }
    return sum;
}
