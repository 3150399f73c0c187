/* statfs: Swift's module of the C library lacks its header, and statvfs has no type. */
#include "CPlatform.h"

#if CUBBY_LINUX
#include <linux/magic.h>
#include <sys/vfs.h>

int cubby_is_in_memory(const char *path) {
    struct statfs status;
    return statfs(path, &status) == 0 && status.f_type == TMPFS_MAGIC;
}
#else
int cubby_is_in_memory(const char *path) {
    (void)path;
    return 0;
}
#endif
