/* gettid is declared under _GNU_SOURCE, which Swift cannot set. */
#define _GNU_SOURCE
#include "CPlatform.h"

#include <unistd.h>

int32_t cubby_thread_id(void) { return (int32_t)gettid(); }
