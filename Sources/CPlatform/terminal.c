/* ioctl is variadic, and its request numbers are macros. */
#define _GNU_SOURCE
#include "CPlatform.h"

#include <errno.h>
#include <sys/ioctl.h>
#include <unistd.h>

int cubby_tty_size(int fd, uint16_t *columns, uint16_t *rows, uint16_t *width, uint16_t *height) {
    struct winsize size;
    if (ioctl(fd, TIOCGWINSZ, &size) != 0) return -errno;
    *columns = size.ws_col;
    *rows = size.ws_row;
    *width = size.ws_xpixel;
    *height = size.ws_ypixel;
    return 0;
}

/* With SIGTTOU blocked, tcsetattr succeeds in the background and spoils the terminal of who is in the foreground. */
static int in_background(int fd) {
    pid_t foreground = tcgetpgrp(fd);
    return foreground >= 0 && foreground != getpgrp();
}

int cubby_tty_raw(int fd, struct termios *saved) {
    if (in_background(fd)) return -EIO;
    if (tcgetattr(fd, saved) != 0) return -errno;
    struct termios raw = *saved;
    raw.c_iflag &= ~(tcflag_t)(BRKINT | ICRNL | INPCK | ISTRIP | IXON);
    raw.c_lflag &= ~(tcflag_t)(ECHO | ICANON | IEXTEN | ISIG);
    raw.c_cflag |= CS8;
    raw.c_cc[VMIN] = 1;
    raw.c_cc[VTIME] = 0;
    /* TCSADRAIN keeps what was typed ahead; TCSAFLUSH would drop it. */
    while (tcsetattr(fd, TCSADRAIN, &raw) != 0)
        if (errno != EINTR) return -errno;
    return 0;
}

int cubby_tty_restore(int fd, const struct termios *saved) {
    if (in_background(fd)) return -EIO;
    while (tcsetattr(fd, TCSADRAIN, saved) != 0)
        if (errno != EINTR) return -errno;
    return 0;
}
