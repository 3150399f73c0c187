/* The only calls of write(2), pwrite(2) and send(2) in the sources besides signal handlers': each loops over short
 * counts and has a result that the compiler does not let a caller drop. And stdout, which is a mutable global that Swift 6
 * rejects. */
#include "CPlatform.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

#ifndef MSG_NOSIGNAL /* untried: there SO_NOSIGPIPE of the socket has this meaning */
#define MSG_NOSIGNAL 0
#endif

int cubby_flush_output(void) { return fflush(stdout) == 0 ? 0 : errno; }

int64_t cubby_write_some(int descriptor, const void *bytes, size_t count) {
    ssize_t written;
    do written = write(descriptor, bytes, count);
    while (written < 0 && errno == EINTR);
    return written;
}

int64_t cubby_send_some(int descriptor, const void *bytes, size_t count) {
    ssize_t written;
    do written = send(descriptor, bytes, count, MSG_NOSIGNAL | MSG_DONTWAIT);
    while (written < 0 && errno == EINTR);
    return written;
}

/* Whether a failed write is to be repeated: another process may have made a terminal non-blocking. */
static int waits_until_writable(int descriptor) {
    if (errno != EAGAIN && errno != EWOULDBLOCK) return 0;
    struct pollfd entry = {.fd = descriptor, .events = POLLOUT};
    return poll(&entry, 1, -1) >= 0 || errno == EINTR;
}

size_t cubby_write(int descriptor, const void *bytes, size_t count) {
    size_t done = 0;
    while (done < count) {
        int64_t written = cubby_write_some(descriptor, (const char *)bytes + done, count - done);
        if (written > 0) {
            done += (size_t)written;
            continue;
        }
        if (written < 0 && waits_until_writable(descriptor)) continue;
        if (written == 0) errno = EIO; /* a device that accepts nothing and names no reason */
        break;
    }
    return done;
}

size_t cubby_write_at(int descriptor, const void *bytes, size_t count, int64_t offset) {
    size_t done = 0;
    while (done < count) {
        ssize_t written = pwrite(descriptor, (const char *)bytes + done, count - done, (off_t)(offset + (int64_t)done));
        if (written > 0) {
            done += (size_t)written;
            continue;
        }
        if (written < 0 && errno == EINTR) continue;
        if (written == 0) errno = EIO;
        break;
    }
    return done;
}
