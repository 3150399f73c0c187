/* Swift's module of the C library lacks eventfd's header. */
#include "CPlatform.h"

#include <errno.h>
#if CUBBY_LINUX
#include <sys/eventfd.h>

int cubby_eventfd(void) {
    int result = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    return result < 0 ? -errno : result;
}
#else
int cubby_eventfd(void) { return -ENOSYS; }
#endif
