/* Lua's patterns, compiled to steps and matched within a budget. Private to the shim. */
#ifndef CLUA_PATTERN_H
#define CLUA_PATTERN_H

#include "library.h"

#define PATTERN_CAPTURES 32 /* as Lua's own limit */
#define PATTERN_DEPTH 200   /* nested matches, as Lua's own limit */

typedef struct {
    unsigned char kind, repeat;
    unsigned char a, b;  /* a literal, a class, the pair of %b, the digit of %1 */
    unsigned negated;    /* a set that begins with ^ */
    const char *set;     /* the text in the brackets; of a failing step, the message */
    size_t length;
    const uint32_t *map; /* a long set as 256 bits */
} clua_step;

typedef struct {
    clua_step *steps;
    size_t count;
    int anchored;
} clua_pattern;

typedef struct {
    const char *start;
    ptrdiff_t length; /* or one of the two below */
} clua_capture;
#define CAPTURE_OPEN (-1)
#define CAPTURE_POSITION (-2)

typedef struct {
    lua_State *L;
    const clua_pattern *pattern;
    const char *text, *end; /* the subject */
    int level, depth;
    clua_capture captures[PATTERN_CAPTURES];
    clua_budget budget;
} clua_match;

/* Maximum size in bytes of the compiled form of a pattern of this length. */
size_t clua_pattern_size(size_t length);
/* Compiles into `memory`. The pattern's bytes must live as long: steps point into them. Malformed steps raise only
 * when a match reaches them, as in Lua. */
void clua_pattern_compile(lua_State *L, clua_pattern *pattern, void *memory, const char *bytes, size_t length);
void clua_match_begin(clua_match *match, lua_State *L, const clua_pattern *pattern, const char *text, size_t length);
/* The first possible start of a match from `at`; NULL if there is none. */
const char *clua_match_skip(clua_match *match, const char *at);
/* The end of the match at `at`; NULL if there is none. */
const char *clua_match_at(clua_match *match, const char *at);
/* Pushes the captures, or the whole match if there are none; with `whole` NULL, nothing without captures. */
int clua_push_captures(clua_match *match, const char *whole, const char *end);
/* Pushes capture `index` (0 is the first); the whole match for 0 if there are no captures. */
void clua_push_capture(clua_match *match, int index, const char *whole, const char *end);

#endif
