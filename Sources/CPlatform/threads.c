/* gettid and sched_getaffinity are declared under _GNU_SOURCE, which Swift cannot set. */
#define _GNU_SOURCE
#include "CPlatform.h"

#include <sched.h>
#include <unistd.h>

int32_t cubby_thread_id(void) { return (int32_t)gettid(); }

int32_t cubby_processor_count(void) {
    cpu_set_t allowed;
    return sched_getaffinity(0, sizeof allowed, &allowed) == 0 ? CPU_COUNT(&allowed) : 1;
}
