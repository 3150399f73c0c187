/* What the shim's own files share. The only header that includes Lua's. */
#ifndef CLUA_HOST_H
#define CLUA_HOST_H

#include <lauxlib.h>
#include <lua.h>
#include <lualib.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdatomic.h>
#include <time.h>

#include "CLuaShim.h"
#include "pool.h"

/* An object, and the slot of its handle. */
typedef struct {
    void *object; /* NULL: free */
    int slot;
} clua_place;

/* How far C's stack may grow down. The room below is the reserve. */
typedef struct {
    char *limit;   /* calls of Swift, and of what takes much of the stack */
    char *entry;   /* calls from Swift back into Lua */
    char *floor;   /* interrupts */
} clua_stack;

struct clua_host {
    clua_callbacks callbacks;
    void *owner;
    lua_State *main;
    lua_State *current; /* the coroutine that runs now: where an interrupt has to be armed */

    /* Who uses the state: the number of the thread, and the kernel's id of it, for other threads' signals. */
    atomic_ulong thread;
    atomic_int threadId;

    /* Memory. `enforce` is on exactly while the innermost boundary is the VM or a C-level protected call. */
    clua_pool pool;
    size_t used, peak, limit;
    int enforce;
    int pressed; /* how much of the limit is used, as the host was told: 1 three quarters, 2 seven eighths */
    unsigned long allocations, failAt, failures;

    /* Interrupts. */
    atomic_int pending;
    atomic_int depth; /* protected entries now active; written by the thread that runs them */
    int abortDepth;   /* while depth >= this, the hook raises again; 0: not aborting */
    int64_t deadline; /* in nanoseconds of the monotonic clock; 0: none */
    timer_t timer;
    int hasTimer;
    unsigned long timerThread; /* the number of the thread that the timer signals */

    /* Objects that handles keep, and those whose handles were collected, see releases.c. */
    uintptr_t *held;
    unsigned heldCapacity, firstFree;
    void **releases;
    size_t releaseCount, releaseCapacity, live;
    size_t liveLimit; /* so many handles, and the collector is pushed */
    unsigned pushes;

    /* Slots of handles, see handles.c. */
    clua_place *places;
    size_t placeMask, placeCount;
    int *freeSlots, slots;
    size_t freeCount, freeCapacity;

    const char *finalizerHint; /* the end of the message that refuses __gc: what the program offers */

    /* Output of scripts, in bytes. */
    size_t output, outputLimit;
    int outputRaised;

    clua_stack stack; /* of the thread that uses the state */

    clua_class *classes, *rows;
    int handles;   /* reference: weak table, slot -> handle */
    int traceback; /* reference: the last traceback, or nil */
    int traced;    /* reference: the error it belongs to */
    int abortion;  /* reference: the error that is being raised again and again */
};

static inline clua_host *host_of(lua_State *L) { return *(clua_host **)lua_getextraspace(L); }

/* Consecutive entries of one host on a thread. States nest when a binding of one runs code of another, and the same state may
 * come twice. The stretches of a thread are a list, the innermost first; each stands on the stack of its first entry. */
typedef struct clua_stretch {
    clua_host *host;
    int base;       /* the host's depth before the first entry */
    int outerDepth; /* the outer stretch's host's depth at that time */
    struct clua_stretch *outer;
} clua_stretch;

/* What the shim knows of a thread (thread.c). */
typedef struct {
    unsigned long number; /* never used for a second thread, unlike pthread_self(); 0: nothing is known yet */
    int id;               /* the kernel's */
    clua_stack stack;
    clua_stretch *innermost; /* what runs now: the signal handler reads it */
} clua_thread;
/* The model makes an access from the signal handler safe, also when the shim is in a shared library. */
extern _Thread_local clua_thread clua_self __attribute__((tls_model("initial-exec")));

/* Entering the VM from Swift, and leaving it (entry.c). */
typedef struct {
    int enforce;
    lua_State *current;
    int begins; /* it is the first of its stretch */
    clua_stretch stretch;
} clua_entry;
void clua_enter(clua_host *host, lua_State *L, clua_entry *entry);
void clua_leave(clua_host *host, const clua_entry *entry);

