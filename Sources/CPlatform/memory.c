#include "CPlatform.h"

#include <malloc.h>

int cubby_trim_memory(void) { return malloc_trim(0); }
