#include "CMessaging.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>

static struct cmessaging_library library;
static int is_ready;
static char reason[256];
/* Guards the three variables above: only the once-function writes them. */
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void open_library(void) {
    void *handle = dlopen("libzmq.so.5", RTLD_NOW | RTLD_LOCAL);
    if (!handle) {
        const char *text = dlerror();
        snprintf(reason, sizeof reason, "%s", text ? text : "libzmq.so.5 was not found");
        return;
    }
#define CMESSAGING_LOOK_UP(result, name, parameters) \
    library.name = (__typeof__(library.name))dlsym(handle, #name); \
    if (!library.name) { \
        snprintf(reason, sizeof reason, "this libzmq has no %s", #name); \
        return; \
    }
    CMESSAGING_FUNCTIONS(CMESSAGING_LOOK_UP)
#undef CMESSAGING_LOOK_UP
    is_ready = 1;
}

const struct cmessaging_library *cmessaging_library(const char **why) {
    pthread_once(&once, open_library);
    *why = reason;
    return is_ready ? &library : NULL;
}
