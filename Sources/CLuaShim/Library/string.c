/* The functions of Lua's string library with unbounded loops: here they have a budget, and check for interrupts when
 * it is spent. Results and errors are those of Lua's own functions. */
#define _GNU_SOURCE /* memmem */
#include <ctype.h>
#include <limits.h>
#include <string.h>

#include "pattern.h"

#define SLICE ((size_t)1 << 16) /* bytes copied between two checks for interrupts */

/* A position, counted from the end if negative; at least 1. */
static size_t start_position(lua_Integer position, size_t length) {
    if (position > 0) return (size_t)position;
    if (position == 0 || position < -(lua_Integer)length) return 1;
    return length + (size_t)position + 1;
}

/* ---- Searching ---- */

/* In slices: memmem is linear, but may take long. */
static const char *find_plain(lua_State *L, const char *text, size_t length, const char *what, size_t size) {
    size_t slice = size * 4 > SLICE * 16 ? size * 4 : SLICE * 16;
    if (size == 0) return text;
    while (length >= size) {
        size_t part = length < slice ? length : slice;
        const char *found = memmem(text, part, what, size);
        if (found || part == length) return found;
        clua_poll(L);
        text += part - size + 1;
        length -= part - size + 1;
    }
    return NULL;
}

static int is_plain(const char *pattern, size_t length) {
    for (size_t i = 0; i < length; i++)
        if (strchr("^$*+?.([%-", pattern[i]) && pattern[i]) return 0;
    return 1;
}

/* Memory for a compiled pattern: on the C stack for short ones. */
typedef union {
    clua_step align;
    char bytes[32 * sizeof(clua_step) + 64];
} scratch;

static void compile(lua_State *L, clua_pattern *pattern, scratch *scratch, const char *bytes, size_t length) {
    size_t size = clua_pattern_size(length);
    void *memory = size <= sizeof *scratch ? (void *)scratch : lua_newuserdatauv(L, size, 0);
    clua_pattern_compile(L, pattern, memory, bytes, length);
}

static int find_or_match(lua_State *L, int finds) {
    size_t length, size;
    const char *text = clua_checktext(L, 1, &length);
    const char *bytes = clua_checktext(L, 2, &size);
    size_t first = start_position(luaL_optinteger(L, 3, 1), length) - 1;
    if (first > length) {
        luaL_pushfail(L);
        return 1;
    }
    if (finds && (lua_toboolean(L, 4) || is_plain(bytes, size))) {
        const char *found = find_plain(L, text + first, length - first, bytes, size);
        if (!found) {
            luaL_pushfail(L);
            return 1;
        }
        lua_pushinteger(L, found - text + 1);
        lua_pushinteger(L, (lua_Integer)(found - text + (ptrdiff_t)size));
        return 2;
    }
    scratch memory;
    clua_pattern pattern;
    clua_match match;
    int anchored = size > 0 && *bytes == '^';
    compile(L, &pattern, &memory, bytes + anchored, size - (size_t)anchored);
    clua_match_begin(&match, L, &pattern, text, length);
    for (const char *at = text + first; at <= match.end; at++) {
        if (!anchored && !(at = clua_match_skip(&match, at))) break;
        const char *end = clua_match_at(&match, at);
        if (end) {
            if (!finds) return clua_push_captures(&match, at, end);
            lua_pushinteger(L, at - text + 1);
            lua_pushinteger(L, end - text);
            return 2 + clua_push_captures(&match, NULL, NULL);
        }
        if (anchored) break;
    }
    luaL_pushfail(L);
    return 1;
}

static int string_find(lua_State *L) { return find_or_match(L, 1); }
static int string_match(lua_State *L) { return find_or_match(L, 0); }

/* ---- gmatch ---- */

typedef struct {
    clua_pattern pattern;
    const char *at, *last; /* the next start; the end of the last match */
} iteration;

/* Upvalues: the subject, the pattern, and the iterator's state with the compiled steps. */
static int next_match(lua_State *L) {
    size_t length;
    const char *text = lua_tolstring(L, lua_upvalueindex(1), &length);
    iteration *each = lua_touserdata(L, lua_upvalueindex(3));
    clua_match match;
    clua_match_begin(&match, L, &each->pattern, text, length);
    for (const char *at = each->at; at <= match.end; at++) {
        if (!(at = clua_match_skip(&match, at))) break;
        const char *end = clua_match_at(&match, at);
        if (end && end != each->last) {
            each->at = each->last = end;
            return clua_push_captures(&match, at, end);
        }
    }
    return 0;
}

