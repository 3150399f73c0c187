/* Shared by the shim's own files: the host's record and what is on the ground. The only header that includes Lua's. */
#ifndef CLUA_HOST_H
#define CLUA_HOST_H

#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdatomic.h>
#include <time.h>

/* Debian's folder, then the search path. Does not use pkg-config: SwiftPM would run it for every product. */
#if __has_include(<lua5.4/lua.h>)
#include <lua5.4/lauxlib.h>
#include <lua5.4/lua.h>
#include <lua5.4/lualib.h>
#elif __has_include(<lua.h>)
#include <lauxlib.h>
#include <lua.h>
#include <lualib.h>
#else
#error "The headers of Lua 5.4 are missing; Debian's package is liblua5.4-dev."
#endif

#include "CLuaShim.h"
#include "pool.h"
#include "wake.h"

/* An object, and the slot of its handle. */
typedef struct {
    void *object; /* NULL: free */
    int slot;
} clua_place;

typedef struct clua_file clua_file;

/* A breakpoint's line; the host decides of which chunks. */
typedef struct {
    int line, number;
} clua_breakpoint;

/* Whether a breakpoint is in a chunk of a name, as the host has decided. */
typedef struct {
    char *name; /* NULL: none */
    int number, isIn;
} clua_decision;

/* What the code below and beside the debugger calls of it. */
typedef struct {
    /* Runs it from a hook; 1: the code stops. */
    int (*hook)(lua_State *L, lua_Debug *ar);
    /* Breaks at an error before it unwinds `failed`, whose stack still has its functions above this level, while `L`
     * runs. `isCaught`: by the caller, which is not on the stack. */
    void (*error)(lua_State *L, lua_State *failed, int level, int isCaught);
    /* Continues a step in the code that resumed a coroutine, when that ends or yields; NULL: the host. */
    void (*returns)(clua_host *host, lua_State *from, lua_State *to);
    void (*endStep)(clua_host *host);
} clua_debugger_calls;

/* The debugger's state (debugger.c). */
typedef struct {
    const clua_debugger_calls *calls;
    int mask; /* the hook events that it needs; 0: the debugger is inactive */
    int errors;
    int hasSeenError; /* whether an error that a coroutine passes on has already caused a break */
    clua_breakpoint *breakpoints;
    int count, capacity;
    int observes; /* whether the host is told of each line */
    clua_decision decisions[64];
    unsigned char lines[512]; /* a bit for each line of a breakpoint, modulo 4096 */
    int step;                 /* CLUA_STEP_… */
    lua_State *stepping;      /* the coroutine in which a step ends; NULL: any */
    lua_State *suspended;     /* the host's coroutine that waits with the step in it; NULL: none */
    int depth;                /* a step over or out ends at this many active functions, or fewer */
    struct clua_break *pause; /* the break; NULL: the script runs */
} clua_debugger;

/* The limits of C's stack, which grows downwards. The reserve is below them. */
typedef struct {
    char *limit;   /* for calls into Swift, and functions that use much of the stack */
    char *entry;   /* for calls from Swift into Lua */
    char *floor;   /* for interrupts */
} clua_stack;

struct clua_host {
    clua_callbacks callbacks;
    void *owner;
    lua_State *main;
    lua_State *current; /* the running coroutine, whose hook an interrupt sets */

    /* The thread using the state: its number, and its id for signals from other threads. */
    atomic_ulong thread;
    atomic_int threadId;

    /* Memory. `enforce` is on exactly while the innermost boundary is the VM or a C-level protected call. */
    clua_account account;    /* what the state owns */
    clua_account *charged;   /* the owner of what is allocated: the state, or an environment (account.c) */
    clua_account *accounts;  /* those of environments */
    clua_slabs slabs;
    size_t used, peak, limit; /* of all owners */
    size_t deniedLimit; /* that of the environment which was last refused memory; 0: it was the state's */
    size_t earlierPeak; /* the peak before the last step began (usage.c) */
    size_t calm; /* the use below which a small block is not checked (host.c) */
    int enforce;
    int pressed; /* the reported level of use: 1 three quarters, 2 seven eighths */
    int denied; /* whether a value of the host was refused, and no error tells the script so far */
    int exempt;  /* while an error of the host is pushed, nothing is refused */
    int exceeded; /* the limit that the last error was raised for, CLUA_EXCEEDED_…; 0: none */
    unsigned long allocations, failAt, failures;

