/* Opens a database so that a script's statements cannot access anything else, and end when the script has to. */
#include "CPlatform.h"
#include "database.h"
#include "files.h"
#include "functions.h"
#include "work.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>
#include <unistd.h>

enum {
    OK = 0,
    INTERRUPTED = 9,
    NO_MEMORY = 7,
    ROW = 100,
    DONE = 101,
    OPEN_READ_ONLY = 1,
    OPEN_READ_WRITE = 2,
    OPEN_CREATE = 4,
    OPEN_URI = 0x40,
    OPEN_NO_MUTEX = 0x8000,
    LIMIT_LENGTH = 0,
    LIMIT_WORKER_THREADS = 11,
    CONFIG_DEFENSIVE = 1010,
    CONFIG_QUOTED_TEXTS_IN_STATEMENTS = 1013,
    CONFIG_QUOTED_TEXTS_IN_SCHEMAS = 1014,
    CONFIG_TRUSTED_SCHEMA = 1017,
};

/* Steps of a statement between two checks for an interruption: few, since each may copy or compare a large value. */
#define STEPS 64
/* The same when they have taken long. */
#define SLOW_STEPS 1
#define SLOW 5000000
/* Quick steps, one by one, after which they are as far apart as before. The number doubles with each slow step: one at the
   start, such as the reading of a table, does not slow down what follows, and slow ones among quick ones stay checked. */
#define CALM 64
/* How long a database locked by another process is retried in all, and how often, in nanoseconds. */
#define PATIENCE 2000000000
#define PAUSE 5000000
/* What the limit of memory leaves of it at least. */
#define SHORTEST (1 << 20)
/* The largest allocation of a statement with functions that keep more than they read, such as the values of JSON. */
#define LARGEST (17 << 20)

static int64_t now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

static int is_interrupted(void *context);

/* Has the steps of a statement checked for an interruption, each time after so many of them. */
static void check_each(struct csqlite_database *database, int steps) {
    database->library->sqlite3_progress_handler(database->handle, steps, is_interrupted, database);
}

static int is_interrupted(void *context) {
    struct csqlite_database *database = context;
    int64_t time = now(), elapsed = time - database->looked;
    if (database->looked && elapsed > SLOW) {
        if (database->calm < INT32_MAX / 2) database->calm = database->calm ? 2 * database->calm : CALM;
        database->quick = 0;
        check_each(database, SLOW_STEPS);
    } else if (database->quick < database->calm && ++database->quick == database->calm) {
        check_each(database, STEPS);
    }
    database->looked = time;
    return csqlite_is_stopped();
}

static int waits(void *context, int tries) {
    (void)tries;
    struct csqlite_database *database = context;
    int64_t time = now();
    if (!database->locked) database->locked = time;
    int64_t rest = database->locked + PATIENCE - time;
    if (rest <= 0 || cubby_work_is_stopped()) return 0;
    struct timespec pause = {0, rest < PAUSE ? rest : PAUSE};
    nanosleep(&pause, NULL);
    return 1;
}

void csqlite_renew(csqlite_database *database) { database->locked = 0; }

static int run(const struct csqlite_library *library, sqlite3 *handle, const char *sql) {
    sqlite3_stmt *statement = NULL;
    int result = library->sqlite3_prepare_v2(handle, sql, -1, &statement, NULL);
    if (result == OK && statement) result = library->sqlite3_step(statement);
    int ended = library->sqlite3_finalize(statement);
    return result == DONE || result == ROW ? OK : result ? result : ended;
}

int csqlite_run_own(csqlite_database *database, const char *sql) {
    int former = database->is_own;
    database->is_own = 1;
    int result = run(database->library, database->handle, sql);
    database->is_own = former;
    return result;
}

/* Sets the limits and the functions of an open connection. */
static int set_up(csqlite_database *database, const char *temporary_store) {
    const struct csqlite_library *library = database->library;
    sqlite3 *handle = database->handle;
    library->sqlite3_busy_handler(handle, waits, database);
    library->sqlite3_limit(handle, LIMIT_LENGTH, database->length = LONGEST);
    library->sqlite3_limit(handle, LIMIT_WORKER_THREADS, 0);
    library->sqlite3_db_config(handle, CONFIG_DEFENSIVE, 1, (int *)0);
    library->sqlite3_db_config(handle, CONFIG_TRUSTED_SCHEMA, 0, (int *)0);
    int result = csqlite_add_functions(library, handle);
    if (result != OK) return result;
    struct csqlite_work_state former = csqlite_begin_work(CSQLITE_READING, 0, 0);
    check_each(database, STEPS);
    /* Larger sorts and tables use the temporary folder. If the first one fails, so does what reads the schema next. */
    run(library, handle, "pragma cache_size = -16384");
    run(library, handle, temporary_store);
    csqlite_end_work(former);
    return library->sqlite3_set_authorizer(handle, csqlite_authorize, database);
}

