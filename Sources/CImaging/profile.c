#include "profile.h"

#include <string.h>

static int contains(const char *bytes, size_t length, const char *text, size_t text_length) {
    for (size_t i = 0; i + text_length <= length; i++)
        if (memcmp(bytes + i, text, text_length) == 0) return 1;
    return 0;
}

int cimaging_is_srgb(const void *profile, size_t length) {
    if (length > 4096) length = 4096;
    return contains(profile, length, "sRGB", 4) || contains(profile, length, "s\0R\0G\0B", 7);
}