    /* Interrupts. */
    lua_Hook hook; /* serves them (interrupt.c) */
    atomic_int pending;
    atomic_ulong beats; /* how often interrupts were served */
    atomic_int depth; /* active protected entries; written by the running thread */
    int abortDepth;   /* while depth >= this, the hook raises again; 0: not aborting */
    int64_t deadline; /* in nanoseconds of the monotonic clock; 0: none */
    clua_timer *timer;         /* NULL: none */
    unsigned long timerThread; /* the number of the thread that receives the timer's signal */

    /* Coroutines. */
    lua_State *run; /* that of the innermost run; NULL: there is none */
    int canWait;  /* whether each coroutine up to the host's run can yield */
    int protects; /* whether scripts' coroutines have a protected call around their function */
    lua_State *raised; /* the coroutine in which a hook has raised an error, until its next hook; NULL: none */
    struct clua_resumption *resumption; /* the innermost; NULL: no other coroutine resumed the running one */

    /* The limit of call depth (depth.c); 0: Lua's own. */
    int callLimit, callsLeft;

    clua_debugger debugger;
    int restingMask; /* the events of the resting hook, for call depth and the debugger; 0: no hook */

    /* Objects retained by handles, and those whose handles were collected (releases.c). */
    uintptr_t *held;
    unsigned heldCapacity, firstFree;
    void **releases;
    size_t releaseCount, releaseCapacity, live;
    size_t liveLimit; /* the number of handles that triggers a collection step */
    unsigned pushes;

    /* Slots of handles (handles.c). */
    clua_place *places;
    size_t placeMask, placeCount;
    int *freeSlots, slots;
    size_t freeCount, freeCapacity;

    const clua_class *errors; /* the class of the host's errors, which pass for their texts; NULL: none */
    int (*isError)(lua_State *L, int index); /* whether a userdata is one; NULL: none is */
    const char *finalizerHint; /* the end of the message that refuses __gc: the host's alternative */

    /* Output of scripts, in bytes. */
    size_t output, outputLimit;
    int outputRaised;

    /* Files of scripts (files.c): the open ones, and those that have lost bytes unheard, the first with its reason. */
    struct clua_file *files;
    int lostFiles, lostCode;
    char *lostPath;

    /* The first program at the other end of a pipe that ended with another exit status than 0; 0: none. */
    int failedStatus;
    char *failedProgram;

    clua_stack stack; /* of the thread using the state */

    clua_class *classes, *rows;
    int handles;   /* reference: weak table, slot -> handle */
    int traceback; /* reference: the last traceback, or nil */
    int traced;    /* reference: the error it belongs to */
    int frames;    /* reference: the frames at that error, or false (traceback.c) */
    char receiver[64]; /* the class whose missing method was called at that error; empty: none */
    int keepsFrames;
    int abortion;  /* reference: the error that is raised repeatedly */
};

/* A coroutine that has resumed another one, in the frame of the resumption. */
typedef struct clua_resumption {
    lua_State *L;
    struct clua_resumption *outer;
} clua_resumption;

/* A coroutine's extra space: the host, and in the lowest bit whether the coroutine was abandoned (interrupt.c). */
static inline uintptr_t *space_of(lua_State *L) { return (uintptr_t *)lua_getextraspace(L); }
static inline clua_host *host_of(lua_State *L) { return (clua_host *)(*space_of(L) & ~(uintptr_t)1); }

/* Consecutive entries of one host on a thread. States nest if a binding of one runs code of another, and the same
 * state may occur twice. The stretches of a thread form a list, the innermost first; each is stored in the stack frame
 * of its first entry. */
