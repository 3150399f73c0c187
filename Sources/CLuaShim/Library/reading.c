/* Reading from files: Lua's own functions with a budget, since a line or a file may be of any length, and a number of
 * bytes that a script asks for as well. Numbers have at most 200 characters, as in Lua. */
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "library.h"

enum { LONGEST_NUMBER = 200, PIECE = 1 << 16 };

static FILE *open_stream(lua_State *L, int index) {
    luaL_Stream *stream = luaL_checkudata(L, index, LUA_FILEHANDLE);
    if (!stream->closef) luaL_error(L, "attempt to use a closed file");
    return stream->f;
}

/* ---- Numbers ---- */

typedef struct {
    FILE *file;
    int next, count;
    char text[LONGEST_NUMBER + 1];
} number;

/* Keeps the next character; 0 when the number is too long, which is then none. */
static int keep(number *number) {
    if (number->count >= LONGEST_NUMBER) {
        number->text[0] = 0;
        return 0;
    }
    number->text[number->count++] = (char)number->next;
    number->next = getc(number->file);
    return 1;
}

static int keep_one_of(number *number, const char *set) {
    return number->next == set[0] || (number->next && number->next == set[1]) ? keep(number) : 0;
}

static int keep_digits(number *number, int isHexadecimal) {
    int count = 0;
    while ((isHexadecimal ? isxdigit(number->next) : isdigit(number->next)) && keep(number)) count++;
    return count;
}

static int read_number(lua_State *L, clua_budget *budget, FILE *file) {
    number number = {file, 0, 0, ""};
    do {
        clua_spend(budget, L, 1);
        number.next = getc(file);
    } while (isspace(number.next));
    int count = 0, isHexadecimal = 0;
    keep_one_of(&number, "-+");
    if (keep_one_of(&number, "00")) {
        if (keep_one_of(&number, "xX")) isHexadecimal = 1;
        else count = 1;
    }
    count += keep_digits(&number, isHexadecimal);
    if (keep_one_of(&number, "..")) count += keep_digits(&number, isHexadecimal);
    if (count > 0 && keep_one_of(&number, isHexadecimal ? "pP" : "eE")) {
        keep_one_of(&number, "-+");
        keep_digits(&number, 0);
    }
    ungetc(number.next, file);
    number.text[number.count] = 0;
    if (lua_stringtonumber(L, number.text)) return 1;
    lua_pushnil(L);
    return 0;
}

/* ---- Texts ---- */

static int read_line(lua_State *L, clua_budget *budget, FILE *file, int chops) {
    luaL_Buffer line;
    luaL_buffinit(L, &line);
    int c;
    do {
        char *bytes = luaL_prepbuffer(&line);
        size_t count = 0;
        flockfile(file);
        while (count < LUAL_BUFFERSIZE && (c = getc_unlocked(file)) != EOF && c != '\n') bytes[count++] = (char)c;
        funlockfile(file);
        luaL_addsize(&line, count);
        clua_spend(budget, L, 1 + count / 64);
    } while (c != EOF && c != '\n');
    if (!chops && c == '\n') luaL_addchar(&line, '\n');
    luaL_pushresult(&line);
    return c == '\n' || lua_rawlen(L, -1) > 0;
}

static int is_at_end(lua_State *L, FILE *file) {
    int c = getc(file);
    ungetc(c, file);
    lua_pushliteral(L, "");
    return c == EOF;
}

/* At most some bytes; returns whether there are any. */
static int read_bytes(lua_State *L, clua_budget *budget, FILE *file, size_t most) {
    /* getc fails on a stream that is open for writing only; a large fread would ask its descriptor, which may be read. */
    if (is_at_end(L, file)) return 0;
    lua_pop(L, 1);
    luaL_Buffer all;
    luaL_buffinit(L, &all);
    size_t wanted, count;
    do {
        wanted = most < PIECE ? most : PIECE;
        count = fread(luaL_prepbuffsize(&all, wanted), 1, wanted, file);
        luaL_addsize(&all, count);
        most -= count;
        clua_spend(budget, L, 1 + count / 64);
    } while (most > 0 && count == wanted);
    luaL_pushresult(&all);
    return lua_rawlen(L, -1) > 0;
}

