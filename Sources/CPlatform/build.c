/* The commit and the compiler of a build: Swift's compilation conditions have no values. */
#include "CPlatform.h"

#ifndef CUBBY_BUILD
#define CUBBY_BUILD ""
#endif

const char *cubby_build(void) { return CUBBY_BUILD; }
