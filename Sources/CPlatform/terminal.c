/* ioctl is variadic, its request numbers are macros, and a crash handler may not call Swift. */
#define _GNU_SOURCE
#include "CPlatform.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <termios.h>
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

/* With SIGTTOU blocked, tcsetattr succeeds in the background and changes the terminal of the foreground process. */
static int in_background(int fd) {
    pid_t foreground = tcgetpgrp(fd);
    return foreground >= 0 && foreground != getpgrp();
}

/* The terminal's state, for a crash handler. Written once, before the handlers are installed. */
static struct {
    int input, output;
    struct termios found;
    char sequences[64];
    size_t count;
    struct sigaction former[NSIG];
} rescue;

static volatile sig_atomic_t is_armed;

int cubby_tty_give_back(void) {
    if (!is_armed || in_background(rescue.input)) return 0;
    /* TCSADRAIN would block on a terminal that does not read. */
    tcsetattr(rescue.input, TCSANOW, &rescue.found);
    ssize_t written = write(rescue.output, rescue.sequences, rescue.count);
    (void)written;
    return 1;
}

/* Whether the instruction that raised a signal raises it again after the handler returns, including its address, which
   a former handler may need. */
static int repeats(int number, const siginfo_t *info) {
    return info->si_code > 0 && (number == SIGBUS || number == SIGSEGV || number == SIGILL || number == SIGFPE);
}

static void rescue_and_resume(int number, siginfo_t *info, void *context) {
    (void)context;
    int saved_errno = errno;
    cubby_tty_give_back();
    /* Restores the former action; a sent signal is pending until this handler returns. */
    sigaction(number, &rescue.former[number], NULL);
    if (!repeats(number, info)) raise(number);
    errno = saved_errno;
}

int cubby_tty_rescue(int input, int output, const char *sequences) {
    static const int fatal[] = {SIGQUIT, SIGILL,  SIGTRAP, SIGABRT,   SIGBUS,  SIGFPE,  SIGSEGV, SIGSYS,
                                SIGUSR1, SIGUSR2, SIGALRM, SIGVTALRM, SIGPROF, SIGXCPU,
#if CUBBY_LINUX
                                SIGPWR,  SIGPOLL,
#endif
    };
    if (is_armed) return 0;
    if (tcgetattr(input, &rescue.found) != 0) return -errno;
    size_t count = strlen(sequences);
    if (count > sizeof rescue.sequences) return -EINVAL;
    memcpy(rescue.sequences, sequences, count);
    rescue.count = count;
    rescue.input = input;
    rescue.output = output;
    is_armed = 1;

    /* A stack overflow is also a crash, and leaves no stack for the handler. */
    stack_t stack = {0};
    if (sigaltstack(NULL, &stack) == 0 && (stack.ss_flags & SS_DISABLE)) {
        stack.ss_size = 64 << 10;
        stack.ss_flags = 0;
        stack.ss_sp = mmap(NULL, stack.ss_size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (stack.ss_sp != MAP_FAILED) sigaltstack(&stack, NULL);
    }
    for (size_t i = 0; i < sizeof fatal / sizeof *fatal; i++) {
        int number = fatal[i];
        struct sigaction action = {.sa_sigaction = rescue_and_resume, .sa_flags = SA_SIGINFO | SA_ONSTACK};
        sigfillset(&action.sa_mask);
        if (sigaction(number, NULL, &rescue.former[number]) != 0) continue;
        /* An ignored signal does not end the process. */
        if (!(rescue.former[number].sa_flags & SA_SIGINFO) && rescue.former[number].sa_handler == SIG_IGN) continue;
        sigaction(number, &action, NULL);
    }
    return 0;
}
