/* openat2 has no wrapper in the C library, older headers lack its structure; sync_file_range, statx and
   memfd_create need _GNU_SOURCE. */
#define _GNU_SOURCE
#include "CPlatform.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static int rename_examined(int directory, const char *path, int new_directory, const char *new_path) {
    struct stat status;
    if (fstatat(new_directory, new_path, &status, AT_SYMLINK_NOFOLLOW) == 0) return -EEXIST;
    if (errno != ENOENT) return -errno;
    return renameat(directory, path, new_directory, new_path) == 0 ? 0 : -errno;
}

#if CUBBY_LINUX
#include <sys/syscall.h>

const int32_t cubby_open_path = O_PATH;
const int32_t cubby_at_empty_path = AT_EMPTY_PATH;

#ifndef __NR_openat2
#define __NR_openat2 437
#endif

#ifndef RENAME_NOREPLACE
#define RENAME_NOREPLACE 1
#endif

int cubby_rename_new(int directory, const char *path, int new_directory, const char *new_path) {
    if (syscall(__NR_renameat2, directory, path, new_directory, new_path, RENAME_NOREPLACE) == 0) return 0;
    if (errno != EINVAL && errno != ENOSYS) return -errno;
    return rename_examined(directory, path, new_directory, new_path);
}

int cubby_begin_sync(int file) { return sync_file_range(file, 0, 0, SYNC_FILE_RANGE_WRITE); }

int cubby_open_in_memory(void) {
    int file = memfd_create("cubby", MFD_CLOEXEC);
    return file < 0 ? -errno : file;
}

int64_t cubby_birth_time(int file) {
    struct statx status;
    if (statx(file, "", AT_EMPTY_PATH, STATX_BTIME, &status) != 0 || !(status.stx_mask & STATX_BTIME)) return -1;
    int64_t time;
    if (__builtin_mul_overflow(status.stx_btime.tv_sec, (int64_t)1000000000, &time)) return -1;
    return time + status.stx_btime.tv_nsec;
}

struct cubby_open_how {
    uint64_t flags;
    uint64_t mode;
    uint64_t resolve;
};

int cubby_openat2(int directory, const char *path, int flags, uint32_t mode, uint64_t resolve) {
    struct cubby_open_how how = {.flags = (uint64_t)(uint32_t)flags, .mode = mode, .resolve = resolve};
    long result;
    int tries = 0;
    /* EAGAIN: after a concurrent rename the kernel could not verify that the path stays beneath. */
    do result = syscall(__NR_openat2, directory, path, &how, sizeof how);
    while (result < 0 && (errno == EINTR || (errno == EAGAIN && ++tries < 128)));
    return result < 0 ? -errno : (int)result;
}
#else
const int32_t cubby_open_path = O_RDONLY;
const int32_t cubby_at_empty_path = 0;

int cubby_rename_new(int directory, const char *path, int new_directory, const char *new_path) {
    return rename_examined(directory, path, new_directory, new_path);
}

int cubby_begin_sync(int file) {
    (void)file;
    return 0;
}

int cubby_open_in_memory(void) { return -ENOSYS; }

int64_t cubby_birth_time(int file) {
    (void)file;
    return -1;
}

int cubby_openat2(int directory, const char *path, int flags, uint32_t mode, uint64_t resolve) {
    (void)directory, (void)path, (void)flags, (void)mode, (void)resolve;
    return -ENOSYS;
}
#endif
