/* string.format for what formats mostly hold: integers in decimal and hexadecimal, with a width and leading zeros, and
 * whole strings. printf, which Lua's own calls for each directive, takes several times as long. */
#include <stdint.h>
#include <string.h>

#include "host.h"

enum { ROOM = 512, WIDEST = 99 };

static inline int count_digits(uint64_t value, int isHexadecimal) {
    int count = 1;
    if (isHexadecimal) return value ? (67 - __builtin_clzll(value)) / 4 : 1;
    for (; value >= 10; value /= 10) count++;
    return count;
}

/* One integer; where its text ends, NULL when there is no room. */
static inline char *add_integer(
    char *out, const char *limit, lua_Integer given, char conversion, int isZeroed, int width) {
    int isHexadecimal = conversion == 'x' || conversion == 'X', isNegative = !isHexadecimal && given < 0;
    uint64_t value = isNegative ? 0 - (uint64_t)given : (uint64_t)given;
    int length = count_digits(value, isHexadecimal), pad = width - length - isNegative;
    if (limit - out < length + isNegative + (pad > 0 ? pad : 0)) return NULL;
    if (isNegative && isZeroed) *out++ = '-';
    for (; pad > 0; pad--) *out++ = isZeroed ? '0' : ' ';
    if (isNegative && !isZeroed) *out++ = '-';
    char *end = out += length;
    if (isHexadecimal) {
        int letter = conversion - 'X' + 'A' - 10;
        for (; length > 0; length--, value >>= 4) {
            int digit = (int)(value & 15);
            *--end = (char)(digit + (digit < 10 ? '0' : letter));
        }
    } else {
        for (; length > 0; length--, value /= 10) *--end = (char)('0' + value % 10);
    }
    return out;
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
