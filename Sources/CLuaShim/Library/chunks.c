/* Compiles chunks of text: in pieces, with a check for interrupts between them.
 *
 * Lua's compiler connects the gotos and breaks that wait for a label, or for the end of a loop, in one step, which takes
 * quadratic time and cannot be interrupted. So each piece is scanned first, and more than some thousands that wait at
 * once are refused. The scanner needs no memory in proportion to the text. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "library.h"

enum { MOST_WAITING = 8192, BLOCKS = 256, SHORTEST = MOST_WAITING * 5, PIECE = 4096 };

/* ---- The scanner ---- */

typedef enum { FUNCTION, HEAD, LOOP, BLOCK } kind; /* HEAD: a loop before its `do` */

typedef struct {
    kind kind;
    int waits, labels; /* their numbers at the block's beginning */
} block;

typedef struct {
    enum { CODE, WORD, STRING, ESCAPE, DASH, DASHES, OPENING, LONG, CLOSING, LINE, COLON } state;
    enum { NOTHING, GOTO, LABEL, LABEL_END } expects;
    char quote, isComment;
    size_t equals, closing; /* of a long bracket */
    char word[8];
    size_t length;
    uint64_t hash;
    int depth, waits, labels, isOff;
    block blocks[BLOCKS];
    uint64_t waiting[MOST_WAITING], known[MOST_WAITING]; /* the hashes of names; 0: a break */
} scanner;

static block *top(scanner *s) { return &s->blocks[s->depth]; }

static void open_block(scanner *s, kind kind) {
    if (s->depth + 1 == BLOCKS) s->isOff = 1; /* deeper than Lua's compiler goes */
    else s->blocks[++s->depth] = (block){kind, s->waits, s->labels};
}

/* Removes what waits for a name since the beginning of the block. */
static void connect(scanner *s, uint64_t hash) {
    int to = top(s)->waits;
    for (int i = to; i < s->waits; i++)
        if (s->waiting[i] != hash) s->waiting[to++] = s->waiting[i];
    s->waits = to;
}

static void close_block(scanner *s) {
    if (s->depth == 0) return; /* an error of syntax */
    if (top(s)->kind == LOOP) connect(s, 0);
    if (top(s)->kind == FUNCTION) s->waits = top(s)->waits;
    s->labels = top(s)->labels;
    s->depth--;
}

static void wait_for(lua_State *L, scanner *s, uint64_t hash) {
    int function = s->depth;
    while (function && s->blocks[function].kind != FUNCTION) function--;
    for (int i = s->blocks[function].labels; hash && i < s->labels; i++)
        if (s->known[i] == hash) return;
    if (s->waits == MOST_WAITING)
        luaL_error(L, "too many gotos or breaks wait for a label or the end of a loop (the limit is %d)", MOST_WAITING);
    s->waiting[s->waits++] = hash;
}

static int is(const scanner *s, const char *keyword) {
    return s->length == strlen(keyword) && memcmp(s->word, keyword, s->length) == 0;
}

static void end_word(lua_State *L, scanner *s) {
    switch (s->expects) {
    case GOTO:
        s->expects = NOTHING;
        return wait_for(L, s, s->hash);
    case LABEL:
        s->expects = LABEL_END;
        connect(s, s->hash);
        if (s->labels < MOST_WAITING) s->known[s->labels++] = s->hash;
        return;
    default: break;
    }
    if (s->length > sizeof s->word) return;
    if (is(s, "goto")) s->expects = GOTO;
    else if (is(s, "break")) wait_for(L, s, 0);
    else if (is(s, "function")) open_block(s, FUNCTION);
    else if (is(s, "while") || is(s, "for")) open_block(s, HEAD);
    else if (is(s, "repeat")) open_block(s, LOOP);
    else if (is(s, "if")) open_block(s, BLOCK);
    else if (is(s, "else") || is(s, "elseif")) s->labels = top(s)->labels;
    else if (is(s, "end") || is(s, "until")) close_block(s);
    else if (is(s, "do") && top(s)->kind == HEAD) top(s)->kind = LOOP;
    else if (is(s, "do")) open_block(s, BLOCK);
}

