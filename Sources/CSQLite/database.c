/* Opens a database so that a script's statements cannot access anything else. */
#include "CPlatform.h"
#include "files.h"

#include <strings.h>
#include <time.h>

enum {
    OK = 0,
    DENY = 1,
    NO_MEMORY = 7,
    OPEN_READ_ONLY = 1,
    OPEN_READ_WRITE = 2,
    OPEN_NO_MUTEX = 0x8000,
    ACTION_PRAGMA = 19,
    ACTION_ATTACH = 24,
    ACTION_FUNCTION = 31,
    LIMIT_LENGTH = 0,
    LIMIT_WORKER_THREADS = 11,
    CONFIG_DEFENSIVE = 1010,
    CONFIG_TRUSTED_SCHEMA = 1017,
};

/* Maximum size of a text, blob or row. */
#define LENGTH_LIMIT (256 << 20)
/* Steps of a statement between two checks for interruption. */
#define STEPS 10000
/* A database locked by another process is retried for 2 seconds, every 5 milliseconds. */
#define BUSY_TRIES 400

static int is_interrupted(void *context) { return (void)context, cubby_work_is_stopped(); }

static int waits(void *context, int tries) {
    (void)context;
    if (tries >= BUSY_TRIES || cubby_work_is_stopped()) return 0;
    struct timespec pause = {0, 5000000};
    nanosleep(&pause, NULL);
    return 1;
}

/* Settings of the process, of memory use, and of file locations. */
static const char *const closed_pragmas[] = {
    "cache_size", "cache_spill", "data_store_directory", "hard_heap_limit", "mmap_size", "soft_heap_limit", "temp_store",
    "temp_store_directory", "threads",
};

static int authorize(
    void *context, int action, const char *first, const char *second, const char *database, const char *trigger) {
    (void)context, (void)database, (void)trigger;
    switch (action) {
    case ACTION_ATTACH: return first && !*first ? OK : DENY; /* VACUUM attaches a file without a name. */
    case ACTION_FUNCTION: return second && !strcasecmp(second, "load_extension") ? DENY : OK;
    case ACTION_PRAGMA:
        for (size_t index = 0; index < sizeof closed_pragmas / sizeof *closed_pragmas; index++)
            if (first && !strcasecmp(first, closed_pragmas[index])) return DENY;
        return OK;
    default: return OK;
    }
}

static int run(const struct csqlite_library *library, sqlite3 *handle, const char *sql) {
    sqlite3_stmt *statement = NULL;
    int result = library->sqlite3_prepare_v2(handle, sql, -1, &statement, NULL);
    if (result == OK && statement) library->sqlite3_step(statement);
    library->sqlite3_finalize(statement);
    return result;
}

int csqlite_open(struct csqlite_database *database, const char *path, const char *temporary, int read_only) {
    const char *reason;
    const struct csqlite_library *library = csqlite_library(&reason);
    database->handle = NULL;
    database->files = library ? csqlite_files_make(library, path, temporary) : NULL;
    if (!database->files) return NO_MEMORY;
    int flags = (read_only ? OPEN_READ_ONLY : OPEN_READ_WRITE) | OPEN_NO_MUTEX;
    int result = library->sqlite3_open_v2(path, &database->handle, flags, csqlite_files_name(database->files));
    if (result != OK) return result;
    sqlite3 *handle = database->handle;
    library->sqlite3_busy_handler(handle, waits, NULL);
    library->sqlite3_progress_handler(handle, STEPS, is_interrupted, NULL);
    library->sqlite3_limit(handle, LIMIT_LENGTH, LENGTH_LIMIT);
    library->sqlite3_limit(handle, LIMIT_WORKER_THREADS, 0);
    library->sqlite3_db_config(handle, CONFIG_DEFENSIVE, 1, (int *)0);
    library->sqlite3_db_config(handle, CONFIG_TRUSTED_SCHEMA, 0, (int *)0);
    /* Larger sorts and tables use the temporary folder. */
    run(library, handle, "pragma cache_size = -16384");
    run(library, handle, "pragma temp_store = 1");
    return library->sqlite3_set_authorizer(handle, authorize, NULL);
}

void csqlite_close(struct csqlite_database *database) {
    const char *reason;
    const struct csqlite_library *library = csqlite_library(&reason);
    if (!library) return;
    if (database->handle) {
        sqlite3_stmt *statement;
        while ((statement = library->sqlite3_next_stmt(database->handle, NULL))) library->sqlite3_finalize(statement);
        library->sqlite3_close_v2(database->handle);
    }
    if (database->files) csqlite_files_free(library, database->files);
    database->handle = NULL;
    database->files = NULL;
}
