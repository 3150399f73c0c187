/* stdout and stderr are mutable globals, which Swift 6 rejects. */
#include "CPlatform.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <unistd.h>

int cubby_flush_output(void) { return fflush(NULL) == 0 ? 0 : -errno; }

void cubby_write_output(const void *bytes, size_t count) {
    if (count) fwrite(bytes, 1, count, stdout);
}

void cubby_write_error(const void *bytes, size_t count) {
    if (count) fwrite(bytes, 1, count, stderr);
}

int cubby_input_is_empty(void) {
#ifdef __GLIBC__
    if (stdin->_IO_read_ptr < stdin->_IO_read_end) return 0;
#elif defined(__APPLE__) /* untried */
    if (stdin->_r > 0) return 0;
#else
    return 0; /* the buffer cannot be examined: assume that it is empty */
#endif
    struct pollfd input = {.fd = STDIN_FILENO, .events = POLLIN};
    return poll(&input, 1, 0) == 0;
}
