/* The lines of a chunk that have code, where a breakpoint can be set.
 *
 * Lua reports them for an existing function only, and the functions in a chunk do not exist before it runs. So they are
 * read from its bytecode, in the format of Lua 5.4; any other format yields no lines. */
#include <stdlib.h>
#include <string.h>

#include "../Host/host.h"

typedef struct {
    unsigned char *bytes;
    size_t length, capacity;
} dump;

static int append(lua_State *L, const void *bytes, size_t length, void *data) {
    dump *dump = data;
    (void)L;
    if (length > SIZE_MAX / 2 - dump->length) return 1;
    if (dump->length + length > dump->capacity) {
        size_t capacity = (dump->length + length) * 2;
        unsigned char *more = realloc(dump->bytes, capacity);
        if (!more) return 1;
        dump->bytes = more;
        dump->capacity = capacity;
    }
    if (length) memcpy(dump->bytes + dump->length, bytes, length);
    dump->length += length;
    return 0;
}

typedef struct {
    const unsigned char *at, *end;
    int failed;
    int *lines;
    size_t count, capacity;
} reader;

static const unsigned char *skip(reader *reader, size_t count) {
    const unsigned char *at = reader->at;
    if ((size_t)(reader->end - at) < count) {
        reader->failed = 1;
        count = (size_t)(reader->end - at);
    }
    reader->at += count;
    return at;
}

static unsigned char read_byte(reader *reader) {
    const unsigned char *at = skip(reader, 1);
    return reader->failed ? 0 : *at;
}

/* Seven bits per byte, the highest first; the top bit marks the last byte. */
static size_t read_number(reader *reader) {
    size_t value = 0;
    while (!reader->failed) {
        unsigned char byte = read_byte(reader);
        if (value > SIZE_MAX >> 7) reader->failed = 1;
        value = value << 7 | (byte & 0x7f);
        if (byte & 0x80) break;
    }
    return value;
}

static void skip_elements(reader *reader, size_t size) {
    size_t count = read_number(reader);
    skip(reader, count > SIZE_MAX / size ? SIZE_MAX : count * size);
}

static void skip_string(reader *reader) {
    size_t length = read_number(reader);
    if (length) skip(reader, length - 1);
}

static void skip_constants(reader *reader) {
    for (size_t n = read_number(reader); n && !reader->failed; n--) switch (read_byte(reader)) {
        case 0x03: skip(reader, sizeof(lua_Integer)); break;
        case 0x13: skip(reader, sizeof(lua_Number)); break;
        case 0x04: case 0x14: skip_string(reader); break;
        default: break; /* nil, false, true */
        }
}

static void record(reader *reader, int line) {
    if (reader->count < reader->capacity) reader->lines[reader->count] = line;
    reader->count++;
}

/* Each instruction's line is a difference from the previous one; -128 stands for the next absolute line. */
static void read_lines(reader *reader, int line, int skipsFirst) {
    size_t count = read_number(reader);
    const unsigned char *differences = skip(reader, count);
    size_t absolutes = read_number(reader);
    if (reader->failed) return;
    for (size_t i = 0; i < count; i++) {
        int difference = (signed char)differences[i];
        if (difference == -128) {
            if (!absolutes) reader->failed = 1;
            else absolutes--;
            read_number(reader);
            line = (int)read_number(reader);
        } else {
            line += difference;
        }
        if (reader->failed) return;
        if (i || !skipsFirst) record(reader, line);
    }
    for (; absolutes && !reader->failed; absolutes--) {
        read_number(reader);
        read_number(reader);
    }
}

static void read_function(reader *reader, int nesting) {
    if (nesting > 250) reader->failed = 1;
    skip_string(reader); /* the source */
    int line = (int)read_number(reader);
    read_number(reader);
    skip(reader, 1);
    int isVararg = read_byte(reader);
    skip(reader, 1);
    skip_elements(reader, 4); /* instructions */
    skip_constants(reader);
    skip_elements(reader, 3); /* upvalues */
    for (size_t n = read_number(reader); n && !reader->failed; n--) read_function(reader, nesting + 1);
    if (reader->failed) return;
    read_lines(reader, line, isVararg); /* the first instruction of a vararg function has no line event */
    for (size_t n = read_number(reader); n && !reader->failed; n--) {
        skip_string(reader);
        read_number(reader);
        read_number(reader);
    }
    for (size_t n = read_number(reader); n && !reader->failed; n--) skip_string(reader);
}

size_t clua_code_lines(lua_State *L, int *lines, size_t capacity) {
    static const unsigned char head[] = "\x1bLua\x54\x00\x19\x93\r\n\x1a\n\x04";
    dump dump = {0};
    size_t count = 0;
    if (lua_dump(L, append, &dump, 0) == 0 && dump.length > sizeof head && !memcmp(dump.bytes, head, sizeof head - 1)) {
        reader reader = {dump.bytes, dump.bytes + dump.length, 0, lines, 0, capacity};
        skip(&reader, sizeof head - 1 + 2 + sizeof(lua_Integer) + sizeof(lua_Number) + 1);
        read_function(&reader, 0);
        if (!reader.failed) count = reader.count;
    }
    free(dump.bytes);
    return count;
}
