/* Compiled, and never run: CImaging's declarations beside those of libvips's headers. C refuses a function that is
 * declared twice with different types, and an assertion refuses another value. */
#include <vips/vips.h>
#include <vips/vector.h>

/* GLib has a macro of this name, with its argument's type as the result's. */
#undef g_object_unref

#define CIMAGING_CHECKED
#include "../../Sources/CImaging/libvips.h"

#define SAME(name, value) _Static_assert((int)name == (int)(value), #name);
CIMAGING_CONSTANTS(SAME)

_Static_assert(sizeof(VIPS_META_ICC_NAME) == sizeof("icc-profile-data"), "VIPS_META_ICC_NAME");
_Static_assert(TRUE == 1, "TRUE");
/* What CImaging takes for an int, or for a long. */
_Static_assert(sizeof(VipsBandFormat) == sizeof(int) && sizeof(VipsDemandStyle) == sizeof(int), "enumerations");
_Static_assert(sizeof(VipsInteresting) == sizeof(int) && sizeof(VipsInterpretation) == sizeof(int), "enumerations");
_Static_assert(sizeof(VipsSize) == sizeof(int) && sizeof(GLogLevelFlags) == sizeof(int), "enumerations");
_Static_assert(sizeof(GConnectFlags) == sizeof(int) && sizeof(gboolean) == sizeof(int), "enumerations");
_Static_assert(sizeof(gsize) == sizeof(long) && sizeof(guint64) == sizeof(long), "sizes");
_Static_assert(sizeof(GType) == sizeof(long) && sizeof(gulong) == sizeof(long), "sizes");
