#define _GNU_SOURCE
#include "CNetwork.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

static struct cnetwork_library library;
static int is_ready;
static char reason[256];
/* Guards the three variables above: only the once-function writes them. */
static pthread_once_t once = PTHREAD_ONCE_INIT;

/* CURL_GLOBAL_DEFAULT: OpenSSL is set up, too. */
enum { global_default = 3 };

static void open_library(void) {
    void *handle = dlopen("libcurl.so.4", RTLD_NOW | RTLD_LOCAL);
    if (!handle) {
        const char *text = dlerror();
        snprintf(reason, sizeof reason, "%s", text ? text : "libcurl.so.4 was not found");
        return;
    }
#define CNETWORK_LOOK_UP(result, name, parameters) \
    library.name = (__typeof__(library.name))dlsym(handle, #name); \
    if (!library.name) { \
        snprintf(reason, sizeof reason, "this libcurl has no %s", #name); \
        return; \
    }
    CNETWORK_FUNCTIONS(CNETWORK_LOOK_UP)
#undef CNETWORK_LOOK_UP
    int result = library.curl_global_init(global_default);
    if (result != 0) {
        snprintf(reason, sizeof reason, "%s", library.curl_easy_strerror(result));
        return;
    }
    is_ready = 1;
}

const struct cnetwork_library *cnetwork_library(const char **why) {
    pthread_once(&once, open_library);
    *why = reason;
    return is_ready ? &library : NULL;
}

int cnetwork_set_long(const struct cnetwork_library *curl, void *easy, int option, long value) {
    return curl->curl_easy_setopt(easy, option, value);
}

int cnetwork_set_size(const struct cnetwork_library *curl, void *easy, int option, int64_t value) {
    return curl->curl_easy_setopt(easy, option, value);
}

int cnetwork_set_pointer(const struct cnetwork_library *curl, void *easy, int option, const void *value) {
    return curl->curl_easy_setopt(easy, option, value);
}

int cnetwork_get_long(const struct cnetwork_library *curl, void *easy, int info, long *value) {
    return curl->curl_easy_getinfo(easy, info, value);
}

int cnetwork_get_text(const struct cnetwork_library *curl, void *easy, int info, const char **value) {
    return curl->curl_easy_getinfo(easy, info, value);
}

/* The library's callbacks. A result that is not the number of bytes stops the transfer. */

static size_t take_body(char *bytes, size_t size, size_t count, void *data) {
    const struct cnetwork_callbacks *callbacks = data;
    size_t all = size * count;
    return callbacks->body(callbacks->context, bytes, all) == 1 ? all : all + 1;
}

static size_t take_header(char *bytes, size_t size, size_t count, void *data) {
    const struct cnetwork_callbacks *callbacks = data;
    size_t all = size * count;
    return callbacks->header(callbacks->context, bytes, all) == 1 ? all : all + 1;
}

static size_t give_more(char *buffer, size_t size, size_t count, void *data) {
    const struct cnetwork_callbacks *callbacks = data;
    int64_t given = callbacks->more(callbacks->context, buffer, size * count);
    return given < 0 ? 0x10000000 /* CURL_READFUNC_ABORT */ : (size_t)given;
}

static int seek(void *data, int64_t offset, int origin) {
    const struct cnetwork_callbacks *callbacks = data;
    if (origin != SEEK_SET) return 1;
    return callbacks->seek(callbacks->context, offset) == 1 ? 0 : 1;
}

static int open_socket(void *data, int purpose, cnetwork_address *address) {
    const struct cnetwork_callbacks *callbacks = data;
    (void)purpose;
    if (callbacks->permits(callbacks->context, &address->address, address->count) != 1) return -1;
    return socket(address->family, address->type | SOCK_CLOEXEC, address->protocol);
}

enum {
    write_function = 20011,
    read_function = 20012,
    header_function = 20079,
    open_socket_function = 20163,
    seek_function = 20167,
};

int cnetwork_set_callbacks(const struct cnetwork_library *curl, void *easy, struct cnetwork_callbacks *callbacks) {
    int result = curl->curl_easy_setopt(easy, write_function, take_body);
    if (!result) result = curl->curl_easy_setopt(easy, CNETWORK_WRITE_DATA, callbacks);
    if (!result) result = curl->curl_easy_setopt(easy, header_function, take_header);
    if (!result) result = curl->curl_easy_setopt(easy, CNETWORK_HEADER_DATA, callbacks);
    if (!result) result = curl->curl_easy_setopt(easy, read_function, give_more);
    if (!result) result = curl->curl_easy_setopt(easy, CNETWORK_READ_DATA, callbacks);
    if (!result) result = curl->curl_easy_setopt(easy, seek_function, seek);
    if (!result) result = curl->curl_easy_setopt(easy, CNETWORK_SEEK_DATA, callbacks);
    if (!result) result = curl->curl_easy_setopt(easy, open_socket_function, open_socket);
    if (!result) result = curl->curl_easy_setopt(easy, CNETWORK_OPEN_SOCKET_DATA, callbacks);
    return result;
}
