/* eventfd's header is not among those that Swift's module of the C library has. */
#include "CPlatform.h"

#include <errno.h>
#include <sys/eventfd.h>

int cubby_eventfd(void) {
    int result = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    return result < 0 ? -errno : result;
}