static int string_gmatch(lua_State *L) {
    size_t length, size;
    const char *text = clua_checktext(L, 1, &length);
    const char *bytes = clua_checktext(L, 2, &size);
    size_t first = start_position(luaL_optinteger(L, 3, 1), length) - 1;
    lua_settop(L, 2);
    if (first > length) first = length + 1;
    iteration *each = lua_newuserdatauv(L, sizeof *each + clua_pattern_size(size), 0);
    clua_pattern_compile(L, &each->pattern, each + 1, bytes, size);
    each->at = text + first;
    each->last = NULL;
    lua_pushcclosure(L, next_match, 3);
    return 1;
}

/* ---- gsub ---- */

/* Appends the replacement string, expanding %0 … %9. */
static void add_template(clua_match *match, luaL_Buffer *result, const char *at, const char *end) {
    lua_State *L = match->L;
    size_t length;
    const char *template = lua_tolstring(L, 3, &length);
    const char *last = template + length;
    for (;;) {
        const char *escape = memchr(template, '%', (size_t)(last - template));
        luaL_addlstring(result, template, (size_t)((escape ? escape : last) - template));
        if (!escape) return;
        clua_spend(&match->budget, L, 1);
        char c = escape + 1 < last ? escape[1] : '\0';
        template = escape + 2;
        if (c == '%') {
            luaL_addchar(result, '%');
        } else if (c == '0') {
            luaL_addlstring(result, at, (size_t)(end - at));
        } else if (isdigit((unsigned char)c)) {
            clua_push_capture(match, c - '1', at, end);
            luaL_tolstring(L, -1, NULL); /* a position becomes text */
            lua_remove(L, -2);
            luaL_addvalue(result);
        } else {
            luaL_error(L, "invalid use of '%c' in replacement string", '%');
        }
    }
}

/* Appends the replacement of one match; 0 if it is the match itself. */
static int add_replacement(clua_match *match, luaL_Buffer *result, const char *at, const char *end, int type) {
    lua_State *L = match->L;
    switch (type) {
    case LUA_TFUNCTION:
        lua_pushvalue(L, 3);
        lua_call(L, clua_push_captures(match, at, end), 1);
        break;
    case LUA_TTABLE:
        clua_push_capture(match, 0, at, end);
        lua_gettable(L, 3);
        break;
    default: add_template(match, result, at, end); return 1;
    }
    if (!lua_toboolean(L, -1)) {
        lua_pop(L, 1);
        luaL_addlstring(result, at, (size_t)(end - at));
        return 0;
    }
    if (!lua_isstring(L, -1)) luaL_error(L, "invalid replacement value (a %s)", luaL_typename(L, -1));
    luaL_addvalue(result);
    return 1;
}

static int string_gsub(lua_State *L) {
    clua_check_stack(L);
    size_t length, size;
    const char *text = clua_checktext(L, 1, &length);
    const char *bytes = clua_checktext(L, 2, &size);
    if (lua_type(L, 3) == LUA_TUSERDATA && clua_is_error(L, 3)) clua_error_to_text(L, 3);
    int type = lua_type(L, 3);
    lua_Integer most = luaL_optinteger(L, 4, (lua_Integer)length + 1), count = 0;
    luaL_argexpected(L, type == LUA_TNUMBER || type == LUA_TSTRING || type == LUA_TFUNCTION || type == LUA_TTABLE, 3,
                     "string/function/table");
    int anchored = size > 0 && *bytes == '^', changed = 0;
    scratch memory;
    clua_pattern pattern;
    clua_match match;
    compile(L, &pattern, &memory, bytes + anchored, size - (size_t)anchored);
    clua_match_begin(&match, L, &pattern, text, length);
    luaL_Buffer result;
    clua_prepare_buffer(L, 2 * length);
    luaL_buffinit(L, &result);
    const char *at = text, *last = NULL;
    while (count < most) {
        if (!anchored) {
            const char *next = clua_match_skip(&match, at);
            luaL_addlstring(&result, at, (size_t)((next ? next : match.end) - at));
            if (!next) {
                at = match.end;
                break;
            }
            at = next;
        }
        const char *end = clua_match_at(&match, at);
        if (end && end != last) {
            count++;
            changed |= add_replacement(&match, &result, at, end, type);
            at = last = end;
        } else if (at < match.end) {
            luaL_addchar(&result, *at++);
        } else {
            break;
        }
        if (anchored) break;
    }
    if (!changed) {
        lua_pushvalue(L, 1);
    } else {
        luaL_addlstring(&result, at, (size_t)(match.end - at));
        luaL_pushresult(&result);
    }
    lua_pushinteger(L, count);
    return 2;
}

/* ---- Copying ---- */

