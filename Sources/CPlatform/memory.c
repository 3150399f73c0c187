/* Swift's module of the C library lacks malloc.h. */
#include "CPlatform.h"

#if CUBBY_LINUX && defined(__GLIBC__)
#include <malloc.h>

int cubby_trim_memory(void) { return malloc_trim(0); }
#else
int cubby_trim_memory(void) { return 0; }
#endif
