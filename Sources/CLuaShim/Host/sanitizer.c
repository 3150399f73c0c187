/* Two functions of the C library that ThreadSanitizer does not intercept correctly. In builds without it this file is
 * empty. */
#include "sanitizer.h"

#if CLUA_THREAD_SANITIZER
#include <setjmp.h>

/* The sanitizer wraps sigaction, and delays a signal until its thread calls another wrapped function. A loop in a
 * script calls none, so it would never be stopped. The C library's internal name for sigaction installs the handler
 * as is. It only accesses its own thread's data, an atomic, and lua_sethook, whose library is not instrumented. */
extern int __sigaction(int number, const struct sigaction *action, struct sigaction *former);

int clua_sigaction(int number, const struct sigaction *action, struct sigaction *former) {
    return __sigaction(number, action, former);
}

/* Debian builds Lua with the fortified longjmp, the one that the sanitizer does not wrap. Without this definition, each
 * error would leave the frames that it crossed on the sanitizer's shadow stack, which is copied at every allocation and
 * limited in size. Lua finds this definition before the C library's. */
_Noreturn void __longjmp_chk(struct __jmp_buf_tag *buffer, int value);

CLUA_UNSANITIZED _Noreturn void __longjmp_chk(struct __jmp_buf_tag *buffer, int value) { longjmp(buffer, value); }
#else
typedef int clua_no_sanitizer; /* a translation unit needs a declaration */
#endif
