/* pidfd_open has no wrapper in older C libraries, and the status functions of wait are macros. */
#define _GNU_SOURCE
#include "CPlatform.h"

#include <errno.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#if CUBBY_LINUX
#include <sys/syscall.h>

#ifndef __NR_pidfd_open
#define __NR_pidfd_open 434
#endif

int cubby_pidfd_open(int32_t process) {
    long result = syscall(__NR_pidfd_open, process, 0);
    return result < 0 ? -errno : (int)result;
}
#else
int cubby_pidfd_open(int32_t process) {
    (void)process;
    return -ENOSYS;
}
#endif

int cubby_reap(int32_t process, int waits, int *code, int *is_signal) {
    int status = 0;
    pid_t result;
    do result = waitpid(process, &status, waits ? 0 : WNOHANG);
    while (result < 0 && errno == EINTR);
    if (result < 0) return -errno;
    if (result == 0) return 0;
    *is_signal = WIFSIGNALED(status);
    *code = WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status);
    return 1;
}

int cubby_spawn_in(void *file_actions, int folder) {
#if defined(__linux__) || defined(__APPLE__)
    return -posix_spawn_file_actions_addfchdir_np(file_actions, folder);
#else
    (void)file_actions, (void)folder;
    return -ENOSYS;
#endif
}
