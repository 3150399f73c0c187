/* The functions of Lua's table library with unbounded loops (a length is any result of __len), with a budget. */
#include <limits.h>
#include <string.h>

#include "library.h"

enum { READS = 1, WRITES = 2, MEASURES = 4 };

/* Checks for a table, or a value with the needed metamethods. */
static void check_table(lua_State *L, int index, int uses) {
    static const struct {
        int use;
        const char *event;
    } needs[] = {{READS, "__index"}, {WRITES, "__newindex"}, {MEASURES, "__len"}};
    if (lua_type(L, index) == LUA_TTABLE) return;
    for (int i = 0; i < 3; i++) {
        if (!(uses & needs[i].use)) continue;
        if (luaL_getmetafield(L, index, needs[i].event) == LUA_TNIL) luaL_checktype(L, index, LUA_TTABLE);
        else lua_pop(L, 1);
    }
}

static lua_Integer length(lua_State *L, int index, int uses) {
    check_table(L, index, uses | MEASURES);
    return luaL_len(L, index);
}

/* t[to] = s[from], for tables at two indices. */
static inline void copy(lua_State *L, clua_budget *budget, int source, lua_Integer from, int target, lua_Integer to) {
    clua_spend(budget, L, 1);
    lua_geti(L, source, from);
    lua_seti(L, target, to);
}

static int table_insert(lua_State *L) {
    clua_check_stack(L);
    clua_budget budget = {0};
    lua_Integer end = (lua_Integer)((lua_Unsigned)length(L, 1, READS | WRITES) + 1), position = end;
    switch (lua_gettop(L)) {
    case 2: break;
    case 3:
        position = luaL_checkinteger(L, 2);
        luaL_argcheck(L, (lua_Unsigned)position - 1u < (lua_Unsigned)end, 2, "position out of bounds");
        for (lua_Integer i = end; i > position; i--) copy(L, &budget, 1, i - 1, 1, i);
        break;
    default: return luaL_error(L, "wrong number of arguments to 'insert'");
    }
    lua_seti(L, 1, position);
    return 0;
}

static int table_remove(lua_State *L) {
    clua_check_stack(L);
    clua_budget budget = {0};
    lua_Integer size = length(L, 1, READS | WRITES);
    lua_Integer position = luaL_optinteger(L, 2, size);
    if (position != size)
        luaL_argcheck(L, (lua_Unsigned)position - 1u <= (lua_Unsigned)size, 1, "position out of bounds");
    lua_geti(L, 1, position);
    for (; position < size; position++) copy(L, &budget, 1, position + 1, 1, position);
    lua_pushnil(L);
    lua_seti(L, 1, position);
    return 1;
}

static int table_move(lua_State *L) {
    clua_check_stack(L);
    clua_budget budget = {0};
    lua_Integer first = luaL_checkinteger(L, 2), last = luaL_checkinteger(L, 3), to = luaL_checkinteger(L, 4);
    int target = lua_isnoneornil(L, 5) ? 1 : 5;
    check_table(L, 1, READS);
    check_table(L, target, WRITES);
    if (last >= first) {
        luaL_argcheck(L, first > 0 || last < LUA_MAXINTEGER + first, 3, "too many elements to move");
        lua_Integer count = last - first + 1;
        luaL_argcheck(L, to <= LUA_MAXINTEGER - count + 1, 4, "destination wrap around");
        int overlaps = to > first && to <= last && (target == 1 || lua_compare(L, 1, target, LUA_OPEQ));
        if (overlaps)
            for (lua_Integer i = count - 1; i >= 0; i--) copy(L, &budget, 1, first + i, target, to + i);
        else
            for (lua_Integer i = 0; i < count; i++) copy(L, &budget, 1, first + i, target, to + i);
    }
    lua_pushvalue(L, target);
    return 1;
}

