#include "CPostgres.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

static struct cpostgres_library library;
static int is_ready;
static char reason[256];
/* Guards the three variables above: only the once-function writes them. */
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void open_library(void) {
    void *handle = dlopen("libpq.so.5", RTLD_NOW | RTLD_LOCAL);
    if (!handle) {
        const char *text = dlerror();
        snprintf(reason, sizeof reason, "%s", text ? text : "libpq.so.5 was not found");
        return;
    }
#define CPOSTGRES_LOOK_UP(name) \
    library.name = (__typeof__(name) *)dlsym(handle, #name); \
    if (!library.name) { \
        snprintf(reason, sizeof reason, "this libpq has no %s", #name); \
        return; \
    }
    CPOSTGRES_FUNCTIONS(CPOSTGRES_LOOK_UP)
#undef CPOSTGRES_LOOK_UP
#define CPOSTGRES_LOOK_UP(name) library.name = (__typeof__(name) *)dlsym(handle, #name);
    CPOSTGRES_LATER_FUNCTIONS(CPOSTGRES_LOOK_UP)
#undef CPOSTGRES_LOOK_UP
    is_ready = 1;
}

const struct cpostgres_library *cpostgres_library(const char **why) {
    pthread_once(&once, open_library);
    *why = reason;
    return is_ready ? &library : NULL;
}

/* The message is in the server's language; the name of the function that raised it is not. */
static void take(void *context, const PGresult *result) {
    const char *function = library.PQresultErrorField(result, PG_DIAG_SOURCE_FUNCTION);
    if (function && strcmp(function, "SyncRepWaitForLSN") == 0) *(int *)context = 1;
}

void cpostgres_take_notices(PGconn *connection, int *is_unreplicated) {
    library.PQsetNoticeReceiver(connection, take, is_unreplicated);
}
