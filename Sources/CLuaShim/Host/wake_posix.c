/* Signals to live threads, from a list of them, and one thread per timer. Tested on Linux, with CUBBY_PLAIN_POSIX;
 * untested elsewhere. */
#include "wake.h"

#if !CUBBY_LINUX
#include <errno.h>
#include <stdlib.h>

#include "host.h"
#include "sanitizer.h"

/* A live thread that uses a state. */
typedef struct alive {
    pthread_t thread;
    int number;
    atomic_int sent; /* signals sent and not yet received; several may arrive as one */
    struct alive *next;
} alive;

static alive *threads;
static _Thread_local alive *own;
static int count;
static pthread_mutex_t changing = PTHREAD_MUTEX_INITIALIZER;
static pthread_key_t ending;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void forget(void *entry) {
    own = NULL;
    pthread_mutex_lock(&changing);
    for (alive **place = &threads; *place; place = &(*place)->next) {
        if (*place != entry) continue;
        *place = (*place)->next;
        break;
    }
    pthread_mutex_unlock(&changing);
    free(entry);
}

static void make_key(void) { pthread_key_create(&ending, forget); }

int clua_name_thread(void) {
    pthread_once(&once, make_key);
    alive *entry = malloc(sizeof *entry);
    if (!entry) return 0;
    pthread_mutex_lock(&changing);
    *entry = (alive){.thread = pthread_self(), .number = ++count, .next = threads};
    threads = entry;
    int number = entry->number;
    pthread_mutex_unlock(&changing);
    pthread_setspecific(ending, entry);
    own = entry;
    return number;
}

/* The signal handler takes no lock, so it may run while this thread holds it. */
void clua_send_signal(int thread, int number, int (*spare)(void)) {
    int error = errno;
    (void)spare;
    pthread_mutex_lock(&changing);
    for (alive *entry = threads; entry; entry = entry->next)
        if (entry->number == thread) {
            atomic_fetch_add(&entry->sent, 1);
            pthread_kill(entry->thread, number);
        }
    pthread_mutex_unlock(&changing);
    errno = error;
}

CLUA_UNSANITIZED int clua_sent_signal(const siginfo_t *info) {
    (void)info;
    return own && atomic_exchange(&own->sent, 0) > 0;
}

struct clua_timer {
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    int target, number, is_closed;
    int64_t next; /* in nanoseconds of the monotonic clock; 0: none */
};

static void *keep_time(void *argument) {
    clua_timer *timer = argument;
    pthread_mutex_lock(&timer->lock);
    while (!timer->is_closed) {
        int64_t left = timer->next - clua_nanoseconds(CLOCK_MONOTONIC);
        if (!timer->next) {
            pthread_cond_wait(&timer->changed, &timer->lock);
        } else if (left > 0) {
            /* Condition variables do not support the monotonic clock on every system. If the other clock is set, the
             * wait is at most a second too long. */
            int64_t until = clua_nanoseconds(CLOCK_REALTIME) + (left < 1000000000 ? left : 1000000000);
            struct timespec time = {.tv_sec = (time_t)(until / 1000000000), .tv_nsec = (long)(until % 1000000000)};
            pthread_cond_timedwait(&timer->changed, &timer->lock, &time);
        } else {
            clua_send_signal(timer->target, timer->number, NULL);
            timer->next = clua_nanoseconds(CLOCK_MONOTONIC) + 10 * 1000 * 1000;
        }
    }
    pthread_mutex_unlock(&timer->lock);
    return NULL;
}

clua_timer *clua_open_timer(int number) {
    clua_timer *timer = calloc(1, sizeof *timer);
    if (!timer) return NULL;
    timer->target = clua_self.id;
    timer->number = number;
    pthread_mutex_init(&timer->lock, NULL);
    pthread_cond_init(&timer->changed, NULL);
    if (cubby_thread_start(0, keep_time, timer, &timer->thread) == 0) return timer;
    pthread_cond_destroy(&timer->changed);
    pthread_mutex_destroy(&timer->lock);
    free(timer);
    return NULL;
}

void clua_set_timer(clua_timer *timer, int64_t deadline) {
    pthread_mutex_lock(&timer->lock);
    timer->next = deadline;
    pthread_cond_signal(&timer->changed);
    pthread_mutex_unlock(&timer->lock);
}

void clua_close_timer(clua_timer *timer) {
    if (!timer) return;
    pthread_mutex_lock(&timer->lock);
    timer->is_closed = 1;
    pthread_cond_signal(&timer->changed);
    pthread_mutex_unlock(&timer->lock);
    pthread_join(timer->thread, NULL);
    pthread_cond_destroy(&timer->changed);
    pthread_mutex_destroy(&timer->lock);
    free(timer);
}
#else
typedef int clua_no_posix; /* a translation unit needs a declaration */
#endif
