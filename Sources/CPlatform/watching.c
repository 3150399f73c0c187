/* inotify: its events have a variable length, and are only Linux's. */
#define _GNU_SOURCE
#include "CPlatform.h"

#include <errno.h>
#if CUBBY_LINUX
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/inotify.h>
#include <unistd.h>

int cubby_folder_events_open(void) {
    int result = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
    return result < 0 ? -errno : result;
}

int cubby_folder_events_add(int fd, int folder, int all_writes) {
    /* By the descriptor: the path may lead elsewhere by now. */
    char path[40];
    snprintf(path, sizeof path, "/proc/self/fd/%d", folder);
    uint32_t mask = IN_CREATE | IN_CLOSE_WRITE | IN_DELETE | IN_MOVED_FROM | IN_MOVED_TO | IN_DELETE_SELF | IN_MOVE_SELF
                    | IN_ONLYDIR | (all_writes ? IN_MODIFY : 0);
    int result = inotify_add_watch(fd, path, mask);
    return result < 0 ? -errno : result;
}

void cubby_folder_events_remove(int fd, int watch) { (void)inotify_rm_watch(fd, watch); }

ptrdiff_t cubby_folder_events_read(int fd, void *buffer, size_t capacity) {
    ssize_t count;
    do count = read(fd, buffer, capacity);
    while (count < 0 && errno == EINTR);
    return count < 0 ? (errno == EAGAIN ? 0 : -errno) : count;
}

int cubby_folder_event_next(const void *buffer, size_t count, size_t *offset, cubby_folder_event *event) {
    struct inotify_event raw;
    if (count < sizeof raw || *offset > count - sizeof raw) return 0;
    const char *start = (const char *)buffer + *offset;
    memcpy(&raw, start, sizeof raw);
    if (raw.len > count - *offset - sizeof raw) return 0;
    *offset += sizeof raw + raw.len;
    static const struct {
        uint32_t mask, flag;
    } flags[] = {
        {IN_CREATE, CUBBY_FOLDER_CREATED},          {IN_CLOSE_WRITE, CUBBY_FOLDER_CLOSED},
        {IN_MODIFY, CUBBY_FOLDER_WRITTEN},          {IN_DELETE, CUBBY_FOLDER_REMOVED},
        {IN_MOVED_FROM, CUBBY_FOLDER_MOVED_FROM},   {IN_MOVED_TO, CUBBY_FOLDER_MOVED_TO},
        {IN_DELETE_SELF, CUBBY_FOLDER_ENDED},       {IN_UNMOUNT, CUBBY_FOLDER_ENDED},
        {IN_MOVE_SELF, CUBBY_FOLDER_MOVED_ITSELF},  {IN_IGNORED, CUBBY_FOLDER_IGNORED},
        {IN_Q_OVERFLOW, CUBBY_FOLDER_OVERFLOW},     {IN_ISDIR, CUBBY_FOLDER_IS_FOLDER},
    };
    event->watch = raw.wd;
    event->cookie = raw.cookie;
    event->flags = 0;
    for (size_t i = 0; i < sizeof flags / sizeof *flags; i++)
        if (raw.mask & flags[i].mask) event->flags |= flags[i].flag;
    event->name = start + sizeof raw;
    event->length = strnlen(event->name, raw.len);
    return 1;
}

int cubby_file_has_writer(int file) {
    /* A read lease is refused while the file is open for writing. Whoever opens it before the lease is given back waits
       for that, and the holder gets a signal, which by default would end it. */
    if (fcntl(file, F_SETSIG, SIGURG) != 0) return -errno;
    if (fcntl(file, F_SETLEASE, F_RDLCK) != 0) return errno == EAGAIN ? 1 : -errno;
    (void)fcntl(file, F_SETLEASE, F_UNLCK);
    return 0;
}
#else
int cubby_folder_events_open(void) { return -ENOSYS; }

int cubby_folder_events_add(int fd, int folder, int all_writes) {
    (void)fd, (void)folder, (void)all_writes;
    return -ENOSYS;
}

void cubby_folder_events_remove(int fd, int watch) { (void)fd, (void)watch; }

ptrdiff_t cubby_folder_events_read(int fd, void *buffer, size_t capacity) {
    (void)fd, (void)buffer, (void)capacity;
    return -ENOSYS;
}

int cubby_folder_event_next(const void *buffer, size_t count, size_t *offset, cubby_folder_event *event) {
    (void)buffer, (void)count, (void)offset, (void)event;
    return 0;
}

int cubby_file_has_writer(int file) {
    (void)file;
    return -ENOSYS;
}
#endif