static int string_rep(lua_State *L) {
    size_t length, gap;
    const char *text = clua_checktext(L, 1, &length);
    lua_Integer times = luaL_checkinteger(L, 2);
    if (!lua_isnoneornil(L, 3)) clua_checktext(L, 3, &gap);
    const char *separator = luaL_optlstring(L, 3, "", &gap);
    size_t unit = length + gap;
    if (times <= 0 || unit == 0) {
        lua_pushliteral(L, "");
        return 1;
    }
    if (unit < length || unit > (size_t)INT_MAX / (size_t)times)
        return luaL_error(L, "resulting string too large");
    size_t total = unit * (size_t)times - gap, done = unit < total ? unit : total;
    luaL_Buffer result;
    clua_prepare_buffer(L, total);
    char *to = luaL_buffinitsize(L, &result, total);
    memcpy(to, text, length);
    memcpy(to + length, separator, done - length);
    while (done < total) { /* doubles the copied units */
        size_t part = done < SLICE ? done : SLICE / unit * unit;
        if (part == 0) part = unit;
        if (part > total - done) part = total - done;
        memcpy(to + done, to, part);
        done += part;
        clua_poll(L);
    }
    luaL_pushresultsize(&result, total);
    return 1;
}

typedef enum { LOWER, UPPER, REVERSE } change;

static int changed_copy(lua_State *L, change how) {
    size_t length;
    const char *text = clua_checktext(L, 1, &length);
    luaL_Buffer result;
    clua_prepare_buffer(L, length);
    char *to = luaL_buffinitsize(L, &result, length);
    for (size_t start = 0; start < length; start += SLICE) {
        size_t end = length - start < SLICE ? length : start + SLICE;
        switch (how) {
        case LOWER:
            for (size_t i = start; i < end; i++) to[i] = (char)tolower((unsigned char)text[i]);
            break;
        case UPPER:
            for (size_t i = start; i < end; i++) to[i] = (char)toupper((unsigned char)text[i]);
            break;
        case REVERSE:
            for (size_t i = start; i < end; i++) to[i] = text[length - 1 - i];
            break;
        }
        clua_poll(L);
    }
    luaL_pushresultsize(&result, length);
    return 1;
}

static int string_lower(lua_State *L) { return changed_copy(L, LOWER); }
static int string_upper(lua_State *L) { return changed_copy(L, UPPER); }
static int string_reverse(lua_State *L) { return changed_copy(L, REVERSE); }

/* ---- Parts ---- */

static int string_len(lua_State *L) {
    size_t length;
    clua_checktext(L, 1, &length);
    lua_pushinteger(L, (lua_Integer)length);
    return 1;
}

/* A last position, counted from the end if negative; at most the length. */
static size_t end_position(lua_Integer position, size_t length) {
    if (position > (lua_Integer)length) return length;
    if (position >= 0) return (size_t)position;
    return position < -(lua_Integer)length ? 0 : length + (size_t)position + 1;
}

static int string_sub(lua_State *L) {
    size_t length;
    const char *text = clua_checktext(L, 1, &length);
    size_t first = start_position(luaL_checkinteger(L, 2), length);
    size_t last = end_position(luaL_optinteger(L, 3, -1), length);
    lua_pushlstring(L, first <= last ? text + first - 1 : "", first <= last ? last - first + 1 : 0);
    return 1;
}

static int string_byte(lua_State *L) {
    size_t length;
    const char *text = clua_checktext(L, 1, &length);
    lua_Integer position = luaL_optinteger(L, 2, 1);
    size_t first = start_position(position, length), last = end_position(luaL_optinteger(L, 3, position), length);
    if (first > last) return 0;
    if (last - first >= (size_t)INT_MAX) return luaL_error(L, "string slice too long");
    int count = (int)(last - first) + 1;
    luaL_checkstack(L, count, "string slice too long");
    for (int i = 0; i < count; i++) lua_pushinteger(L, (unsigned char)text[first - 1 + (size_t)i]);
    return count;
}

/* ---- utf8 ---- */

/* The end of the character at `at`; NULL for invalid bytes. Strict: no surrogates, nothing above U+10FFFF. */
static const char *character_end(const char *at, const char *end, int isStrict) {
    static const uint32_t least[] = {0, 0x80, 0x800, 0x10000, 0x200000, 0x4000000};
    unsigned char first = (unsigned char)*at;
    if (first < 0x80) return at + 1;
    if (first < 0xC0 || first >= 0xFE) return NULL;
    int more = first < 0xE0 ? 1 : first < 0xF0 ? 2 : first < 0xF8 ? 3 : first < 0xFC ? 4 : 5;
    uint32_t value = first & (0x3Fu >> more);
    if (end - at <= more) return NULL;
    for (int i = 1; i <= more; i++) {
        if ((at[i] & 0xC0) != 0x80) return NULL;
        value = value << 6 | (at[i] & 0x3F);
    }
    if (value < least[more]) return NULL;
    if (isStrict && (value > 0x10FFFF || (value >= 0xD800 && value <= 0xDFFF))) return NULL;
    return at + more + 1;
}

