/* Shared by the functions of Lua's library, which have a budget and serve interrupts. */
#ifndef CLUA_LIBRARY_H
#define CLUA_LIBRARY_H

#include "../Host/host.h"

/* Replaces a function of the table on top; with `keep`, the old function becomes the new one's upvalue. */
void clua_replace(lua_State *L, const char *name, lua_CFunction function, int keep);

/* Whether a value is an error of the host, which the library takes for its text. */
static inline int clua_is_error(lua_State *L, int index) {
    const clua_host *host = host_of(L);
    return host->isError && lua_type(L, index) == LUA_TUSERDATA && host->isError(L, index);
}
/* Replaces such an error, at any index, by its text. */
void clua_error_to_text(lua_State *L, int index);
/* Like luaL_checklstring, but also takes such an error, which its text replaces on the stack. */
const char *clua_checktext(lua_State *L, int index, size_t *length);

int clua_narrow_load(lua_State *L);
void clua_bound_strings(lua_State *L);
void clua_bound_tables(lua_State *L);
void clua_bound_reading(lua_State *L);
void clua_bound_formats(lua_State *L);
void clua_bound_coroutines(lua_State *L);
void clua_watch_files(lua_State *L);

/* Yields to the host, through all coroutines in between, until it resumes the outermost (coroutine.c). */
int clua_wait(lua_State *L, lua_KFunction resumed);
/* string.format for common conversions: pushes the text; 0 for other formats, long results and wrong arguments. */
int clua_format_plainly(lua_State *L);

/* Whether a function is pcall or xpcall; what xpcall calls for an error; around a coroutine's own; coroutine.resume. */
int clua_is_protecting(lua_CFunction function);
int clua_is_handling(lua_CFunction function);
int clua_is_body(lua_CFunction function);
int clua_is_resume(lua_CFunction function);

#endif