/* Reads by the formats from an argument on; the results, or those of a failure. */
static int read_formats(lua_State *L, FILE *file, int first) {
    int last = lua_gettop(L), index = first, succeeds = 1;
    clua_budget budget = {0};
    clearerr(file);
    errno = 0;
    if (last < first) {
        succeeds = read_line(L, &budget, file, 1);
        index = first + 1;
    } else {
        luaL_checkstack(L, last - first + 1 + LUA_MINSTACK, "too many arguments");
        for (; index <= last && succeeds; index++) {
            if (lua_type(L, index) == LUA_TNUMBER) {
                size_t count = (size_t)luaL_checkinteger(L, index);
                succeeds = count == 0 ? !is_at_end(L, file) : read_bytes(L, &budget, file, count);
                continue;
            }
            const char *format = luaL_checkstring(L, index);
            if (*format == '*') format++;
            switch (*format) {
            case 'n': succeeds = read_number(L, &budget, file); break;
            case 'l': succeeds = read_line(L, &budget, file, 1); break;
            case 'L': succeeds = read_line(L, &budget, file, 0); break;
            case 'a': read_bytes(L, &budget, file, SIZE_MAX); break;
            default: return luaL_argerror(L, index, "invalid format");
            }
        }
    }
    if (ferror(file)) return luaL_fileresult(L, 0, NULL);
    if (!succeeds) {
        lua_pop(L, 1);
        luaL_pushfail(L);
    }
    return index - first;
}

static int file_read(lua_State *L) {
    clua_check_stack(L);
    return read_formats(L, open_stream(L, 1), 2);
}

/* io.read: from the file that the io library stores under this name. */
static int default_read(lua_State *L) {
    clua_check_stack(L);
    lua_getfield(L, LUA_REGISTRYINDEX, "_IO_input");
    luaL_Stream *stream = lua_touserdata(L, -1);
    if (!stream || !stream->closef) return luaL_error(L, "default input file is closed");
    lua_pop(L, 1);
    return read_formats(L, stream->f, 1);
}

/* The iterator of file:lines: the file, the number of formats, the formats. */
static int next_line(lua_State *L) {
    clua_check_stack(L);
    luaL_Stream *stream = lua_touserdata(L, lua_upvalueindex(1));
    int count = (int)lua_tointeger(L, lua_upvalueindex(2));
    if (!stream->closef) return luaL_error(L, "file is already closed");
    lua_settop(L, 1);
    luaL_checkstack(L, count, "too many arguments");
    for (int i = 1; i <= count; i++) lua_pushvalue(L, lua_upvalueindex(2 + i));
    count = read_formats(L, stream->f, 2);
    if (lua_toboolean(L, -count)) return count;
    if (count > 1) return luaL_error(L, "%s", lua_tostring(L, -count + 1));
    return 0;
}

static int file_lines(lua_State *L) {
    clua_check_stack(L);
    open_stream(L, 1);
    int formats = lua_gettop(L) - 1;
    luaL_argcheck(L, formats <= 250, 252, "too many arguments");
    lua_pushinteger(L, formats);
    lua_insert(L, 2);
    lua_pushcclosure(L, next_line, formats + 2);
    return 1;
}

void clua_bound_reading(lua_State *L) {
    if (luaL_getmetatable(L, LUA_FILEHANDLE) == LUA_TTABLE) {
        lua_getfield(L, -1, "__index");
        clua_replace(L, "read", file_read, 0);
        clua_replace(L, "lines", file_lines, 0);
        lua_pop(L, 1);
    }
    lua_pop(L, 1);
    if (lua_getglobal(L, LUA_IOLIBNAME) == LUA_TTABLE) clua_replace(L, "read", default_read, 0);
    lua_pop(L, 1);
}
