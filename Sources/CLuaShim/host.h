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

struct clua_host {
    clua_callbacks callbacks;
    void *owner;
    lua_State *main;
    lua_State *current; /* the coroutine that runs now: where an interrupt has to be armed */
    pthread_t thread;

    /* Memory. `enforce` is on exactly while the innermost boundary is the VM or a C-level protected call. */
    clua_pool pool;
    size_t used, peak, limit;
    int enforce;
    int pressed; /* how much of the limit is used, as the host was told: 1 three quarters, 2 seven eighths */
    unsigned long allocations, failAt, failures;

    /* Interrupts. */
    atomic_int pending;
    int depth;      /* protected entries now active */
    int abortDepth; /* while depth >= this, the hook raises again; 0: not aborting */
    timer_t timer;
    int hasTimer;

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

    /* Output of scripts, in bytes. */
    size_t output, outputLimit;
    int outputRaised;

    char *stackLimit; /* C's stack grows down to here at most, with room left for whoever must clean up */
    char *stackFloor; /* and an interrupt is served down to here */

    clua_class *classes, *rows;
    int handles;   /* reference: weak table, slot -> handle */
    int traceback; /* reference: the last traceback, or nil */
    int traced;    /* reference: the error it belongs to */
    int abortion;  /* reference: the error that is being raised again and again */
};

static inline clua_host *host_of(lua_State *L) { return *(clua_host **)lua_getextraspace(L); }

/* Entering the VM from Swift, and leaving it. */
typedef struct {
    int enforce;
    lua_State *current;
} clua_entry;
clua_entry clua_enter(clua_host *host, lua_State *L);
void clua_leave(clua_host *host, clua_entry entry);

/* Whether the frames that now run are being stopped. */
static inline int clua_unwinds(const clua_host *host) { return host->abortDepth && host->depth >= host->abortDepth; }

void clua_arm(clua_host *host);
/* What came of a resumption: a coroutine that yielded because it is being stopped ends, with the error on its stack. */
int clua_abort_coroutine(lua_State *co, int status);
void clua_serve(lua_State *L);
void clua_interrupt_init(clua_host *host);
void clua_interrupt_close(clua_host *host);
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
    if (atomic_load_explicit(&host->pending, memory_order_relaxed) || host->abortDepth) clua_serve(L);
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

/* Lua counts its own C calls (200 at most), but not how much Swift's frames between them take, nor those of coroutines that
 * close one another. So whatever leads from Lua back into C looks at the stack itself. */
static inline void clua_check_stack(lua_State *L) {
    if ((char *)__builtin_frame_address(0) < host_of(L)->stackLimit) luaL_error(L, "C stack overflow");
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
