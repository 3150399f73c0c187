/* The matcher for string.find, match, gmatch and gsub.
 *
 * Lua's own matcher is a single C function for the VM, and no hook can interrupt it: a pattern of twenty optional
 * letters would practically never end. This one has a budget of steps, and checks for interrupts when it is spent. It
 * is written from the description of patterns in Lua's manual (6.4.1). A pattern is compiled to an array of steps; a
 * malformed step raises when it is reached. */
#include "pattern.h"

#include <ctype.h>
#include <string.h>

enum { END, AT_END, OPEN, OPEN_POSITION, CLOSE, ANY, LITERAL, CLASS, SET, BALANCE, FRONTIER, BACK, FAIL };
enum { ONCE, OPTIONAL, STAR, PLUS, LAZY };

#define MAP_THRESHOLD 24 /* longer sets become bitmaps */
#define MAP_WORDS 8

/* ---- Classes and sets ---- */

static int in_class(unsigned char c, unsigned char letter) {
    int result;
    switch (tolower(letter)) {
    case 'a': result = isalpha(c); break;
    case 'c': result = iscntrl(c); break;
    case 'd': result = isdigit(c); break;
    case 'g': result = isgraph(c); break;
    case 'l': result = islower(c); break;
    case 'p': result = ispunct(c); break;
    case 's': result = isspace(c); break;
    case 'u': result = isupper(c); break;
    case 'w': result = isalnum(c); break;
    case 'x': result = isxdigit(c); break;
    case 'z': result = c == 0; break; /* of older manuals, still supported */
    default: return letter == c; /* an escaped character */
    }
    return isupper(letter) ? !result : result != 0;
}

/* One member of a set: a class, a range (lower and upper) or a character (lower equals upper). */
typedef struct {
    int isClass;
    unsigned char lower, upper;
} part;

static part next_part(const char **at, const char *end) {
    const char *p = *at;
    part result = {0, (unsigned char)*p, (unsigned char)*p};
    if (*p == '%' && p + 1 < end) {
        result.isClass = 1;
        result.lower = (unsigned char)p[1];
        *at = p + 2;
    } else if (p + 2 < end && p[1] == '-') {
        result.upper = (unsigned char)p[2];
        *at = p + 3;
    } else {
        *at = p + 1;
    }
    return result;
}

static int in_set(unsigned char c, const clua_step *step) {
    if (step->map) return (step->map[c >> 5] >> (c & 31)) & 1;
    const char *end = step->set + step->length;
    for (const char *p = step->set; p < end;) {
        part each = next_part(&p, end);
        if (each.isClass ? in_class(c, each.lower) : each.lower <= c && c <= each.upper) return !step->negated;
    }
    return (int)step->negated;
}

static void fill_map(clua_budget *budget, lua_State *L, uint32_t *map, const clua_step *step) {
    char seen[256] = {0}; /* the classes seen */
    memset(map, 0, MAP_WORDS * sizeof *map);
    const char *end = step->set + step->length;
    for (const char *p = step->set; p < end;) {
        clua_spend(budget, L, 1);
        part each = next_part(&p, end);
        if (each.isClass) {
            if (seen[each.lower]) continue;
            seen[each.lower] = 1;
            for (unsigned c = 0; c < 256; c++)
                if (in_class((unsigned char)c, each.lower)) map[c >> 5] |= 1u << (c & 31);
        } else {
            for (unsigned c = each.lower; c <= each.upper; c++) map[c >> 5] |= 1u << (c & 31);
        }
    }
    for (int i = 0; step->negated && i < MAP_WORDS; i++) map[i] = ~map[i];
}

/* ---- Compiling ---- */

size_t clua_pattern_size(size_t length) {
    size_t maps = length / MAP_THRESHOLD;
    return (length + 1) * sizeof(clua_step) + maps * MAP_WORDS * sizeof(uint32_t);
}

/* Scans the set whose '[' precedes `at` and returns its end, past the ']'; NULL without a ']'. */
static const char *scan_set(clua_budget *budget, lua_State *L, const char *at, const char *end, clua_step *step) {
    if (at < end && *at == '^') {
        step->negated = 1;
        at++;
    }
    step->set = at;
    int first = 1; /* a leading ']' is literal */
    while (at < end && (first || *at != ']')) {
        clua_spend(budget, L, 1);
        first = 0;
        at += *at == '%' && at + 1 < end ? 2 : 1;
    }
    if (at >= end) return NULL;
    step->length = (size_t)(at - step->set);
    return at + 1;
}

static void fail(clua_step *step, const char *message) {
    step->kind = FAIL;
    step->repeat = ONCE;
    step->set = message;
}

