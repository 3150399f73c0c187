/* string.format, string.pack and related functions, os.date: Lua's own functions loop over their formats and arguments.
 * Short input is passed to them directly. Long formats are processed here piece by piece, or refused where no script
 * needs them. */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "library.h"

enum { SHORT = 1 << 18, LONGEST_FORMAT = 1 << 18, SLICE = 1 << 16 };

/* Calls Lua's own function, which this one replaces, with the same arguments. */
static int original(lua_State *L) { return lua_tocfunction(L, lua_upvalueindex(1))(L); }

static void add_text(lua_State *L, luaL_Buffer *result, const char *text, size_t length) {
    for (size_t done = 0; done < length; done += SLICE) {
        luaL_addlstring(result, text + done, length - done < SLICE ? length - done : SLICE);
        clua_poll(L);
    }
}

/* Appends a string in Lua's syntax: %q. */
static void add_quoted(lua_State *L, luaL_Buffer *result, const char *text, size_t length) {
    clua_budget budget = {0};
    luaL_addchar(result, '"');
    for (size_t i = 0; i < length; i++) {
        unsigned char c = (unsigned char)text[i];
        clua_spend(&budget, L, 1);
        if (c == '"' || c == '\\' || c == '\n') {
            luaL_addchar(result, '\\');
            luaL_addchar(result, (char)c);
        } else if (iscntrl(c)) {
            char code[8];
            int isFollowed = i + 1 < length && isdigit((unsigned char)text[i + 1]);
            snprintf(code, sizeof code, isFollowed ? "\\%03d" : "\\%d", (int)c);
            luaL_addstring(result, code);
        } else {
            luaL_addchar(result, (char)c);
        }
    }
    luaL_addchar(result, '"');
}

/* Raises errors that mention the argument's number, since Lua's own function would report the wrong one here. */
static void check_argument(lua_State *L, int argument, int conversion) {
    if (argument > lua_gettop(L)) luaL_argerror(L, argument, "no value");
    if (conversion && strchr("cdiouxX", conversion)) luaL_checkinteger(L, argument);
    else if (conversion && strchr("aAeEfFgG", conversion)) luaL_checknumber(L, argument);
    else if (conversion == 'q' && lua_type(L, argument) > LUA_TSTRING)
        luaL_argerror(L, argument, "value has no literal form");
}

/* Appends the result of one conversion, made by Lua's own function. */
static void add_converted(lua_State *L, luaL_Buffer *result, const char *directive, size_t length, int argument) {
    lua_pushvalue(L, lua_upvalueindex(1));
    lua_pushlstring(L, directive, length);
    lua_pushvalue(L, argument);
    lua_call(L, 2, 1);
    luaL_addvalue(result);
}

static int format_pieces(lua_State *L) {
    size_t size, length;
    const char *at = clua_checktext(L, 1, &size), *end = at + size;
    int argument = 1, top = lua_gettop(L);
    luaL_Buffer result;
    luaL_buffinit(L, &result);
    while (at < end) {
        const char *percent = memchr(at, '%', (size_t)(end - at));
        add_text(L, &result, at, (size_t)((percent ? percent : end) - at));
        if (!percent) break;
        at = percent + 1;
        clua_poll(L);
        if (at < end && *at == '%') {
            luaL_addchar(&result, *at++);
            continue;
        }
        const char *conversion = at + strspn(at, "-+ #0123456789.");
        size_t directive = (size_t)(conversion + (conversion < end) - percent);
        if (++argument > top) luaL_argerror(L, argument, "no value");
        check_argument(L, argument, *conversion);
        const char *text = lua_type(L, argument) == LUA_TSTRING ? lua_tolstring(L, argument, &length) : NULL;
        if (text && directive == 2 && *conversion == 's') add_text(L, &result, text, length);
        else if (text && directive == 2 && *conversion == 'q') add_quoted(L, &result, text, length);
        else add_converted(L, &result, percent, directive < 64 ? directive : 64, argument);
        at = percent + directive;
    }
    luaL_pushresult(&result);
    return 1;
}

static int string_format(lua_State *L) {
    clua_check_stack(L);
    if (clua_format_plainly(L)) return 1;
    clua_checktext(L, 1, NULL);
    size_t total = 0;
    for (int i = lua_gettop(L); i >= 1 && total < SHORT; i--)
        if (lua_type(L, i) == LUA_TSTRING) total += lua_rawlen(L, i);
    return total < SHORT ? original(L) : format_pieces(L);
}

/* string.pack, packsize, unpack and os.date: refuses long formats. */
static int short_format(lua_State *L) {
    luaL_argcheck(L, lua_type(L, 1) != LUA_TSTRING || lua_rawlen(L, 1) <= LONGEST_FORMAT, 1, "format is too long");
    return original(L);
}

static void guard(lua_State *L, const char *name, lua_CFunction function) {
    lua_getfield(L, -1, name);
    lua_pushcclosure(L, function, 1);
    lua_setfield(L, -2, name);
}

/* tonumber with a base: refuses long digit strings. */
static int string_to_number(lua_State *L) {
    size_t length;
    if (lua_isnoneornil(L, 2) || lua_type(L, 1) != LUA_TSTRING || lua_rawlen(L, 1) < SHORT) return original(L);
    clua_budget budget = {0};
    lua_Integer base = luaL_checkinteger(L, 2);
    luaL_argcheck(L, 2 <= base && base <= 36, 2, "base out of range");
    const char *text = lua_tolstring(L, 1, &length), *end = text + length, *at = text;
    lua_Unsigned number = 0;
    for (; at < end && isspace((unsigned char)*at); at++) clua_spend(&budget, L, 1);
    int isNegative = at < end && *at == '-';
    if (at < end && (*at == '-' || *at == '+')) at++;
    const char *digits = at;
    for (; at < end && isalnum((unsigned char)*at); at++) {
        clua_spend(&budget, L, 1);
        int digit = isdigit((unsigned char)*at) ? *at - '0' : toupper((unsigned char)*at) - 'A' + 10;
        if (digit >= base) break;
        number = number * (lua_Unsigned)base + (lua_Unsigned)digit;
    }
    int hasDigits = at > digits;
    for (; at < end && isspace((unsigned char)*at); at++) clua_spend(&budget, L, 1);
    if (hasDigits && at == end) lua_pushinteger(L, (lua_Integer)(isNegative ? 0u - number : number));
    else luaL_pushfail(L);
    return 1;
}

void clua_bound_formats(lua_State *L) {
    lua_pushglobaltable(L);
    guard(L, "tonumber", string_to_number);
    lua_pop(L, 1);
    if (lua_getglobal(L, LUA_STRLIBNAME) == LUA_TTABLE) {
        guard(L, "format", string_format);
        guard(L, "pack", short_format);
        guard(L, "packsize", short_format);
        guard(L, "unpack", short_format);
    }
    lua_pop(L, 1);
    if (lua_getglobal(L, LUA_OSLIBNAME) == LUA_TTABLE) guard(L, "date", short_format);
    lua_pop(L, 1);
}
