/* libcurl, loaded when the first request is made.
 *
 * Why C: linking it would bring thirty libraries to every start, so its functions are looked up with dlsym; and the functions
 * that set options and ask for results have variable arguments, which Swift cannot pass. The declarations are the
 * library's own, which keeps the numbers and structures of its ABI 4 as they are since 7.16: no header is needed to build.
 * Functions that are younger are from 7.62 (addresses of URLs) and 7.68 (curl_multi_wakeup).
 *
 * A handle belongs to one thread at a time; curl_multi_wakeup may be called on any. */
#ifndef CNETWORK_H
#define CNETWORK_H

#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

struct cnetwork_list;

/* The message of a transfer that has ended, the library's CURLMsg. */
typedef struct cnetwork_message {
    int kind; /* 1: it has ended */
    void *_Nullable easy;
    union {
        void *_Nullable whatever;
        int result;
    } data;
} cnetwork_message;

/* The address of a socket that is about to be opened, the library's curl_sockaddr. The address has `count` bytes. */
typedef struct cnetwork_address {
    int family;
    int type;
    int protocol;
    unsigned int count;
    struct sockaddr address;
} cnetwork_address;

#define CNETWORK_FUNCTIONS(F) \
    F(int, curl_global_init, (long)) \
    F(char *_Nonnull, curl_version, (void)) \
    F(const char *_Nonnull, curl_easy_strerror, (int)) \
    F(void *_Nullable, curl_easy_init, (void)) \
    F(void, curl_easy_cleanup, (void *_Nonnull)) \
    F(int, curl_easy_setopt, (void *_Nonnull, int, ...)) \
    F(int, curl_easy_getinfo, (void *_Nonnull, int, ...)) \
    F(struct cnetwork_list *_Nullable, curl_slist_append, (struct cnetwork_list *_Nullable, const char *_Nonnull)) \
    F(void, curl_slist_free_all, (struct cnetwork_list *_Nullable)) \
    F(void *_Nullable, curl_multi_init, (void)) \
    F(int, curl_multi_cleanup, (void *_Nonnull)) \
    F(int, curl_multi_add_handle, (void *_Nonnull, void *_Nonnull)) \
    F(int, curl_multi_remove_handle, (void *_Nonnull, void *_Nonnull)) \
    F(int, curl_multi_perform, (void *_Nonnull, int *_Nonnull)) \
    F(int, curl_multi_poll, (void *_Nonnull, void *_Nullable, unsigned int, int, int *_Nullable)) \
    F(int, curl_multi_wakeup, (void *_Nonnull)) \
    F(cnetwork_message *_Nullable, curl_multi_info_read, (void *_Nonnull, int *_Nonnull)) \
    F(void *_Nullable, curl_url, (void)) \
    F(void, curl_url_cleanup, (void *_Nonnull)) \
    F(int, curl_url_get, (void *_Nonnull, int, char *_Nullable *_Nonnull, unsigned int)) \
    F(int, curl_url_set, (void *_Nonnull, int, const char *_Nullable, unsigned int)) \
    F(void, curl_free, (void *_Nullable))

/* The functions, by name. */
struct cnetwork_library {
#define CNETWORK_DECLARE(result, name, parameters) result (*_Nonnull name) parameters;
    CNETWORK_FUNCTIONS(CNETWORK_DECLARE)
#undef CNETWORK_DECLARE
};

/* The library, loaded and set up by the first call, on any thread; NULL with a reason if it is missing or too old. */
const struct cnetwork_library *_Nullable cnetwork_library(const char *_Nullable *_Nonnull reason);

/* The library's numbers for its options: of longs, of pointers, of functions, of sizes. */
enum {
    CNETWORK_TIMEOUT_MS = 155,
    CNETWORK_CONNECT_TIMEOUT_MS = 156,
    CNETWORK_NO_PROGRESS = 43,
    CNETWORK_UPLOAD = 46,
    CNETWORK_NETRC = 51,
    CNETWORK_FOLLOW_LOCATION = 52,
    CNETWORK_VERIFY_PEER = 64,
    CNETWORK_HTTP_GET = 80,
    CNETWORK_CONTENT_DECODING = 158,
    CNETWORK_VERIFY_HOST = 81,
    CNETWORK_NO_SIGNAL = 99,
    CNETWORK_PROTOCOLS = 181,
    CNETWORK_SUPPRESS_CONNECT_HEADERS = 265,
    CNETWORK_QUICK_EXIT = 269,
    CNETWORK_HTTP09_ALLOWED = 285,