typedef struct clua_stretch {
    clua_host *host;
    int base;       /* the host's depth before the first entry */
    int outerDepth; /* the depth of the outer stretch's host at that time */
    struct clua_stretch *outer;
} clua_stretch;

/* The shim's thread-specific data (thread.c). */
typedef struct {
    unsigned long number; /* never reused, unlike pthread_self(); 0: not initialised */
    int id;               /* for signals to it, see wake.h */
    clua_stack stack;
    clua_stretch *innermost; /* the running stretch, which the signal handler reads */
} clua_thread;
/* This TLS model makes access from the signal handler safe, also in a shared library. Elsewhere a thread allocates it
 * in clua_begin_thread, before it can receive a signal. */
#ifdef __ELF__
extern _Thread_local clua_thread clua_self __attribute__((tls_model("initial-exec")));
#else
extern _Thread_local clua_thread clua_self;
#endif

/* Entering and leaving the VM from Swift (entry.c). */
typedef struct {
    int enforce;
    lua_State *current;
    lua_State *run;
    int canWait;
    clua_resumption *outer, resumption;
    int begins; /* whether it is the first entry of its stretch */
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

/* Whether the running frames are being stopped. */
static inline int clua_unwinds(const clua_host *host) { return host->abortDepth && depth_of(host) >= host->abortDepth; }

/* Pending in addition to the reasons: this host or an outer one has interrupts to serve. */
#define CLUA_LOOK 0x100

/* Sets the running coroutine's hook for interrupts (signal.c). */
void clua_arm(clua_host *host);
/* That hook (interrupt.c). */
void clua_hook(lua_State *L, lua_Debug *ar);
/* Whether the coroutine has the hook for interrupts. */
int clua_is_armed(lua_State *L);
/* Sets the hook for times without interrupts: none, or that of call depth limit and debugger. The caller must then
 * check for pending reasons: an interrupt that arrived earlier would be lost with its hook. */
void clua_set_resting_hook(clua_host *host, lua_State *L);
/* Counts a call, from a hook; raises beyond the limit. */
void clua_count_call(lua_State *L, const lua_Debug *ar);

/* Gives the resting hook to a coroutine created without it. The caller must then check for pending reasons. */
static inline void clua_watch(clua_host *host, lua_State *L) {
    if (!host->restingMask) return;
    host->callsLeft = 0;
    if (lua_gethookmask(L) != host->restingMask && !clua_is_armed(L)) clua_set_resting_hook(host, L);
}

/* Recomputes the resting hook's events. */
void clua_update_watch(clua_host *host);

/* Changes the running coroutine. */
static inline void clua_switch(clua_host *host, lua_State *L) {
    host->current = L;
    clua_watch(host, L);
    atomic_signal_fence(memory_order_seq_cst);
    if (host->abortDepth || pending_of(host)) clua_arm(host);
}

/* Initialises the thread's data (thread.c), and makes the calling thread the one that uses the state. */
void clua_begin_thread(void);
void clua_adopt(clua_host *host);
/* The number of the signal that interrupts a thread, and the signal itself (signal.c). */
int clua_signal_number(void);
void clua_signal_thread(int thread);
/* Handles the result of a resumption: ends a coroutine that yielded because it is being stopped, with the error on its
 * stack. */
int clua_abort_coroutine(lua_State *co, int status);
/* Closes the pending variables of a coroutine that an error has ended, unless it was abandoned. Returns its status,
 * with the error on its stack. */
int clua_close_dead(lua_State *co);
static inline int clua_is_given_up(lua_State *co) { return *space_of(co) & 1; }
void clua_serve(lua_State *L);
/* Whether the host's deadline has passed, to the clock's coarse resolution. */
int clua_is_overdue(const clua_host *host);
/* The allocator of the state (host.c). */
void *clua_allocate(void *host, void *block, size_t osize, size_t nsize);

/* ---- Protected entries (protected.c, traceback.c) ---- */

/* The message handler. */
int clua_record_traceback(lua_State *L);
/* The same for a coroutine that has raised the value on top of its stack. */
void clua_trace(lua_State *co);
/* Whether C's stack has reached a limit, or a value of the host was refused, such as an argument; if so, the error
 * replaces the topmost values. */
int clua_overflows(lua_State *L, const char *limit, int values);
int clua_is_denied(lua_State *L, int values);
/* Runs a C body on the top `arguments` values. */
int clua_protect(lua_State *L, lua_CFunction body, int arguments, int results);

/* Serves pending interrupts in long C functions, where no hook is called. May raise, and may run Lua code; the stack is
 * balanced. */
static inline void clua_poll(lua_State *L) {
    clua_host *host = host_of(L);
    if (pending_of(host) || host->abortDepth) clua_serve(L);
}

/* The same for loops of short steps: polls once per some thousand steps. */
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

/* Lua limits its nested C calls to 200, but not their stack use, nor coroutines that close one another. So each shim
 * function that a script calls and that calls Swift, or may call Lua, checks the stack. The reserve is larger than the
 * stack of 200 nested metamethod calls in Lua and the VM. */
static inline void clua_check_stack(lua_State *L) {
    if ((char *)__builtin_frame_address(0) < host_of(L)->stack.limit) luaL_error(L, "C stack overflow");
}

/* To be called when the limit, or what else is checked of small blocks, has changed. */
void clua_set_calm(clua_host *host);

/* Makes the state's own account the one that is charged, at its opening; frees all accounts, after its closing. */
void clua_open_accounts(clua_host *host);
void clua_close_accounts(clua_host *host);

/* Whether so many more bytes are within a limit; 0: none. */
static inline int clua_fits(size_t limit, size_t used, size_t bytes) {
    return !limit || (bytes <= limit && used <= limit - bytes);
}

/* Whether so many more bytes are within the limits of the state and of the environment that is charged. */
static inline int clua_has_capacity(const clua_host *host, size_t bytes) {
    const clua_account *account = host->charged;
    return clua_fits(host->limit, host->used, bytes) && clua_fits(account->limit, clua_account_used(account), bytes);
}

/* Whether the host may give scripts this many more bytes. Otherwise the value is refused: something small takes its
 * place, and an error follows before any script sees that. */
int clua_refuses(lua_State *L, size_t bytes);
static inline int clua_admits(lua_State *L, size_t bytes) {
    clua_host *host = host_of(L);
    if (!host->limit && !host->charged->limit) return 1;
    if (!host->denied && clua_has_capacity(host, bytes)) return 1;
    return !clua_refuses(L, bytes);
}

/* Collects garbage if a string buffer of this size is beyond a limit: Lua's buffers fail without a collection. */
static inline void clua_prepare_buffer(lua_State *L, size_t bytes) {
    if (!clua_has_capacity(host_of(L), bytes)) lua_gc(L, LUA_GCCOLLECT);
}
/* Raises the error of a refused value. */
int clua_raise_denial(lua_State *L);
/* As luaL_where for the caller of the running function; the functions of environments (EnvironmentFactory.swift) do not
 * count, as the host's would not. */
void clua_where(lua_State *L);
/* Pushes it instead, and forgets the refusal. */
void clua_push_denial(lua_State *L);

/* Registers an object retained by a new handle and returns its index; in __gc, moves it to the releases. */
unsigned clua_hold(clua_host *host, void *object);
void clua_let_go(clua_host *host, unsigned place);
/* Empties the list at the state's closing. */
void clua_close_releases(clua_host *host);

/* Called for each new handle. */
void clua_pace(clua_host *host, lua_State *L);

/* The slot of an object's handle, or 0; a slot for a new handle; frees the slot of a collected handle. */
int clua_slot_of(const clua_host *host, const void *object);
int clua_take_slot(clua_host *host, void *object);
void clua_free_slot(clua_host *host, const void *object, int slot);

#endif