static lua_Integer utf8_position(lua_Integer position, size_t length) {
    if (position >= 0) return position;
    return 0u - (size_t)position > length ? 0 : (lua_Integer)length + position + 1;
}

static int utf8_len(lua_State *L) {
    clua_budget budget = {0};
    size_t length;
    const char *text = clua_checktext(L, 1, &length);
    lua_Integer first = utf8_position(luaL_optinteger(L, 2, 1), length);
    lua_Integer last = utf8_position(luaL_optinteger(L, 3, -1), length);
    int isStrict = !lua_toboolean(L, 4);
    luaL_argcheck(L, first >= 1 && first - 1 <= (lua_Integer)length, 2, "initial position out of bounds");
    luaL_argcheck(L, last - 1 < (lua_Integer)length, 3, "final position out of bounds");
    lua_Integer count = 0;
    for (const char *at = text + first - 1; at - text < last; count++) {
        clua_spend(&budget, L, 1);
        const char *next = character_end(at, text + length, isStrict);
        if (!next) {
            luaL_pushfail(L);
            lua_pushinteger(L, at - text + 1);
            return 2;
        }
        at = next;
    }
    lua_pushinteger(L, count);
    return 1;
}

static int is_continuation(char c) { return (c & 0xC0) == 0x80; }

static int utf8_offset(lua_State *L) {
    clua_budget budget = {0};
    size_t length;
    const char *text = clua_checktext(L, 1, &length);
    lua_Integer n = luaL_checkinteger(L, 2);
    lua_Integer at = utf8_position(luaL_optinteger(L, 3, n >= 0 ? 1 : (lua_Integer)length + 1), length) - 1;
    luaL_argcheck(L, 0 <= at && at <= (lua_Integer)length, 3, "position out of bounds");
    if (n != 0 && is_continuation(text[at])) return luaL_error(L, "initial position is a continuation byte");
    if (n == 0) {
        for (; at > 0 && is_continuation(text[at]); at--) clua_spend(&budget, L, 1);
    } else if (n < 0) {
        for (; n < 0 && at > 0; n++)
            do clua_spend(&budget, L, 1);
            while (--at > 0 && is_continuation(text[at]));
    } else {
        for (n--; n > 0 && at < (lua_Integer)length; n--)
            do clua_spend(&budget, L, 1);
            while (is_continuation(text[++at])); /* ends at the terminating zero */
    }
    if (n == 0) lua_pushinteger(L, at + 1);
    else luaL_pushfail(L);
    return 1;
}

/* Skips the rest of a character, however long, and calls Lua's own iterator, upvalue 1, for the next one. */
static int next_code(lua_State *L) {
    clua_budget budget = {0};
    size_t length;
    const char *text = clua_checktext(L, 1, &length);
    lua_Unsigned at = (lua_Unsigned)lua_tointegerx(L, 2, NULL);
    while (at < length && is_continuation(text[at])) {
        clua_spend(&budget, L, 1);
        at++;
    }
    lua_settop(L, 1);
    lua_pushinteger(L, (lua_Integer)at);
    return lua_tocfunction(L, lua_upvalueindex(1))(L);
}

static int utf8_codes(lua_State *L) {
    int results = lua_tocfunction(L, lua_upvalueindex(1))(L);
    lua_pushvalue(L, -results);
    lua_pushcclosure(L, next_code, 1);
    lua_replace(L, -results - 1);
    return results;
}

void clua_bound_strings(lua_State *L) {
    static const luaL_Reg functions[] = {
        {"find", string_find},   {"match", string_match},     {"gmatch", string_gmatch}, {"gsub", string_gsub},
        {"rep", string_rep},     {"lower", string_lower},     {"upper", string_upper},   {"reverse", string_reverse},
        {"len", string_len},     {"sub", string_sub},         {"byte", string_byte},
        {NULL, NULL},
    };
    if (lua_getglobal(L, LUA_STRLIBNAME) == LUA_TTABLE) luaL_setfuncs(L, functions, 0);
    lua_pop(L, 1);
    if (lua_getglobal(L, LUA_UTF8LIBNAME) == LUA_TTABLE) {
        lua_pushcfunction(L, utf8_len);
        lua_setfield(L, -2, "len");
        lua_pushcfunction(L, utf8_offset);
        lua_setfield(L, -2, "offset");
        lua_getfield(L, -1, "codes");
        lua_pushcclosure(L, utf8_codes, 1);
        lua_setfield(L, -2, "codes");
    }
    lua_pop(L, 1);
}
