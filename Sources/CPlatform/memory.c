/* malloc_trim belongs to the GNU library alone. */
#include "CPlatform.h"

#ifdef __linux__
#include <malloc.h>
#endif

int cubby_trim_memory(void) {
#ifdef __GLIBC__
    return malloc_trim(0);
#else
    return 0;
#endif
}