static inline int depth_of(const clua_host *host) {
    return atomic_load_explicit(&((clua_host *)host)->depth, memory_order_relaxed);
}

static inline int pending_of(const clua_host *host) {
    return atomic_load_explicit(&((clua_host *)host)->pending, memory_order_relaxed);
}

/* Whether the frames that now run are being stopped. */
static inline int clua_unwinds(const clua_host *host) { return host->abortDepth && depth_of(host) >= host->abortDepth; }

/* Pending beside the reasons: something is to be looked at, here or in a host further out. */
#define CLUA_LOOK 0x100

void clua_arm(clua_host *host);
/* The coroutine that runs is another one now. */
static inline void clua_switch(clua_host *host, lua_State *L) {
    host->current = L;
    atomic_signal_fence(memory_order_seq_cst);
    if (host->abortDepth || pending_of(host)) clua_arm(host);
}

/* Learns what a thread needs (thread.c); and makes the calling thread the user of the state. */
void clua_begin_thread(void);
void clua_adopt(clua_host *host);
/* The signal that makes a thread look (signal.c). */
int clua_signal_number(void);
void clua_send_signal(int threadId);
void *clua_signal_value(void);
/* What came of a resumption: a coroutine that yielded because it is being stopped ends, with the error on its stack. */
int clua_abort_coroutine(lua_State *co, int status);
void clua_serve(lua_State *L);
/* Whether the host's deadline has passed, to the clock's coarse resolution. */
int clua_is_overdue(const clua_host *host);
/* Has the deadline's signals sent to the calling thread. */
void clua_bind_timer(clua_host *host);
void clua_close_timer(clua_host *host);
int clua_trampoline(lua_State *L);
int clua_load_text(lua_State *L, const char *bytes, size_t length, const char *name);
void clua_bound_strings(lua_State *L);
void clua_bound_tables(lua_State *L);
void clua_bound_formats(lua_State *L);
/* string.format when it is plain: pushes the text; 0 when it is not, or is too long for here, or has a wrong argument. */
int clua_format_plainly(lua_State *L);

/* For C functions that run long, where no hook fires: does what the hook would do, if there is anything to do. It may raise,
 * and may run Lua code; the stack is as before. */
static inline void clua_poll(lua_State *L) {
    clua_host *host = host_of(L);
    if (pending_of(host) || host->abortDepth) clua_serve(L);
}

/* The same, for loops of short steps: it looks only once in some thousand of them. */
typedef struct {
    size_t left;
} clua_budget;

static inline void clua_spend(clua_budget *budget, lua_State *L, size_t cost) {
    if (budget->left > cost) {
        budget->left -= cost;
    } else {
        clua_poll(L);
        budget->left = 4096;
    }
}

/* Lua counts its own C calls (200 at most), but not how much of the stack they take, nor those of coroutines that close one
 * another. So each function of the shim that a script calls and that calls Swift, or may call Lua, compares the stack itself.
 * What Lua's own functions and the VM take for 200 calls of metamethods is less than the reserve. */
static inline void clua_check_stack(lua_State *L) {
    if ((char *)__builtin_frame_address(0) < host_of(L)->stack.limit) luaL_error(L, "C stack overflow");
}

/* Notes an object that a new handle keeps, and gives its place; and moves it to the releases, in __gc. */
unsigned clua_hold(clua_host *host, void *object);
void clua_let_go(clua_host *host, unsigned place);
/* When the state is closed: nothing is kept any more. */
void clua_close_releases(clua_host *host);

/* To be called for each new handle. */
void clua_pace(clua_host *host, lua_State *L);

/* The slot of an object's handle, or 0; a slot for a new handle; a slot whose handle is gone. */
int clua_slot_of(const clua_host *host, const void *object);
int clua_take_slot(clua_host *host, void *object);
void clua_free_slot(clua_host *host, const void *object, int slot);

/* Has reading standard input call the function at 1 first (input.c). */
int clua_wrap_input(lua_State *L);

#endif