    CNETWORK_URL = 10002,
    CNETWORK_PROXY = 10004,
    CNETWORK_WRITE_DATA = 10001,
    CNETWORK_READ_DATA = 10009,
    CNETWORK_ERROR_BUFFER = 10010,
    CNETWORK_USER_AGENT = 10018,
    CNETWORK_HTTP_HEADER = 10023,
    CNETWORK_HEADER_DATA = 10029,
    CNETWORK_CUSTOM_REQUEST = 10036,
    CNETWORK_ACCEPT_ENCODING = 10102,
    CNETWORK_PRIVATE = 10103,
    CNETWORK_OPEN_SOCKET_DATA = 10164,
    CNETWORK_SEEK_DATA = 10168,

    CNETWORK_IN_FILE_SIZE = 30115,
    CNETWORK_MAX_FILE_SIZE = 30117,
};

/* The numbers of results: of a long, of a text. */
enum {
    CNETWORK_OS_ERROR = 0x200000 + 25,
    CNETWORK_REDIRECT_URL = 0x100000 + 31,
};

/* The parts of a URL, and flags of their functions. */
enum {
    CNETWORK_PART_URL = 0,
    CNETWORK_PART_SCHEME = 1,
    CNETWORK_PART_HOST = 5,
    CNETWORK_PART_PORT = 6,
    CNETWORK_PART_FRAGMENT = 9,
    CNETWORK_PART_ZONE = 10,
    CNETWORK_DEFAULT_PORT = 1,
    CNETWORK_URL_ENCODE = 1 << 7,
    CNETWORK_PUNYCODE = 1 << 12,
};

/* Calls of the functions with variable arguments; the library's results. */
int cnetwork_set_long(const struct cnetwork_library *_Nonnull library, void *_Nonnull easy, int option, long value);
int cnetwork_set_size(const struct cnetwork_library *_Nonnull library, void *_Nonnull easy, int option, int64_t value);
/* The library copies texts; other memory has to stay. */
int cnetwork_set_pointer(
    const struct cnetwork_library *_Nonnull library, void *_Nonnull easy, int option, const void *_Nullable value);
int cnetwork_get_long(
    const struct cnetwork_library *_Nonnull library, void *_Nonnull easy, int info, long *_Nonnull value);
/* The text stays the handle's. */
int cnetwork_get_text(
    const struct cnetwork_library *_Nonnull library, void *_Nonnull easy, int info,
    const char *_Nullable *_Nonnull value);

/* What happens during a transfer; each is called with `context` on the thread that performs it. */
struct cnetwork_callbacks {
    void *_Nullable context;
    /* Bytes of the body: 1 to go on. */
    int (*_Nonnull body)(void *_Nullable context, const char *_Nonnull bytes, size_t count);
    /* A line of the header, with its end: 1 to go on. */
    int (*_Nonnull header)(void *_Nullable context, const char *_Nonnull bytes, size_t count);
    /* Fills a buffer with the next bytes of the request's body: their number, 0 at the end, or below 0 to stop. */
    int64_t (*_Nonnull more)(void *_Nullable context, char *_Nonnull buffer, size_t capacity);
    /* Goes to a place of the request's body, counted from its beginning: 1 if that can be done. */
    int (*_Nonnull seek)(void *_Nullable context, int64_t offset);
    /* Whether a connection to an address may be opened: 1 if so. */
    int (*_Nonnull permits)(void *_Nullable context, const void *_Nonnull address, size_t count);
};

/* Has the library call them for a transfer; they have to stay where they are until its handle is cleaned up. Sockets are
   opened here, closed on exec: programs do not inherit them. Returns the library's result. */
int cnetwork_set_callbacks(
    const struct cnetwork_library *_Nonnull library, void *_Nonnull easy, struct cnetwork_callbacks *_Nonnull callbacks);

#endif
