#include "work.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>

struct csqlite_library csqlite_loaded;
static int is_ready;
static char reason[256];
/* Guards the three variables above: only the once-function writes them. */
static pthread_once_t once = PTHREAD_ONCE_INIT;

/* The first version with all features used here: the defensive mode, innocuous functions, and names whose links are not
 * followed. */
#define OLDEST 3031000

static void open_library(void) {
    void *handle = dlopen("libsqlite3.so.0", RTLD_NOW | RTLD_LOCAL);
    if (!handle) {
        const char *text = dlerror();
        snprintf(reason, sizeof reason, "%s", text ? text : "libsqlite3.so.0 was not found");
        return;
    }
#define CSQLITE_LOOK_UP(result, name, parameters) \
    csqlite_loaded.name = (__typeof__(csqlite_loaded.name))dlsym(handle, #name); \
    if (!csqlite_loaded.name) { \
        snprintf(reason, sizeof reason, "this libsqlite3 has no %s", #name); \
        return; \
    }
    CSQLITE_FUNCTIONS(CSQLITE_LOOK_UP)
#undef CSQLITE_LOOK_UP
#define CSQLITE_LOOK_UP(result, name, parameters) \
    csqlite_loaded.name = (__typeof__(csqlite_loaded.name))dlsym(handle, #name);
    CSQLITE_LATER_FUNCTIONS(CSQLITE_LOOK_UP)
#undef CSQLITE_LOOK_UP
    if (csqlite_loaded.sqlite3_libversion_number() < OLDEST) {
        snprintf(reason, sizeof reason, "this libsqlite3 is older than 3.31");
        return;
    }
    csqlite_limit_memory(&csqlite_loaded);
    is_ready = 1;
}

const struct csqlite_library *csqlite_library(const char **why) {
    pthread_once(&once, open_library);
    *why = reason;
    return is_ready ? &csqlite_loaded : NULL;
}
