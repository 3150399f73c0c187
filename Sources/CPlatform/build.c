/* The commit and the compiler of a build: a condition of Swift's has no value. */
#include "CPlatform.h"

#ifndef CUBBY_BUILD
#define CUBBY_BUILD ""
#endif

const char *cubby_build(void) { return CUBBY_BUILD; }
