/* Lua's own headers, as one module, so that Swift and the shim see the same types. */
#include <lua.h>
#include <lualib.h>
#include <lauxlib.h>