static void add_element(lua_State *L, clua_budget *budget, luaL_Buffer *result, lua_Integer index) {
    lua_geti(L, 1, index);
    if (lua_type(L, -1) == LUA_TUSERDATA && clua_is_error(L, -1)) clua_error_to_text(L, -1);
    if (!lua_isstring(L, -1))
        luaL_error(L, "invalid value (%s) at index %I in table for 'concat'", luaL_typename(L, -1), (LUAI_UACINT)index);
    size_t size = lua_type(L, -1) == LUA_TSTRING ? lua_rawlen(L, -1) : 16;
    luaL_addvalue(result);
    clua_spend(budget, L, 1 + size / 64);
}

/* Prepares for a result whose elements are as long as the first; a buffer may be twice as long as what is in it. */
static void prepare_concat(lua_State *L, lua_Integer first, lua_Integer last, size_t gap) {
    if (lua_type(L, 1) != LUA_TTABLE || first > last) return;
    size_t each = gap + (lua_rawgeti(L, 1, first) == LUA_TSTRING ? lua_rawlen(L, -1) : 0);
    lua_pop(L, 1);
    size_t count = (size_t)last - (size_t)first + 1;
    if (each > 0 && count > 0 && count <= SIZE_MAX / 2 / each) clua_prepare_buffer(L, 2 * count * each);
}

static int table_concat(lua_State *L) {
    clua_check_stack(L);
    clua_budget budget = {0};
    size_t size;
    lua_Integer last = length(L, 1, READS);
    if (!lua_isnoneornil(L, 2)) clua_checktext(L, 2, &size);
    const char *separator = luaL_optlstring(L, 2, "", &size);
    lua_Integer i = luaL_optinteger(L, 3, 1);
    last = luaL_optinteger(L, 4, last);
    prepare_concat(L, i, last, size);
    luaL_Buffer result;
    luaL_buffinit(L, &result);
    for (; i < last; i++) {
        clua_spend(&budget, L, 1 + size / 64);
        add_element(L, &budget, &result, i);
        luaL_addlstring(&result, separator, size);
    }
    if (i == last) add_element(L, &budget, &result, i);
    luaL_pushresult(&result);
    return 1;
}

/* ---- Sorting ----
 * Quicksort with the median of the first, the middle and the last element as pivot; recursive for the smaller part.
 * With an inconsistent order function the two cursors could leave the part: this is detected and raised as an error. */

typedef struct {
    lua_State *L;
    clua_budget budget;
    uint64_t random; /* randomises the middle of uneven parts: no input can force the worst case */
} sorter;

/* Whether a text precedes another, by bytes as in Lua, which compares the pieces between zeros one by one, in one step. */
static int text_before(sorter *s, int a, int b) {
    size_t lengths[2], shared;
    const char *first = lua_tolstring(s->L, a, &lengths[0]), *second = lua_tolstring(s->L, b, &lengths[1]);
    shared = lengths[0] < lengths[1] ? lengths[0] : lengths[1];
    for (size_t place = 0; place < shared;) {
        size_t piece = shared - place < 1 << 16 ? shared - place : 1 << 16;
        int order = memcmp(first + place, second + place, piece);
        if (order != 0) return order < 0;
        place += piece;
        clua_spend(&s->budget, s->L, 1 + piece / 64);
    }
    return lengths[0] < lengths[1];
}

/* Whether the value at one stack index precedes that at another. */
static int before(sorter *s, int a, int b) {
    lua_State *L = s->L;
    clua_spend(&s->budget, L, 1);
    if (lua_isnil(L, 2)) {
        int areTexts = lua_type(L, a) == LUA_TSTRING && lua_type(L, b) == LUA_TSTRING;
        return areTexts ? text_before(s, a, b) : lua_compare(L, a, b, LUA_OPLT);
    }
    a = lua_absindex(L, a);
    b = lua_absindex(L, b);
    lua_pushvalue(L, 2);
    lua_pushvalue(L, a);
    lua_pushvalue(L, b);
    lua_call(L, 2, 1);
    int result = lua_toboolean(L, -1);
    lua_pop(L, 1);
    return result;
}

