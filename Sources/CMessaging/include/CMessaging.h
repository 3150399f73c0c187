/* libzmq, loaded when the kernel of a notebook starts.
 *
 * Why C: linking it would bring it, and four libraries of its own, to every start, so its functions are looked up with
 * dlsym; and its messages are memory of its own whose size and alignment its header promises. The declarations are the
 * library's own, which keeps the numbers and structures of its ABI 5 as they are since 4.0: no header is needed to build.
 *
 * A socket belongs to one thread at a time. */
#ifndef CMESSAGING_H
#define CMESSAGING_H

#include <stddef.h>
#include <stdint.h>

/* A message, the library's zmq_msg_t. */
typedef struct cmessaging_message {
    __attribute__((aligned(sizeof(void *)))) uint8_t content[64];
} cmessaging_message;

/* A socket, or a descriptor where there is none, whose events are awaited: the library's zmq_pollitem_t. */
typedef struct cmessaging_item {
    void *_Nullable socket;
    int descriptor;
    short events;
    short returned;
} cmessaging_item;

#define CMESSAGING_FUNCTIONS(F) \
    F(void *_Nullable, zmq_ctx_new, (void)) \
    F(int, zmq_ctx_term, (void *_Nonnull)) \
    F(void *_Nullable, zmq_socket, (void *_Nonnull, int)) \
    F(int, zmq_close, (void *_Nonnull)) \
    F(int, zmq_setsockopt, (void *_Nonnull, int, const void *_Nonnull, size_t)) \
    F(int, zmq_bind, (void *_Nonnull, const char *_Nonnull)) \
    F(int, zmq_msg_init, (cmessaging_message *_Nonnull)) \
    F(int, zmq_msg_recv, (cmessaging_message *_Nonnull, void *_Nonnull, int)) \
    F(void *_Nullable, zmq_msg_data, (cmessaging_message *_Nonnull)) \
    F(size_t, zmq_msg_size, (const cmessaging_message *_Nonnull)) \
    F(int, zmq_msg_more, (const cmessaging_message *_Nonnull)) \
    F(int, zmq_msg_close, (cmessaging_message *_Nonnull)) \
    F(int, zmq_send, (void *_Nonnull, const void *_Nullable, size_t, int)) \
    F(int, zmq_poll, (cmessaging_item *_Nonnull, int, long)) \
    F(int, zmq_errno, (void)) \
    F(const char *_Nonnull, zmq_strerror, (int))

/* The functions, by name. */
struct cmessaging_library {
#define CMESSAGING_DECLARE(result, name, parameters) result (*_Nonnull name) parameters;
    CMESSAGING_FUNCTIONS(CMESSAGING_DECLARE)
#undef CMESSAGING_DECLARE
};

/* The library, loaded by the first call, on any thread; NULL with a reason if it is missing or too old. */
const struct cmessaging_library *_Nullable cmessaging_library(const char *_Nullable *_Nonnull reason);

/* The library's numbers: kinds of sockets, options, flags and events. */
enum { CMESSAGING_REP = 4, CMESSAGING_ROUTER = 6, CMESSAGING_XPUB = 9 };
enum { CMESSAGING_LINGER = 17, CMESSAGING_MAX_MESSAGE_SIZE = 22, CMESSAGING_SEND_LIMIT = 23 };
enum { CMESSAGING_ROUTER_MANDATORY = 33, CMESSAGING_XPUB_VERBOSE = 40, CMESSAGING_ROUTER_HANDOVER = 56 };
enum { CMESSAGING_DONT_WAIT = 1, CMESSAGING_MORE = 2, CMESSAGING_POLL_IN = 1 };

#endif