csqlite_database *csqlite_open(const char *path, int folder, int temporary, int read_only, int *result) {
    const char *reason;
    const struct csqlite_library *library = csqlite_library(&reason);
    struct csqlite_database *database = library ? calloc(1, sizeof *database) : NULL;
    if (!database) {
        close(folder);
        close(temporary);
        return NULL;
    }
    database->library = library;
    database->most = LONGEST;
    database->files = csqlite_files_make(library, path, folder, temporary);
    if (!database->files) {
        free(database);
        return NULL;
    }
    int flags = (read_only ? OPEN_READ_ONLY : OPEN_READ_WRITE) | OPEN_NO_MUTEX;
    *result = library->sqlite3_open_v2(path, &database->handle, flags, csqlite_files_name(database->files));
    if (*result == OK) *result = set_up(database, "pragma temp_store = 1");
    return database;
}

csqlite_database *csqlite_open_memory(int *result) {
    const char *reason;
    const struct csqlite_library *library = csqlite_library(&reason);
    struct csqlite_database *database = library ? calloc(1, sizeof *database) : NULL;
    if (!database) return NULL;
    database->library = library;
    database->most = LONGEST;
    int flags = OPEN_READ_WRITE | OPEN_CREATE | OPEN_URI | OPEN_NO_MUTEX;
    *result = library->sqlite3_open_v2(":memory:", &database->handle, flags, NULL);
    /* Sorts and temporary tables stay in memory, within the limit. */
    if (*result == OK) *result = set_up(database, "pragma temp_store = 2");
    if (*result != OK) return database;
    /* A misspelt name in quotes is an error, and not a text. */
    library->sqlite3_db_config(database->handle, CONFIG_QUOTED_TEXTS_IN_STATEMENTS, 0, (int *)0);
    library->sqlite3_db_config(database->handle, CONFIG_QUOTED_TEXTS_IN_SCHEMAS, 0, (int *)0);
    return database;
}

/* Appends a text as a part of a URI within a text of SQL. */
static char *append_escaped(char *target, const char *text) {
    static const char digits[] = "0123456789ABCDEF";
    for (const unsigned char *next = (const unsigned char *)text; *next; next++) {
        int is_plain = (*next | 0x20) - 'a' < 26u || *next - '0' < 10u || *next == '/' || *next == '_' || *next == '.';
        if (is_plain) {
            *target++ = (char)*next;
        } else {
            *target++ = '%';
            *target++ = digits[*next >> 4];
            *target++ = digits[*next & 15];
        }
    }
    return target;
}

/* Quotes a name; NULL without memory. */
static char *quoted(const char *prefix, const char *name, const char *suffix) {
    char *text = malloc(strlen(prefix) + 2 * strlen(name) + strlen(suffix) + 3), *target = text;
    if (!text) return NULL;
    target += sprintf(target, "%s\"", prefix);
    for (; *name; name++) {
        if (*name == '"') *target++ = '"';
        *target++ = *name;
    }
    sprintf(target, "\"%s", suffix);
    return text;
}

int csqlite_attach(
    csqlite_database *database, const char *name, const char *path, int folder, int temporary, int read_only) {
    sqlite3_vfs *files = csqlite_files_make(database->library, path, folder, temporary);
    if (!files) return NO_MEMORY;
    struct attached *attached = malloc(sizeof *attached + strlen(name) + 1);
    char *prefix = malloc(3 * strlen(path) + 160), *text = NULL;
    int result = NO_MEMORY;
    if (attached && prefix) {
        char *target = append_escaped(prefix + sprintf(prefix, "attach 'file:"), path);
        sprintf(target, "?vfs=%s&mode=%s' as ", csqlite_files_name(files), read_only ? "ro" : "rw");
        text = quoted(prefix, name, "");
    }
    if (text) result = csqlite_run_own(database, text);
    free(prefix);
    free(text);
    if (result != OK) {
        free(attached);
        csqlite_files_free(database->library, files);
        return result;
    }
    strcpy(attached->name, name);
    attached->files = files;
    attached->next = database->attached;
    database->attached = attached;
    /* What is not a database shows when its schema is read. */
    text = quoted("select count(*) from ", name, ".sqlite_master");
    result = text ? csqlite_run_own(database, text) : NO_MEMORY;
    free(text);
    return result;
}