void clua_pattern_compile(lua_State *L, clua_pattern *pattern, void *memory, const char *bytes, size_t length) {
    clua_budget budget = {0};
    const char *p = bytes, *end = bytes + length;
    uint32_t *maps = (uint32_t *)((clua_step *)memory + length + 1);
    clua_step *step = memory;
    pattern->steps = step;
    for (;; step++) {
        clua_spend(&budget, L, 1);
        memset(step, 0, sizeof *step);
        if (p >= end) break;
        unsigned char c = (unsigned char)*p++;
        int isSingle = 0;
        switch (c) {
        case '(':
            if (p < end && *p == ')') {
                step->kind = OPEN_POSITION;
                p++;
            } else {
                step->kind = OPEN;
            }
            break;
        case ')': step->kind = CLOSE; break;
        case '$':
            if (p == end) {
                step->kind = AT_END;
            } else {
                step->kind = LITERAL;
                step->a = c;
                isSingle = 1;
            }
            break;
        case '.':
            step->kind = ANY;
            isSingle = 1;
            break;
        case '[':
            step->kind = SET;
            isSingle = 1;
            p = scan_set(&budget, L, p, end, step);
            if (!p) fail(step, "malformed pattern (missing ']')");
            break;
        case '%':
            if (p == end) {
                fail(step, "malformed pattern (ends with '%')");
                p = NULL;
                break;
            }
            c = (unsigned char)*p++;
            if (c == 'b') {
                if (end - p < 2) {
                    fail(step, "malformed pattern (missing arguments to '%b')");
                    p = NULL;
                    break;
                }
                step->kind = BALANCE;
                step->a = (unsigned char)p[0];
                step->b = (unsigned char)p[1];
                p += 2;
            } else if (c == 'f') {
                if (p == end || *p != '[') {
                    fail(step, "missing '[' after '%f' in pattern");
                    p = NULL;
                    break;
                }
                step->kind = FRONTIER;
                p = scan_set(&budget, L, p + 1, end, step);
                if (!p) fail(step, "malformed pattern (missing ']')");
            } else if (isdigit(c)) {
                step->kind = BACK;
                step->a = c;
            } else {
                step->kind = isalpha(c) ? CLASS : LITERAL;
                step->a = c;
                isSingle = 1;
            }
            break;
        default:
            step->kind = LITERAL;
            step->a = c;
            isSingle = 1;
        }
        if (!p) { /* a malformed step ends the pattern */
            step++;
            memset(step, 0, sizeof *step);
            break;
        }
        if ((step->kind == SET || step->kind == FRONTIER) && step->length >= MAP_THRESHOLD) {
            fill_map(&budget, L, maps, step);
            step->map = maps;
            maps += MAP_WORDS;
        }
        if (isSingle && p < end) {
            switch (*p) {
            case '?': step->repeat = OPTIONAL; break;
            case '*': step->repeat = STAR; break;
            case '+': step->repeat = PLUS; break;
            case '-': step->repeat = LAZY; break;
            default: continue;
            }
            p++;
        }
    }
    step->kind = END;
    pattern->count = (size_t)(step - pattern->steps) + 1;
}

/* ---- Matching ---- */

static inline void spend(clua_match *m, size_t cost) { clua_spend(&m->budget, m->L, cost); }

static inline int is_match(const clua_step *step, unsigned char c) {
    switch (step->kind) {
    case ANY: return 1;
    case LITERAL: return step->a == c;
    case CLASS: return in_class(c, step->a);
    default: return in_set(c, step);
    }
}

/* The number of consecutive characters that match a step. */
static size_t run_length(clua_match *m, const clua_step *step, const char *s) {
    size_t count = 0;
    while (s + count < m->end && is_match(step, (unsigned char)s[count])) {
        count++;
        spend(m, 1);
    }
    return count;
}

static const char *balanced(clua_match *m, const clua_step *step, const char *s) {
    if (s >= m->end || (unsigned char)*s != step->a) return NULL;
    size_t open = 1;
    for (s++; s < m->end; s++) {
        spend(m, 1);
        unsigned char c = (unsigned char)*s;
        if (c == step->b) { /* first: opener and closer may be equal */
            if (--open == 0) return s + 1;
        } else if (c == step->a) {
            open++;
        }
    }
    return NULL;
}

static const clua_capture *check_back(clua_match *m, int digit) {
    int index = digit - '1';
    if (index < 0 || index >= m->level || m->captures[index].length == CAPTURE_OPEN)
        luaL_error(m->L, "invalid capture index %%%d", index + 1);
    return &m->captures[index];
}

static const char *run(clua_match *m, const clua_step *step, const char *s);

static const char *open_capture(clua_match *m, const clua_step *step, const char *s) {
    if (m->level >= PATTERN_CAPTURES) luaL_error(m->L, "too many captures");
    m->captures[m->level].start = s;
    m->captures[m->level].length = step->kind == OPEN ? CAPTURE_OPEN : CAPTURE_POSITION;
    m->level++;
    const char *result = run(m, step + 1, s);
    if (!result) m->level--;
    return result;
}

