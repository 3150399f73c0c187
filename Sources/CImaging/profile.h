/* Colour profiles. */
#ifndef CIMAGING_PROFILE_H
#define CIMAGING_PROFILE_H

#include <stddef.h>

/* Whether a profile is sRGB, by the name in its description (ASCII or UTF-16), which is near its start. */
int cimaging_is_srgb(const void *profile, size_t length);

#endif
