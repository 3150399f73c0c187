#include "CPlatform.h"

#include <stddef.h>

static _Thread_local cubby_watch watching;

cubby_watch cubby_watch_work(cubby_watch watch) {
    cubby_watch former = watching;
    watching = watch;
    return former;
}

void *cubby_thread_handover(void *object) {
    static _Thread_local void *current;
    void *former = current;
    current = object;
    return former;
}

int cubby_work_is_stopped(void) { return watching.is_stopped && watching.is_stopped(watching.context); }

int cubby_work_is_stopped_at_step(void) {
    static _Thread_local unsigned steps;
    if (++steps < 1024) return 0;
    int is_stopped = cubby_work_is_stopped();
    steps = is_stopped ? 1023 : 0;
    return is_stopped;
}

int64_t cubby_work_capacity(void) { return watching.capacity ? watching.capacity(watching.context) : INT64_MAX; }
