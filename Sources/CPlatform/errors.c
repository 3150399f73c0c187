/* strerror_r in the GNU form, under _GNU_SOURCE, which may return a static text. */
#define _GNU_SOURCE
#include "CPlatform.h"

#include <stdio.h>
#include <string.h>

void cubby_error_text(int error, char *buffer, size_t capacity) {
    if (capacity == 0) return;
    char scratch[128];
    const char *text = strerror_r(error, scratch, sizeof scratch);
    snprintf(buffer, capacity, "%s", text);
}
