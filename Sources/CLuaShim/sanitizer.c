/* Two functions of the C library that ThreadSanitizer does not intercept correctly. In builds without it this file is
 * empty. */
#include "sanitizer.h"

#if CLUA_THREAD_SANITIZER
#include <setjmp.h>

/* The sanitizer wraps sigaction, and holds a signal back until its thread next calls a function that is wrapped as well.
 * A loop in a script calls none, so it would never be stopped. By the C library's own name for sigaction the handler is
 * installed as it is. It touches what its own thread owns, an atomic, and lua_sethook, whose library is not instrumented. */
extern int __sigaction(int number, const struct sigaction *action, struct sigaction *former);

int clua_sigaction(int number, const struct sigaction *action, struct sigaction *former) {
    return __sigaction(number, action, former);
}

/* Debian builds Lua with the fortified longjmp, which is the one that the sanitizer does not wrap. Unseen, each error would
 * leave the frames that it crossed on the sanitizer's shadow stack, which is copied at every allocation, and is not
 * unlimited. Lua finds this definition before the C library's. */
_Noreturn void __longjmp_chk(struct __jmp_buf_tag *buffer, int value);

CLUA_UNSANITIZED _Noreturn void __longjmp_chk(struct __jmp_buf_tag *buffer, int value) { longjmp(buffer, value); }
#else
typedef int clua_no_sanitizer; /* a translation unit needs a declaration */
#endif
