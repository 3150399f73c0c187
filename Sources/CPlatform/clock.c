/* A thread's own clock. C, since Swift has no variable of a thread that is read without a lookup, and each reading of the
   clock reads it. */
#include "CPlatform.h"

static _Thread_local cubby_thread_clock clock_of_thread;

cubby_thread_clock cubby_clock(void) { return clock_of_thread; }

void cubby_set_clock(cubby_thread_clock clock) { clock_of_thread = clock; }