/* Whether the character belongs to a word; else the word has ended. */
static int adds_to_word(lua_State *L, scanner *s, unsigned char c) {
    if (isalnum(c) || c == '_') {
        if (s->length < sizeof s->word) s->word[s->length] = (char)c;
        s->length++;
        s->hash = ((s->hash ^ c) * 1099511628211u) | 1;
        return 1;
    }
    s->state = CODE;
    end_word(L, s);
    return 0;
}

static void scan_code(scanner *s, unsigned char c) {
    switch (c) {
    case '"':
    case '\'':
        s->quote = (char)c;
        s->state = STRING;
        break;
    case '-': s->state = DASH; break;
    case ':': s->state = COLON; break;
    case '[':
        s->state = OPENING;
        s->isComment = 0;
        s->equals = 0;
        break;
    default: break;
    }
}

/* Returns 0 if the character has to be looked at again, in the new state. */
static int scan_character(lua_State *L, scanner *s, unsigned char c) {
    int isNewline = c == '\n' || c == '\r';
    switch (s->state) {
    case CODE:
        if (isalnum(c) || c == '_') {
            s->state = WORD;
            s->length = 0;
            s->hash = 14695981039346656037u; /* FNV-1a */
            return 0;
        }
        scan_code(s, c);
        return 1;
    case WORD: return adds_to_word(L, s, c);
    case STRING: /* an unescaped newline is an error of syntax */
        if (c == '\\') s->state = ESCAPE;
        else if (c == (unsigned char)s->quote) s->state = CODE;
        return 1;
    case ESCAPE: s->state = STRING; return 1;
    case DASH: s->state = c == '-' ? DASHES : CODE; return c == '-';
    case DASHES:
        s->state = c == '[' ? OPENING : isNewline ? CODE : LINE;
        s->isComment = 1;
        s->equals = 0;
        return 1;
    case OPENING:
        if (c == '=') {
            s->equals++;
            return 1;
        }
        s->state = c == '[' ? LONG : !s->isComment || isNewline ? CODE : LINE;
        return c == '[' || s->isComment;
    case LONG:
        if (c == ']') {
            s->state = CLOSING;
            s->closing = 0;
        }
        return 1;
    case CLOSING:
        if (c == '=') {
            s->closing++;
            return 1;
        }
        if (c != ']') s->state = LONG;
        else if (s->closing == s->equals) s->state = CODE;
        s->closing = 0;
        return 1;
    case LINE:
        if (isNewline) s->state = CODE;
        return 1;
    case COLON:
        s->state = CODE;
        if (c != ':') return 0;
        s->expects = s->expects == LABEL_END ? NOTHING : LABEL;
        return 1;
    }
    return 1;
}

static void scan(lua_State *L, scanner *s, const char *text, size_t length) {
    for (size_t i = 0; i < length && !s->isOff; i++)
        while (!scan_character(L, s, (unsigned char)text[i])) {}
}

/* ---- Loading ---- */

typedef struct {
    const char *text;
    size_t left;
    int function; /* the stack index of the function that returns the text; 0: none. The slot above holds its text */
    scanner *scanner; /* NULL: the text is too short for what it looks for */
} source;

/* Calls the function for the next text; 0: the end. */
static int next_text(lua_State *L, source *source) {
    luaL_checkstack(L, 2, "too many nested functions");
    lua_pushvalue(L, source->function);
    lua_call(L, 0, 1);
    if (lua_isnil(L, -1)) {
        lua_pop(L, 1);
        return 0;
    }
    if (!lua_isstring(L, -1)) luaL_error(L, "reader function must return a string");
    lua_replace(L, source->function + 1);
    source->text = lua_tolstring(L, source->function + 1, &source->left);
    return source->left > 0;
}

