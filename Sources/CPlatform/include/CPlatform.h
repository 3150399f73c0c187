#ifndef CPLATFORM_H
#define CPLATFORM_H

/* What Linux offers and Swift cannot say: variadic calls, macros, flags newer than the system's headers, and calls that
   must do several steps on one thread without Swift in between. Every function states its result and touches errno only
   as the call below it does. */

#include <stddef.h>
#include <stdint.h>

/* errors.c: strerror_r has two signatures, and which one is chosen by feature macros that Swift cannot set. */

/* Writes the text of an error number, always terminated, into `buffer`. */
void cubby_error_text(int error, char *buffer, size_t capacity);

/* threads.c: the kernel's id of the calling thread; the C library declares it for GNU sources only. */
int32_t cubby_thread_id(void);

#endif
