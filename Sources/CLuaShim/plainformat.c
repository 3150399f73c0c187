/* string.format for what formats mostly hold: integers in decimal and hexadecimal, with a width and leading zeros, and
 * whole strings. printf, which Lua's own calls for each directive, takes several times as long. */
#include <stdint.h>
#include <string.h>

#include "host.h"

enum { ROOM = 512, WIDEST = 99 };

/* The digits of a number, written backwards from `end`. */
static char *write_digits(char *end, uint64_t value, int base, const char *digits) {
    if (base == 16)
        do *--end = digits[value & 15];
        while (value >>= 4);
    else
        do *--end = (char)('0' + value % 10);
        while (value /= 10);
    return end;
}

/* One integer; where its text ends, NULL when there is no room. */
static char *add_integer(char *out, const char *limit, lua_Integer value, char conversion, int isZeroed, int width) {
    char buffer[24], *end = buffer + sizeof buffer, *start;
    int isNegative = 0;
    if (conversion == 'x' || conversion == 'X') {
        start = write_digits(end, (uint64_t)value, 16, conversion == 'x' ? "0123456789abcdef" : "0123456789ABCDEF");
    } else {
        isNegative = value < 0;
        start = write_digits(end, isNegative ? 0 - (uint64_t)value : (uint64_t)value, 10, NULL);
    }
    int length = (int)(end - start), pad = width - length - isNegative;
    if (pad < 0) pad = 0;
    if (limit - out < length + isNegative + pad) return NULL;
    if (isNegative && isZeroed) *out++ = '-';
    memset(out, isZeroed ? '0' : ' ', (size_t)pad);
    out += pad;
    if (isNegative && !isZeroed) *out++ = '-';
    memcpy(out, start, (size_t)length);
    return out + length;
}

int clua_format_plainly(lua_State *L) {
    char buffer[ROOM], *out = buffer;
    const char *limit = buffer + ROOM;
    size_t size;
    if (lua_type(L, 1) != LUA_TSTRING) return 0;
    const char *at = lua_tolstring(L, 1, &size), *end = at + size;
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
        int type = lua_type(L, ++argument);
        switch (*at) {
        case 'd':
        case 'i':
        case 'x':
        case 'X': {
            if (type != LUA_TNUMBER) return 0;
            lua_Integer value = lua_tointegerx(L, argument, &ok);
            if (!ok || !(out = add_integer(out, limit, value, *at, isZeroed, width))) return 0;
            break;
        }
        case 's': {
            size_t length;
            if (isZeroed || width) return 0;
            if (type == LUA_TNUMBER && lua_isinteger(L, argument)) {
                out = add_integer(out, limit, lua_tointeger(L, argument), 'd', 0, 0);
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
