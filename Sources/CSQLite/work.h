/* Interruption and memory of SQLite's work on the calling thread, within csqlite's functions. */
#ifndef CSQLITE_WORK_H
#define CSQLITE_WORK_H

#include "CSQLite.h"

/* The library for callbacks, which are called by nobody else: csqlite_library has loaded it. */
extern struct csqlite_library csqlite_loaded;

enum csqlite_work { CSQLITE_COMPILING, CSQLITE_READING, CSQLITE_CHANGING };

/* The work in progress on the thread. */
struct csqlite_work_state {
    int is_active, is_stopping, counts_all;
    enum csqlite_work kind;
    int64_t largest;
};

/* Begins work that can be interrupted, and whose memory is limited: no allocation may be larger than `largest`, which
 * is 0 for no such limit; with `counts_all` what SQLite has allocated before on the thread counts, too: tables and sorts
 * in memory. Returns the work in progress, to which the end returns: a function that SQLite calls may use the database,
 * too. */
struct csqlite_work_state csqlite_begin_work(enum csqlite_work kind, int64_t largest, int counts_all);
void csqlite_end_work(struct csqlite_work_state former);

/* Whether work must end: then the caller must make the statement fail. Once it has been told so, what SQLite does to
 * take back a statement's changes is not interrupted: this is false then until the next work begins. */
int csqlite_must_stop(void);

/* Whether the work that was begun last has been told to stop. */
int csqlite_was_stopped(void);

/* As csqlite_must_stop, but true as long as the thread's work is interrupted, for SQLite's progress handler. */
int csqlite_is_stopped(void);

/* Counts steps of a function, of about a nanosecond; false if it must end. */
int csqlite_spend(uint64_t steps);

/* Makes SQLite allocate within the memory that the thread's work may use, on threads that have a limit. It has no
 * effect if another part of the process has used SQLite before. */
void csqlite_limit_memory(const struct csqlite_library *library);

#endif
