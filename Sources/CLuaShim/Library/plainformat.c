/* string.format for common conversions, without printf: with it, a loop of calls takes 1.9 to 2.1 times as long. */
#include <stdint.h>
#include <string.h>

#include "library.h"

enum { CAPACITY = 512, WIDEST = 99 };

static inline int count_digits(uint64_t value) {
    int count = 1;
    for (; value >= 10; value /= 10) count++;
    return count;
}

/* The eight hexadecimal digits of a number, the first one in the lowest byte. */
static inline uint64_t hexadecimal(uint32_t value, int isUpper) {
    const uint64_t each = 0x0101010101010101;
    uint64_t digits = value;
    digits = (digits | digits << 16) & 0x0000FFFF0000FFFF;
    digits = (digits | digits << 8) & 0x00FF00FF00FF00FF;
    digits = __builtin_bswap64((digits | digits << 4) & each * 0x0F);
    uint64_t letters = ((digits + each * 6) >> 4) & each;
    return digits + each * '0' + letters * (uint64_t)((isUpper ? 'A' : 'a') - '0' - 10);
}

/* Writes one integer in hexadecimal; returns its end, or NULL without room. Up to eight bytes after the text are also
 * overwritten. */
static inline char *add_hexadecimal(
    char *out, const char *limit, uint64_t value, int isUpper, int isZeroed, int width) {
    int length = value ? (67 - __builtin_clzll(value)) / 4 : 1;
    if (limit - out < (width > length ? width : length)) return NULL;
    if (isZeroed && width > length && width <= 16) length = width;
    for (int pad = width - length; pad > 0; pad--) *out++ = isZeroed ? '0' : ' ';
    if (length > 8) {
        uint64_t high = hexadecimal((uint32_t)(value >> 32), isUpper) >> 8 * (16 - length);
        memcpy(out, &high, sizeof high);
        out += length - 8;
        length = 8;
    }
    uint64_t low = hexadecimal((uint32_t)value, isUpper) >> 8 * (8 - length);
    memcpy(out, &low, sizeof low);
    return out + length;
}

/* The same in decimal. */
static inline char *add_decimal(char *out, const char *limit, int64_t given, int isZeroed, int width) {
    int isNegative = given < 0;
    uint64_t value = isNegative ? 0 - (uint64_t)given : (uint64_t)given;
    int length = count_digits(value), pad = width - length - isNegative;
    if (limit - out < length + isNegative + (pad > 0 ? pad : 0)) return NULL;
    if (isNegative && isZeroed) *out++ = '-';
    for (; pad > 0; pad--) *out++ = isZeroed ? '0' : ' ';
    if (isNegative && !isZeroed) *out++ = '-';
    char *end = out += length;
    for (; length > 0; length--, value /= 10) *--end = (char)('0' + value % 10);
    return out;
}

/* Formats integers in decimal and hexadecimal, with a width and leading zeros, and whole strings; returns 0 for other
 * formats. */
int clua_format_plainly(lua_State *L) {
    char buffer[CAPACITY + 8], *out = buffer;
    const char *limit = buffer + CAPACITY;
    size_t size;
    const char *at = lua_tolstring(L, 1, &size), *end = at + size;
    if (!at) return 0;
    int argument = 1;
    for (; at < end; at++) {
        if (out == limit) return 0;
        if (*at != '%') {
            *out++ = *at;
            continue;
        }
        if (++at == end) return 0;
        if (*at == '%') {
            *out++ = '%';
            continue;
        }
        int isZeroed = *at == '0', width = 0, ok;
        for (at += isZeroed; at < end && *at >= '0' && *at <= '9'; at++) {
            width = width * 10 + (*at - '0');
            if (width > WIDEST) return 0;
        }
        if (at == end) return 0;
        argument++;
        switch (*at) {
        case 'd':
        case 'i':
        case 'x':
        case 'X': {
            lua_Integer value = lua_tointegerx(L, argument, &ok);
            if (!ok) return 0;
            out = (*at | 0x20) == 'x' ? add_hexadecimal(out, limit, (uint64_t)value, *at == 'X', isZeroed, width)
                                      : add_decimal(out, limit, value, isZeroed, width);
            if (!out) return 0;
            break;
        }
        case 's': {
            size_t length;
            if (isZeroed || width) return 0;
            int type = lua_type(L, argument);
            if (type == LUA_TNUMBER && lua_isinteger(L, argument)) {
                out = add_decimal(out, limit, lua_tointeger(L, argument), 0, 0);
                if (!out) return 0;
                break;
            }
            if (type != LUA_TSTRING) return 0;
            const char *text = lua_tolstring(L, argument, &length);
            if ((size_t)(limit - out) < length) return 0;
            memcpy(out, text, length);
            out += length;
            break;
        }
        default: return 0;
        }
    }
    lua_pushlstring(L, buffer, (size_t)(out - buffer));
    return 1;
}
