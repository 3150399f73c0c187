#include "CFileFormats.h"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdio.h>

/* A library: its table, whether it is filled, and why not. Guarded by its once-function, which alone writes it. */
#define CFORMATS_LIBRARY(library, file, FUNCTIONS) \
    static struct cformats_##library library##_loaded; \
    static int library##_is_ready; \
    static char library##_reason[256]; \
    static pthread_once_t library##_once = PTHREAD_ONCE_INIT; \
    static void open_##library(void) { \
        void *handle = dlopen(file, RTLD_NOW | RTLD_LOCAL); \
        if (!handle) { \
            const char *text = dlerror(); \
            snprintf(library##_reason, sizeof library##_reason, "%s", text ? text : file " was not found"); \
            return; \
        } \
        struct cformats_##library *table = &library##_loaded; \
        char *reason = library##_reason; \
        FUNCTIONS(CFORMATS_LOOK_UP) \
        library##_is_ready = 1; \
    } \
    const struct cformats_##library *cformats_##library(const char **why) { \
        pthread_once(&library##_once, open_##library); \
        *why = library##_reason; \
        return library##_is_ready ? &library##_loaded : NULL; \
    }

#define CFORMATS_LOOK_UP(result, name, parameters) \
    table->name = (__typeof__(table->name))dlsym(handle, #name); \
    if (!table->name) { \
        snprintf(reason, 256, "the library has no %s", #name); \
        return; \
    }

CFORMATS_LIBRARY(zlib, "libz.so.1", CFORMATS_ZLIB)
CFORMATS_LIBRARY(archive, "libarchive.so.13", CFORMATS_ARCHIVE)
CFORMATS_LIBRARY(expat, "libexpat.so.1", CFORMATS_EXPAT)

int cformats_begin_inflating(const struct cformats_zlib *zlib, cformats_stream *stream) {
    /* The largest window, and a header of gzip or of zlib. */
    return zlib->inflateInit2_(stream, 15 + 32, zlib->zlibVersion(), (int)sizeof *stream);
}

void cformats_fail(const struct cformats_archive *library, struct archive *archive, const char *reason) {
    library->archive_set_error(archive, EIO, "%s", reason);
}
