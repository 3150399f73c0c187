/* C modules, for hosts that allow them: their code is not sandboxed. */
#include <dlfcn.h>
#include <stdio.h>

#include "../Host/host.h"

int clua_pushnative(lua_State *L, const char *path, const char *symbol, char *message, size_t size) {
    /* Never closed: Lua may hold pointers into it. */
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    void *function = library ? dlsym(library, symbol) : NULL;
    if (!function) {
        const char *reason = dlerror();
        snprintf(message, size, "%s", reason ? reason : "the symbol is nowhere");
        return 0;
    }
    lua_pushcfunction(L, (lua_CFunction)function);
    return 1;
}
