/* Swift's module of the C library lacks the headers of eventfd and timerfd. */
#include "CPlatform.h"

#include <errno.h>
#if CUBBY_LINUX
#include <sys/eventfd.h>
#include <sys/timerfd.h>

int cubby_eventfd(void) {
    int result = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    return result < 0 ? -errno : result;
}

int cubby_wall_timer(void) {
    int result = timerfd_create(CLOCK_REALTIME, TFD_CLOEXEC | TFD_NONBLOCK);
    return result < 0 ? -errno : result;
}

int cubby_wall_timer_set(int fd, int64_t seconds) {
    struct itimerspec spec = {.it_value = {.tv_sec = seconds}};
    int result = timerfd_settime(fd, TFD_TIMER_ABSTIME | TFD_TIMER_CANCEL_ON_SET, &spec, NULL);
    return result < 0 ? -errno : 0;
}
#else
int cubby_eventfd(void) { return -ENOSYS; }

int cubby_wall_timer(void) { return -ENOSYS; }

int cubby_wall_timer_set(int fd, int64_t seconds) {
    (void)fd, (void)seconds;
    return -ENOSYS;
}
#endif
