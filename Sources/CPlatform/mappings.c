/* A mapped file that shrinks raises SIGBUS, whose handler must not call Swift. */
#define _GNU_SOURCE
#include "CPlatform.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sysexits.h>
#include <unistd.h>

/* A registered mapping. An entry is never freed, because the handler may be traversing the list. `start` is 0 in a free
   entry; it is written last when an entry is taken, and first when it is released. */
struct mapping {
    _Atomic uintptr_t start, end;
    char *name;
    struct mapping *next;
};
static _Atomic(struct mapping *) mappings;
static pthread_mutex_t changing = PTHREAD_MUTEX_INITIALIZER;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static struct sigaction former;

/* The name of the file mapped at an address. The reading thread holds the mapping, so its entry is stable. */
static const char *name_at(uintptr_t address) {
    for (struct mapping *entry = atomic_load(&mappings); entry; entry = entry->next) {
        uintptr_t start = atomic_load(&entry->start);
        if (start == 0 || address < start || address >= atomic_load(&entry->end)) continue;
        if (atomic_load(&entry->start) == start) return entry->name;
    }
    return NULL;
}

static void say(const char *text) {
    ssize_t written = write(STDERR_FILENO, text, strlen(text));
    (void)written;
}

/* Calls the former handler for a SIGBUS at a foreign address. */
static void pass_on(int number, siginfo_t *info, void *context) {
    if (former.sa_flags & SA_SIGINFO) return former.sa_sigaction(number, info, context);
    int is_fault = info->si_code > 0;
    if (former.sa_handler == SIG_IGN && !is_fault) return;
    if (former.sa_handler != SIG_DFL && former.sa_handler != SIG_IGN) return former.sa_handler(number);
    struct sigaction standard = {.sa_handler = SIG_DFL};
    sigemptyset(&standard.sa_mask);
    sigaction(number, &standard, NULL);
    /* A fault is raised again after this returns; a sent signal is pending until then. */
    if (!is_fault) raise(number);
}

static void faulted(int number, siginfo_t *info, void *context) {
    int saved_errno = errno;
    const char *name = info->si_code > 0 ? name_at((uintptr_t)info->si_addr) : NULL;
    if (!name) {
        pass_on(number, info, context);
        errno = saved_errno;
        return;
    }
    /* Several threads may fault in the same file; one reports it. */
    static atomic_flag is_reported = ATOMIC_FLAG_INIT;
    if (atomic_flag_test_and_set(&is_reported)) for (;;) pause();
    if (cubby_tty_give_back()) say("\n");
    say("cubby: ");
    say(name);
    say(" can no longer be read: another program cut it short while it was in use, or the disk failed. This process ends, "
        "and saves nothing over it; what was committed is in the journal. Start again: it says what to do\n");
    /* Buffers may be incomplete, and further code would read zeros as data. */
    _exit(EX_IOERR);
}

static void install(void) {
    if (sigaction(SIGBUS, NULL, &former) != 0) return;
    struct sigaction action = {.sa_sigaction = faulted, .sa_mask = former.sa_mask};
    action.sa_flags = SA_SIGINFO | SA_ONSTACK | (former.sa_flags & (SA_NODEFER | SA_RESTART));
    sigaction(SIGBUS, &action, NULL);
}

int cubby_mapping_record(const void *address, size_t count, const char *name) {
    pthread_once(&once, install);
    char *copy = strdup(name);
    if (!copy) return -ENOMEM;
    pthread_mutex_lock(&changing);
    struct mapping *entry = atomic_load(&mappings);
    while (entry && atomic_load(&entry->start) != 0) entry = entry->next;
    if (!entry) {
        entry = calloc(1, sizeof *entry);
        if (!entry) {
            pthread_mutex_unlock(&changing);
            free(copy);
            return -ENOMEM;
        }
        entry->next = atomic_load(&mappings);
        atomic_store(&mappings, entry);
    }
    free(entry->name);
    entry->name = copy;
    atomic_store(&entry->end, (uintptr_t)address + count);
    atomic_store(&entry->start, (uintptr_t)address);
    pthread_mutex_unlock(&changing);
    return 0;
}

void cubby_mapping_forget(const void *address) {
    pthread_mutex_lock(&changing);
    for (struct mapping *entry = atomic_load(&mappings); entry; entry = entry->next)
        if (atomic_load(&entry->start) == (uintptr_t)address) atomic_store(&entry->start, 0);
    pthread_mutex_unlock(&changing);
}
