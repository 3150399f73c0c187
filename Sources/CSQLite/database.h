/* A database, as database.c, authorizer.c and tables.c have it. */
#ifndef CSQLITE_DATABASE_H
#define CSQLITE_DATABASE_H

#include "CSQLite.h"

/* The maximum length of a text, blob or row, without functions that would take long for it. */
#define LONGEST (256 << 20)

/* A database beside the main one, with its own file system. */
struct attached {
    struct attached *next;
    sqlite3_vfs *files;
    char name[];
};

struct csqlite_database {
    const struct csqlite_library *library;
    sqlite3 *handle;
    sqlite3_vfs *files; /* NULL for a database in memory. */
    struct attached *attached;
    int is_own;         /* Whether a statement of the host's own is running. */
    int depth;          /* How many statements are being stepped through. */
    int changes_main;   /* Whether the statement that was prepared last changes the table items. */
    enum csqlite_denial kind;
    int most;           /* The maximum length of a text, blob or row, whatever statement it is in. */
    int length;         /* The limit in force. */
    int longest;        /* That of the statement which is being prepared. */
    int64_t looked;     /* When the statement's steps were checked last; 0 for not yet. */
    int quick;          /* Since a slow step: the number of quick ones. */
    int calm;           /* Their number after which steps are checked as seldom as at first; 0 before a slow one. */
    int64_t locked;     /* When the first lock was met; 0 for none. */
    char denial[160];
};

/* SQLite's authorizer: refuses what scripts must not do. */
int csqlite_authorize(
    void *database, int action, const char *first, const char *second, const char *file, const char *trigger);

/* Runs a statement of the host's own, which the authorizer does not see. Returns SQLite's result. */
int csqlite_run_own(csqlite_database *database, const char *sql);

#endif
