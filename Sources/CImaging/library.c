#include "library.h"

#include <dlfcn.h>
#include <locale.h>
#include <malloc.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct cimaging_library library;
static int is_ready;
static int threads;
static char reason[256];
/* Guards the four variables above, which only the once-function writes. */
static pthread_once_t once = PTHREAD_ONCE_INIT;

/* Discards libvips's log on standard error: relevant messages are errors, too. */
static void ignore_log(const gchar *domain, GLogLevelFlags level, const gchar *message, gpointer data) {
    (void)domain, (void)level, (void)message, (void)data;
}

/* libvips may set the process's locale, but numbers must keep a decimal point. */
static int start(void) {
    const char *current = setlocale(LC_ALL, NULL);
    char *locale = current ? strdup(current) : NULL;
    int status = library.vips_init("cubby");
    if (locale && strcmp(locale, setlocale(LC_ALL, NULL)) != 0) setlocale(LC_ALL, locale);
    free(locale);
    return status;
}

static void open_library(void) {
    void *handle = dlopen("libvips.so.42", RTLD_NOW | RTLD_LOCAL);
    if (!handle) handle = dlopen("libvips.so", RTLD_NOW | RTLD_LOCAL);
    if (!handle) {
        const char *text = dlerror();
        snprintf(reason, sizeof reason, "%s", text ? text : "libvips.so.42 was not found");
        return;
    }
#define CIMAGING_LOOK_UP(name) \
    library.name = (__typeof__(name) *)dlsym(handle, #name); \
    if (!library.name) { \
        snprintf(reason, sizeof reason, "this libvips has no %s", #name); \
        return; \
    }
    CIMAGING_FUNCTIONS(CIMAGING_LOOK_UP)
#undef CIMAGING_LOOK_UP

    library.g_log_set_handler("VIPS", G_LOG_LEVEL_MASK, ignore_log, NULL);
    if (start() != 0) {
        char *text = library.vips_error_buffer_copy();
        snprintf(reason, sizeof reason, "libvips does not start: %s", text);
        library.g_free(text);
        return;
    }
    /* Only loaders for untrusted input. */
    library.vips_block_untrusted_set(TRUE);
    /* The image store has its own cache, and no picture is computed twice. */
    library.vips_cache_set_max(0);
    library.vips_cache_set_max_mem(0);
    library.vips_cache_set_max_files(0);
    /* Orc's compilation for each picture takes longer than it saves, and Orc frees its code without a lock. */
    library.vips_vector_set_enabled(0);
    /* Without this each picture's memory is unmapped and mapped again, cleared page by page. Larger blocks still are; a
     * flush of the cache releases all of them. */
    mallopt(M_MMAP_THRESHOLD, 16 << 20);
    mallopt(M_TRIM_THRESHOLD, 32 << 20);
    threads = library.vips_concurrency_get() > 4 ? 4 : library.vips_concurrency_get();
    library.vips_concurrency_set(1);
    is_ready = 1;
}

void cimaging_use_threads(const struct cimaging_library *vips, int64_t pixels) {
    vips->vips_concurrency_set(pixels < CIMAGING_LARGE ? 1 : threads);
}

const struct cimaging_library *cimaging_library(const char **why) {
    pthread_once(&once, open_library);
    *why = reason;
    return is_ready ? &library : NULL;
}
