#include "CPlatform.h"

#include <malloc.h>

void cubby_return_free_memory(void) {
    malloc_trim(0);
}