int csqlite_detach(csqlite_database *database, const char *name) {
    char *text = quoted("detach ", name, "");
    int result = text ? csqlite_run_own(database, text) : NO_MEMORY;
    free(text);
    if (result != OK) return result;
    for (struct attached **next = &database->attached; *next; next = &(*next)->next) {
        struct attached *found = *next;
        if (strcasecmp(found->name, name) != 0) continue;
        *next = found->next;
        csqlite_files_free(database->library, found->files);
        free(found);
        break;
    }
    return OK;
}

sqlite3 *csqlite_handle(const csqlite_database *database) { return database->handle; }

void csqlite_limit_values(csqlite_database *database, int64_t memory) {
    /* A value is in memory up to four times: in a row of the file, in the statement, on its way, and in the script. */
    int64_t most = memory / 4;
    database->most = most < SHORTEST ? SHORTEST : most < LONGEST ? (int)most : LONGEST;
}

const char *csqlite_denial(const csqlite_database *database) { return database->denial; }

int csqlite_changes_items(const csqlite_database *database) { return database->changes_main; }

enum csqlite_denial csqlite_denial_kind(const csqlite_database *database) { return database->kind; }

static void set_length(csqlite_database *database, int length) {
    if (length == database->length) return;
    database->library->sqlite3_limit(database->handle, LIMIT_LENGTH, length);
    database->length = length;
}

static struct csqlite_work_state begin(csqlite_database *database, enum csqlite_work kind, int longest) {
    if (database->looked) {
        database->looked = database->calm = 0;
        check_each(database, STEPS);
    }
    /* A database in memory is the script's. */
    return csqlite_begin_work(kind, longest < LONGEST ? LARGEST : 0, !database->files);
}

int csqlite_prepare(
    csqlite_database *database, const char *sql, int length, sqlite3_stmt **statement, const char **rest,
    int *longest) {
    int former_length = database->length;
    database->longest = database->most;
    database->denial[0] = 0;
    database->kind = CSQLITE_CLOSED;
    database->changes_main = 0;
    set_length(database, LONGEST);
    struct csqlite_work_state former = begin(database, CSQLITE_COMPILING, LONGEST);
    int result = database->library->sqlite3_prepare_v2(database->handle, sql, length, statement, rest);
    csqlite_end_work(former);
    /* A statement that is under way has its own length. */
    if (database->depth) set_length(database, former_length);
    *longest = database->longest;
    return result;
}

int csqlite_step(csqlite_database *database, sqlite3_stmt *statement, int longest) {
    const struct csqlite_library *library = database->library;
    int former_length = database->length;
    set_length(database, longest);
    /* The end of a transaction counts as reading for SQLite. */
    int is_reading = library->sqlite3_stmt_readonly(statement) && library->sqlite3_get_autocommit(database->handle);
    struct csqlite_work_state former = begin(database, is_reading ? CSQLITE_READING : CSQLITE_CHANGING, longest);
    database->depth++;
    int result = library->sqlite3_step(statement);
    database->depth--;
    csqlite_end_work(former);
    if (database->depth) set_length(database, former_length);
    if (result != ROW || !csqlite_was_stopped()) return result;
    /* An integrity check answers with the pages that it was kept from reading. */
    library->sqlite3_reset(statement);
    return INTERRUPTED;
}

int csqlite_finish(csqlite_database *database, const char *sql) {
    return run(database->library, database->handle, sql);
}

void csqlite_close(csqlite_database *database) {
    if (!database) return;
    const struct csqlite_library *library = database->library;
    library->sqlite3_close_v2(database->handle);
    for (struct attached *next = database->attached; next;) {
        struct attached *attached = next;
        next = attached->next;
        csqlite_files_free(library, attached->files);
        free(attached);
    }
    if (database->files) csqlite_files_free(library, database->files);
    free(database);
}
