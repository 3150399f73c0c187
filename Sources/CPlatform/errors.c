/* strerror_r has two forms: GNU's, with _GNU_SOURCE, returns a text, possibly static; POSIX's fills a buffer. */
#define _GNU_SOURCE
#include "CPlatform.h"

#include <stdio.h>
#include <string.h>

void cubby_error_text(int error, char *buffer, size_t capacity) {
    if (capacity == 0) return;
    char scratch[128];
#ifdef __GLIBC__
    const char *text = strerror_r(error, scratch, sizeof scratch);
#else /* untried */
    const char *text = strerror_r(error, scratch, sizeof scratch) == 0 ? scratch : "an unknown error";
#endif
    snprintf(buffer, capacity, "%s", text);
}