static const char *close_capture(clua_match *m, const clua_step *step, const char *s) {
    int index = m->level - 1;
    while (index >= 0 && m->captures[index].length != CAPTURE_OPEN) index--;
    if (index < 0) luaL_error(m->L, "invalid pattern capture");
    m->captures[index].length = s - m->captures[index].start;
    const char *result = run(m, step + 1, s);
    if (!result) m->captures[index].length = CAPTURE_OPEN;
    return result;
}

static const char *longest_first(clua_match *m, const clua_step *step, const char *s, size_t least) {
    size_t count = run_length(m, step, s);
    for (;; count--) {
        if (count < least) return NULL;
        const char *result = run(m, step + 1, s + count);
        if (result) return result;
        if (count == 0) return NULL;
    }
}

static const char *shortest_first(clua_match *m, const clua_step *step, const char *s) {
    for (;; s++) {
        const char *result = run(m, step + 1, s);
        if (result) return result;
        if (s >= m->end || !is_match(step, (unsigned char)*s)) return NULL;
        spend(m, 1);
    }
}

/* Matches from a step to the end of the pattern. Recursive only for backtracking. */
static const char *run_steps(clua_match *m, const clua_step *step, const char *s) {
    for (;; step++) {
        spend(m, 1);
        switch (step->kind) {
        case END: return s;
        case AT_END: return s == m->end ? s : NULL;
        case OPEN:
        case OPEN_POSITION: return open_capture(m, step, s);
        case CLOSE: return close_capture(m, step, s);
        case FAIL: luaL_error(m->L, "%s", step->set); return NULL;
        case BALANCE:
            s = balanced(m, step, s);
            if (!s) return NULL;
            break;
        case FRONTIER: {
            unsigned char before = s == m->text ? '\0' : (unsigned char)s[-1];
            unsigned char here = s == m->end ? '\0' : (unsigned char)*s;
            if (in_set(before, step) || !in_set(here, step)) return NULL;
            break;
        }
        case BACK: {
            const clua_capture *capture = check_back(m, step->a);
            size_t length = (size_t)capture->length;
            if ((size_t)(m->end - s) < length) return NULL; /* the length of a position capture is larger than any subject */
            spend(m, length / 64);
            if (memcmp(capture->start, s, length) != 0) return NULL;
            s += length;
            break;
        }
        default:
            switch (step->repeat) {
            case STAR: return longest_first(m, step, s, 0);
            case PLUS: return longest_first(m, step, s, 1);
            case LAZY: return shortest_first(m, step, s);
            case OPTIONAL:
                if (s < m->end && is_match(step, (unsigned char)*s)) {
                    const char *result = run(m, step + 1, s + 1);
                    if (result) return result;
                }
                break;
            default:
                if (s >= m->end || !is_match(step, (unsigned char)*s)) return NULL;
                s++;
            }
        }
    }
}

static const char *run(clua_match *m, const clua_step *step, const char *s) {
    if (m->depth++ >= PATTERN_DEPTH) luaL_error(m->L, "pattern too complex");
    const char *result = run_steps(m, step, s);
    m->depth--;
    return result;
}

void clua_match_begin(clua_match *m, lua_State *L, const clua_pattern *pattern, const char *text, size_t length) {
    m->L = L;
    m->pattern = pattern;
    m->text = text;
    m->end = text + length;
    m->level = m->depth = 0;
    m->budget.left = 0;
}

const char *clua_match_skip(clua_match *m, const char *at) {
    const clua_step *first = m->pattern->steps;
    if (first->kind != LITERAL || (first->repeat != ONCE && first->repeat != PLUS)) return at;
    while (at < m->end) {
        size_t left = (size_t)(m->end - at), part = left < 65536 ? left : 65536;
        const char *found = memchr(at, first->a, part);
        spend(m, 1 + (found ? (size_t)(found - at) : part) / 64);
        if (found) return found;
        at += part;
    }
    return NULL;
}

const char *clua_match_at(clua_match *m, const char *at) {
    m->level = m->depth = 0;
    return run(m, m->pattern->steps, at);
}

/* ---- Captures ---- */

void clua_push_capture(clua_match *m, int index, const char *whole, const char *end) {
    if (index >= m->level) {
        if (index != 0) luaL_error(m->L, "invalid capture index %%%d", index + 1);
        lua_pushlstring(m->L, whole, (size_t)(end - whole));
        return;
    }
    const clua_capture *capture = &m->captures[index];
    if (capture->length == CAPTURE_POSITION)
        lua_pushinteger(m->L, capture->start - m->text + 1);
    else if (capture->length == CAPTURE_OPEN)
        luaL_error(m->L, "unfinished capture");
    else
        lua_pushlstring(m->L, capture->start, (size_t)capture->length);
}

int clua_push_captures(clua_match *m, const char *whole, const char *end) {
    int count = m->level == 0 && whole ? 1 : m->level;
    luaL_checkstack(m->L, count, "too many captures");
    for (int i = 0; i < count; i++) clua_push_capture(m, i, whole, end);
    return count;
}