static const char *read_piece(lua_State *L, void *data, size_t *size) {
    source *source = data;
    clua_poll(L);
    *size = 0;
    if (!source->left && !(source->function && next_text(L, source))) return NULL;
    const char *piece = source->text;
    *size = source->left < PIECE ? source->left : PIECE;
    source->text += *size;
    source->left -= *size;
    if (source->scanner) scan(L, source->scanner, piece, *size);
    return piece;
}

static int load_text(lua_State *L, source *source, const char *name, const char *mode) {
    if (source->function || source->left >= SHORTEST) {
        source->scanner = calloc(1, sizeof *source->scanner);
        if (!source->scanner) {
            lua_pushliteral(L, "not enough memory");
            return LUA_ERRMEM;
        }
    }
    int status = lua_load(L, read_piece, source, name, mode); /* protected: it always returns */
    free(source->scanner);
    return status;
}

static int load_chunk(lua_State *L, const char *bytes, size_t length, const char *name, const char *mode) {
    clua_host *host = host_of(L);
    if (clua_is_denied(L, 0)) return LUA_ERRMEM;
    if (clua_overflows(L, host->stack.limit, 0)) return LUA_ERRRUN; /* the parser is recursive as well */
    clua_entry entry;
    clua_enter(host, L, &entry);
    source source = {bytes, length, 0, NULL};
    int status = *mode == 't' ? load_text(L, &source, name, mode) : lua_load(L, read_piece, &source, name, mode);
    clua_leave(host, &entry);
    return status;
}

int clua_load(lua_State *L, const char *bytes, size_t length, const char *name) {
    return load_chunk(L, bytes, length, name, "t"); /* never bytecode: it can corrupt the VM */
}

/* ---- Compiled chunks ---- */

typedef struct {
    void (*take)(void *context, const void *bytes, size_t length);
    void *context;
} receiver;

static int write_piece(lua_State *L, const void *bytes, size_t length, void *data) {
    (void)L;
    const receiver *receiver = data;
    receiver->take(receiver->context, bytes, length);
    return 0;
}

void clua_dump(lua_State *L, void (*take)(void *context, const void *bytes, size_t length), void *context) {
    receiver receiver = {take, context};
    lua_dump(L, write_piece, &receiver, 0); /* with names and lines, for errors */
}

int clua_load_dumped(lua_State *L, const void *bytes, size_t length) {
    return load_chunk(L, bytes, length, "=?", "b");
}

/* ---- For scripts ---- */

/* The function `load` of scripts. Text only: the VM does not verify bytecode, which can crash it. */
int clua_narrow_load(lua_State *L) {
    clua_check_stack(L);
    int hasGlobals = lua_gettop(L) >= 4;
    size_t length = 0;
    const char *text = lua_tolstring(L, 1, &length), *mode = luaL_optstring(L, 3, "bt");
    if (!text) luaL_checktype(L, 1, LUA_TFUNCTION);
    const char *name = luaL_optstring(L, 2, text ? text : "=(load)");
    lua_settop(L, 4);
    source source = {text, length, 0, NULL};
    if (!text) {
        lua_pushvalue(L, 1);
        lua_pushnil(L);
        source.function = 5;
    }
    /* Bytecode is refused in any mode. For text with a mode without `t`, Lua raises its own message. */
    const char *allowed = strchr(mode, 't') ? "t" : text && *text == *LUA_SIGNATURE ? "t" : text ? mode : "";
    if (load_text(L, &source, name, allowed) != LUA_OK) {
        luaL_pushfail(L);
        lua_insert(L, -2);
        return 2;
    }
    if (hasGlobals) {
        lua_pushvalue(L, 4);
        if (!lua_setupvalue(L, -2, 1)) lua_pop(L, 1);
    }
    return 1;
}
