/* Arguments passed by the kernel: Swift reads /proc/self/cmdline, which may not be mounted. */
#include "CPlatform.h"

#if CUBBY_LINUX
#include <sys/auxv.h>
#endif

static int32_t count;
static char **arguments;

/* glibc calls constructors with main's arguments. */
__attribute__((constructor)) static void keep_arguments(int argc, char **argv) {
    count = argc;
    arguments = argv;
}

int32_t cubby_argument_count(void) { return count; }

const char *cubby_argument(int32_t index) { return index >= 0 && index < count ? arguments[index] : NULL; }

#if CUBBY_LINUX
const char *cubby_program_path(void) { return (const char *)getauxval(AT_EXECFN); }
#else
const char *cubby_program_path(void) { return NULL; }
#endif