/* Orders two elements, the lower index first. */
static void order(sorter *s, lua_Integer low, lua_Integer high) {
    lua_State *L = s->L;
    lua_geti(L, 1, low);
    lua_geti(L, 1, high);
    if (before(s, -1, -2)) {
        lua_seti(L, 1, low);
        lua_seti(L, 1, high);
    } else {
        lua_pop(L, 2);
    }
}

static void swap(sorter *s, lua_Integer a, lua_Integer b) {
    lua_geti(s->L, 1, a);
    lua_geti(s->L, 1, b);
    lua_seti(s->L, 1, a);
    lua_seti(s->L, 1, b);
}

static void out_of_order(lua_State *L) { luaL_error(L, "invalid order function for sorting"); }

/* Partitions low … high, whose ends are ordered and whose pivot is at high - 1 and on top of the stack. Returns the
 * pivot's final index. */
static lua_Integer split(sorter *s, lua_Integer low, lua_Integer high) {
    lua_State *L = s->L;
    lua_Integer up = low, down = high - 1;
    for (;;) {
        for (;;) { /* the next one from below that does not precede the pivot */
            if (++up >= high) out_of_order(L);
            lua_geti(L, 1, up);
            int isBefore = before(s, -1, -2);
            lua_pop(L, 1);
            if (!isBefore) break;
            if (up == high - 1) out_of_order(L);
        }
        for (;;) { /* the next one from above that does not follow it */
            if (--down < low) out_of_order(L);
            lua_geti(L, 1, down);
            int isAfter = before(s, -2, -1);
            lua_pop(L, 1);
            if (!isAfter) break;
            if (down < up) out_of_order(L);
        }
        if (down <= up) break;
        swap(s, up, down);
    }
    swap(s, high - 1, up);
    return up;
}

static void sort_part(sorter *s, lua_Integer low, lua_Integer high, int isUneven) {
    lua_State *L = s->L;
    while (low < high) {
        order(s, low, high);
        if (high - low == 1) return;
        lua_Integer middle = low + (high - low) / 2;
        if (isUneven) {
            s->random = s->random * 6364136223846793005u + 1442695040888963407u;
            middle = low + 1 + (lua_Integer)((s->random >> 33) % (uint64_t)(high - low - 1));
        }
        order(s, low, middle);
        order(s, middle, high);
        if (high - low == 2) return;
        lua_geti(L, 1, middle);
        swap(s, middle, high - 1);
        lua_Integer pivot = split(s, low, high);
        lua_pop(L, 1);
        lua_Integer below = pivot - low, above = high - pivot;
        isUneven = (below < above ? below : above) < (high - low) / 16;
        if (below < above) {
            sort_part(s, low, pivot - 1, isUneven);
            low = pivot + 1;
        } else {
            sort_part(s, pivot + 1, high, isUneven);
            high = pivot - 1;
        }
    }
}

static int table_sort(lua_State *L) {
    clua_check_stack(L);
    lua_Integer size = length(L, 1, READS | WRITES);
    if (size < 2) return 0;
    luaL_argcheck(L, size < INT_MAX, 1, "array too big");
    if (!lua_isnoneornil(L, 2)) luaL_checktype(L, 2, LUA_TFUNCTION);
    lua_settop(L, 2);
    luaL_checkstack(L, 40 + 8, "sort"); /* a pivot for each of at most 31 levels */
    sorter sorter = {L, {0}, (uint64_t)(uintptr_t)&sorter ^ (uint64_t)clock()};
    sort_part(&sorter, 1, size, 0);
    return 0;
}

void clua_bound_tables(lua_State *L) {
    static const luaL_Reg functions[] = {
        {"insert", table_insert}, {"remove", table_remove}, {"move", table_move},
        {"concat", table_concat}, {"sort", table_sort},     {NULL, NULL},
    };
    if (lua_getglobal(L, LUA_TABLIBNAME) == LUA_TTABLE) luaL_setfuncs(L, functions, 0);
    lua_pop(L, 1);
}
