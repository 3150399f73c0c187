/* What the shim's own files share. The only header that includes Lua's. */
#ifndef CLUA_HOST_H
#define CLUA_HOST_H

#include <lauxlib.h>
#include <lua.h>
#include <lualib.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <time.h>

#include "CLuaShim.h"

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
    size_t used, peak, limit;
    int enforce;
    unsigned long allocations, failAt;

    /* Interrupts. */
    atomic_int pending;
    int depth;      /* protected entries now active */
    int abortDepth; /* while depth >= this, the hook raises again; 0: not aborting */
    timer_t timer;
    int hasTimer;

    /* Objects whose handles were collected, to be released outside of the collector. */
    void **releases;
    size_t releaseCount, releaseCapacity, live;
    size_t liveLimit; /* so many handles, and the collector is pushed */
    unsigned pushes;

    /* Slots of handles, see handles.c. */
    clua_place *places;
    size_t placeMask, placeCount;
    int *freeSlots, slots;
    size_t freeCount, freeCapacity;

    clua_class *classes;
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

void clua_arm(clua_host *host);
void clua_interrupt_init(clua_host *host);
void clua_interrupt_close(clua_host *host);
int clua_trampoline(lua_State *L);

/* To be called for each new handle. */
void clua_pace(clua_host *host, lua_State *L);

/* The slot of an object's handle, or 0; a slot for a new handle; a slot whose handle is gone. */
int clua_slot_of(const clua_host *host, const void *object);
int clua_take_slot(clua_host *host, void *object);
void clua_free_slot(clua_host *host, const void *object, int slot);

#endif
