#include "CSQLite.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>

static struct csqlite_library library;
static int is_ready;
static char reason[256];
/* Guards the three variables above: only the once-function writes them. */
static pthread_once_t once = PTHREAD_ONCE_INIT;

/* The first version with all features used here: sqlite3_db_config's defensive mode. */
#define OLDEST 3026000

static void open_library(void) {
    void *handle = dlopen("libsqlite3.so.0", RTLD_NOW | RTLD_LOCAL);
    if (!handle) {
        const char *text = dlerror();
        snprintf(reason, sizeof reason, "%s", text ? text : "libsqlite3.so.0 was not found");
        return;
    }
#define CSQLITE_LOOK_UP(result, name, parameters) \
    library.name = (__typeof__(library.name))dlsym(handle, #name); \
    if (!library.name) { \
        snprintf(reason, sizeof reason, "this libsqlite3 has no %s", #name); \
        return; \
    }
    CSQLITE_FUNCTIONS(CSQLITE_LOOK_UP)
#undef CSQLITE_LOOK_UP
    if (library.sqlite3_libversion_number() < OLDEST) {
        snprintf(reason, sizeof reason, "this libsqlite3 is older than 3.26");
        return;
    }
    is_ready = 1;
}

const struct csqlite_library *csqlite_library(const char **why) {
    pthread_once(&once, open_library);
    *why = reason;
    return is_ready ? &library : NULL;
}
