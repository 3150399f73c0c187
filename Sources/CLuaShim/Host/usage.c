/* What a piece of work takes: the processor's time of its thread, and memory by the allocator's own count. Instructions
 * are not counted: a hook for each thousand of them doubles the time of pure Lua. */
#include "host.h"

static uint64_t thread_time(void) {
    struct timespec now;
    if (clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now)) return 0;
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

size_t clua_peak(const clua_host *host) {
    return host->peak > host->earlierPeak ? host->peak : host->earlierPeak;
}

void clua_begin_step(clua_host *host, clua_usage *usage) {
    host->earlierPeak = clua_peak(host);
    host->peak = host->used;
    usage->startTime = thread_time();
}

void clua_end_step(clua_host *host, clua_usage *usage) {
    usage->nanoseconds += thread_time() - usage->startTime;
    if (host->peak > usage->peak) usage->peak = host->peak;
}
