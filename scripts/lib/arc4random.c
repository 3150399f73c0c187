/* glibc has arc4random since 2.36, and the C++ library that is embedded on Debian 12 refers to it, for a source of random
   numbers that nothing here uses. With a definition in the program, glibc 2.35 runs it. */
#include <stdint.h>
#include <stdlib.h>
#include <sys/random.h>

__attribute__((visibility("hidden"))) uint32_t arc4random(void) {
    uint32_t number;
    if (getrandom(&number, sizeof number, 0) != sizeof number) abort();
    return number;
}
