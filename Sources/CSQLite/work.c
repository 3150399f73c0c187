/* SQLite checks for an interruption between its steps only, and limits memory for the whole process only. So its
 * allocations, reads and functions check here, too. */
#include "work.h"
#include "CPlatform.h"

enum { OK = 0, CONFIG_MALLOC = 4, CONFIG_GETMALLOC = 5 };

/* Allocations of at least this size are checked, one by one. */
#define LARGE (128 << 10)
/* Bytes of smaller allocations between two checks, and what each counts for in a compilation besides. */
#define ALLOCATED (4 << 20)
#define COMPILED 4096
/* Steps of functions between two checks: about a tenth of a millisecond. */
#define STEPS (1 << 17)

static _Thread_local struct csqlite_work_state work;
static _Thread_local uint64_t spent;
static _Thread_local int64_t allocated;

/* The bytes in use of what was allocated on the thread, and of what the host holds for its statements. */
static _Thread_local int64_t used;

struct csqlite_work_state csqlite_begin_work(enum csqlite_work kind, int64_t largest, int counts_all) {
    struct csqlite_work_state former = work;
    work = (struct csqlite_work_state){.is_active = 1, .kind = kind, .largest = largest, .counts_all = counts_all};
    return former;
}

/* That the work was stopped is known after the end of the outermost one, too. */
void csqlite_end_work(struct csqlite_work_state former) {
    if (former.is_active) former.is_stopping |= work.is_stopping;
    else former.is_stopping = work.is_stopping;
    work = former;
}

int csqlite_is_stopped(void) {
    if (!work.is_active || !cubby_work_is_stopped()) return 0;
    return work.is_stopping = 1;
}

int csqlite_was_stopped(void) { return work.is_stopping; }

int csqlite_must_stop(void) { return (!work.is_stopping || work.kind != CSQLITE_CHANGING) && csqlite_is_stopped(); }

int csqlite_spend(uint64_t steps) {
    spent += steps;
    if (spent < STEPS) return 1;
    spent = 0;
    return !csqlite_is_stopped();
}

/* SQLite's own layout. */
struct methods {
    void *(*xMalloc)(int);
    void (*xFree)(void *);
    void *(*xRealloc)(void *, int);
    int (*xSize)(void *);
    int (*xRoundup)(int);
    int (*xInit)(void *);
    void (*xShutdown)(void *);
    void *pAppData;
};

/* Written before SQLite is used, by csqlite_limit_memory. */
static struct methods real;

/* Whether so many bytes more may be allocated. */
static int allows(int64_t size, int64_t more) {
    if (!work.is_active) return 1;
    allocated += size + (work.kind == CSQLITE_COMPILING ? COMPILED : 0);
    if (more < LARGE && allocated < ALLOCATED) return 1;
    allocated = 0;
    if (work.largest && size > work.largest) return 0;
    /* What takes back the changes of a statement that was stopped is not refused. */
    if (work.is_stopping && work.kind == CSQLITE_CHANGING) return 1;
    if (work.counts_all && used > 0) more += used;
    return !csqlite_must_stop() && more <= cubby_work_capacity();
}

static void *allocate(int size) {
    void *memory = allows(size, size) ? real.xMalloc(size) : NULL;
    if (memory) used += real.xSize(memory);
    return memory;
}

static void *reallocate(void *memory, int size) {
    int former = real.xSize(memory);
    void *result = allows(size, (int64_t)size - former) ? real.xRealloc(memory, size) : NULL;
    if (result) used += real.xSize(result) - former;
    return result;
}

static void release(void *memory) {
    used -= real.xSize(memory);
    real.xFree(memory);
}

int csqlite_count_memory(int64_t bytes) {
    int64_t sum = (used > 0 ? used : 0) + bytes;
    if (bytes > 0 && sum > cubby_work_capacity()) return 0;
    used += bytes;
    return 1;
}

void csqlite_limit_memory(const struct csqlite_library *library) {
    if (library->sqlite3_config(CONFIG_GETMALLOC, &real) != OK || !real.xMalloc) return;
    struct methods own = real;
    own.xMalloc = allocate;
    own.xRealloc = reallocate;
    own.xFree = release;
    library->sqlite3_config(CONFIG_MALLOC, &own);
}
