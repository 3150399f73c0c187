/* stdout and stderr are mutable globals, which Swift 6 refuses to touch. */
#include "CPlatform.h"

#include <errno.h>
#include <stdio.h>

int cubby_flush_output(void) { return fflush(NULL) == 0 ? 0 : -errno; }
