/* Opens a database so that a script's statements cannot access anything else, and end when the script has to. */
#include "CPlatform.h"
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
    DENY = 1,
    INTERRUPTED = 9,
    ROW = 100,
    DONE = 101,
    OPEN_READ_ONLY = 1,
    OPEN_READ_WRITE = 2,
    OPEN_NO_MUTEX = 0x8000,
    ACTION_PRAGMA = 19,
    ACTION_READ = 20,
    ACTION_ATTACH = 24,
    ACTION_CREATE_VIRTUAL_TABLE = 29,
    ACTION_FUNCTION = 31,
    LIMIT_LENGTH = 0,
    LIMIT_WORKER_THREADS = 11,
    CONFIG_DEFENSIVE = 1010,
    CONFIG_TRUSTED_SCHEMA = 1017,
};

/* Steps of a statement between two checks for an interruption: few, since each may copy or compare a large value. */
#define STEPS 64
/* The same when they have taken long. */
#define SLOW_STEPS 1
#define SLOW 5000000
/* How long a database locked by another process is retried in all, and how often, in nanoseconds. */
#define PATIENCE 2000000000
#define PAUSE 5000000
/* The maximum length of a text, blob or row, without functions that would take long for it. */
#define LONGEST (256 << 20)
/* What the limit of memory leaves of it at least. */
#define SHORTEST (1 << 20)
/* The largest allocation of a statement with functions that keep more than they read, such as the values of JSON. */
#define LARGEST (17 << 20)

struct csqlite_database {
    const struct csqlite_library *library;
    sqlite3 *handle;
    sqlite3_vfs *files;
    int most;           /* The maximum length of a text, blob or row, whatever statement it is in. */
    int length;         /* The limit in force. */
    int longest;        /* That of the statement which is being prepared. */
    int64_t looked;     /* When the statement's steps were checked last; 0 for not yet. */
    int64_t locked;     /* When the first lock was met; 0 for none. */
    char denial[160];
};

static int64_t now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

static int is_interrupted(void *context) {
    struct csqlite_database *database = context;
    int64_t time = now(), elapsed = time - database->looked;
    if (database->looked && elapsed > SLOW)
        database->library->sqlite3_progress_handler(database->handle, SLOW_STEPS, is_interrupted, database);
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

/* What statements may set and ask. Others are settings of the process, of memory, of waiting and of file locations, and
 * ones that replace functions or weaken SQLite's own protection. Sorted. */
static const char *const open_pragmas[] = {
    "analysis_limit", "application_id", "auto_vacuum", "automatic_index", "cell_size_check", "checkpoint_fullfsync",
    "collation_list", "compile_options", "count_changes", "data_version", "database_list", "defer_foreign_keys",
    "empty_result_callbacks", "encoding", "foreign_key_check", "foreign_key_list", "foreign_keys", "freelist_count",
    "full_column_names", "fullfsync", "function_list", "ignore_check_constraints", "incremental_vacuum", "index_info",
    "index_list", "index_xinfo", "integrity_check", "journal_mode", "journal_size_limit", "legacy_alter_table",
    "legacy_file_format", "locking_mode", "max_page_count", "module_list", "optimize", "page_count", "page_size",
    "pragma_list", "query_only", "quick_check", "read_uncommitted", "recursive_triggers", "reverse_unordered_selects",
    "schema_version", "secure_delete", "short_column_names", "shrink_memory", "synchronous", "table_info", "table_list",
    "table_xinfo", "user_version", "wal_autocheckpoint", "wal_checkpoint",
};
/* Kinds of virtual tables that statements may create: full text and R-trees. */
static const char *const open_modules[] = {"fts3", "fts4", "fts4aux", "fts5", "fts5vocab", "rtree", "rtree_i32"};
/* Virtual tables that are there without being created, and that no script needs: pages and statements as they are. */
static const char *const closed_tables[] = {
    "bytecode", "dbstat", "fsdir", "fts3tokenize", "sqlite_dbdata", "sqlite_dbpage", "sqlite_dbptr", "sqlite_memstat",
    "sqlite_stmt", "tables_used", "zipfile",
};

/* Functions that take no longer for long values, or about a nanosecond for a byte, and those of functions.c. Sorted. */
static const char *const quick[] = {
    "abs", "acos", "acosh", "asin", "asinh", "atan", "atan2", "atanh", "avg", "ceil", "ceiling", "changes", "char",
    "coalesce", "concat", "concat_ws", "cos", "cosh", "count", "cume_dist", "current_date", "current_time",
    "current_timestamp", "date", "datetime", "degrees", "dense_rank", "exp", "first_value", "floor", "glob",
    "group_concat", "hex", "if", "ifnull", "iif", "instr", "julianday", "lag", "last_insert_rowid", "last_value",
    "lead", "length", "like", "likelihood", "likely", "ln", "log", "log10", "log2", "lower", "ltrim", "max", "min",
    "mod", "nth_value", "ntile", "nullif", "octet_length", "percent_rank", "pi", "pow", "power", "quote", "radians",
    "random", "randomblob", "rank", "replace", "round", "row_number", "rtrim", "sign", "sin", "sinh", "soundex",
    "sqlite_compileoption_get", "sqlite_compileoption_used", "sqlite_source_id", "sqlite_version", "sqrt",
    "string_agg", "substr", "substring", "subtype", "sum", "tan", "tanh", "time", "timediff", "total",
    "total_changes", "trim", "trunc", "typeof", "unicode", "unixepoch", "unlikely", "upper", "zeroblob",
};

#define LONG (16 << 20)
#define LESS (4 << 20)
#define MEDIUM (1 << 20)
/* The time grows with the square of the matches, each of which copies what came before. */
#define MARKED (128 << 10)
/* The time grows with the square of the length. */
#define SHORT (16 << 10)

/* The others that are known: a length for each, and 0 for those that are closed. Sorted. */
static const struct class {
    const char *name;
    int longest;
} known[] = {
    {"->", LONG}, {"->>", LONG}, {"bm25", LONG}, {"edit", 0}, {"format", LONG}, {"fts3_tokenizer", 0}, {"fts5", LONG},
    {"fts5_source_id", LONG}, {"highlight", MARKED}, {"json", LONG}, {"json_array", LONG}, {"json_array_length", LONG},
    {"json_error_position", LONG}, {"json_extract", LONG}, {"json_group_array", LONG}, {"json_group_object", LONG},
    {"json_insert", LONG}, {"json_object", LONG}, {"json_patch", LONG}, {"json_pretty", LONG}, {"json_quote", LONG},
    {"json_remove", LONG}, {"json_replace", LONG}, {"json_set", LONG}, {"json_type", LONG}, {"json_valid", LONG},
    {"load_extension", 0}, {"match", LONG}, {"matchinfo", SHORT}, {"offsets", SHORT}, {"optimize", LONG},
    {"printf", LONG}, {"readfile", 0}, {"snippet", SHORT}, {"strftime", LESS}, {"unhex", SHORT}, {"unistr", LONG},
    {"unistr_quote", LONG}, {"writefile", 0},
};

static int compare_name(const void *name, const void *entry) { return strcmp(name, *(const char *const *)entry); }

static int compare_class(const void *name, const void *entry) {
    return strcmp(name, ((const struct class *)entry)->name);
}

/* The maximum length of a text, blob or row in a statement with a function: so short that one call takes some tenths of
 * a second at most. 0 for a function that statements must not call. */
static int longest_for(const char *function) {
    if (bsearch(function, quick, sizeof quick / sizeof *quick, sizeof *quick, compare_name)) return LONGEST;
    const struct class *other =
        bsearch(function, known, sizeof known / sizeof *known, sizeof *known, compare_class);
    /* What later versions add is not known. */
    return other ? other->longest : MEDIUM;
}

/* Functions of JSON that are tables. */
static const char *const values_of_json[] = {"json_each", "json_tree", "jsonb_each", "jsonb_tree"};

#define CONTAINS(names, name) contains(names, sizeof names / sizeof *names, name)
static int contains(const char *const *names, size_t count, const char *name) {
    for (size_t index = 0; name && index < count; index++)
        if (!strcasecmp(name, names[index])) return 1;
    return 0;
}

static int refuse(struct csqlite_database *database, const char *kind, const char *name) {
    snprintf(database->denial, sizeof database->denial, "%s%.100s", kind, name ? name : "");
    return DENY;
}

static int authorize(
    void *context, int action, const char *first, const char *second, const char *file, const char *trigger) {
    (void)file, (void)trigger;
    struct csqlite_database *database = context;
    if (!csqlite_spend(64)) return DENY;
    switch (action) {
    case ACTION_ATTACH: /* VACUUM attaches a file without a name. */
        return first && !*first ? OK : refuse(database, "another file", "");
    case ACTION_FUNCTION: {
        int longest = longest_for(second ? second : "");
        if (!longest) return refuse(database, "the function ", second);
        if (longest < database->longest) database->longest = longest;
        return OK;
    }
    case ACTION_PRAGMA: return CONTAINS(open_pragmas, first) ? OK : refuse(database, "PRAGMA ", first);
    case ACTION_READ:
        if (CONTAINS(closed_tables, first)) return refuse(database, "the table ", first);
        if (CONTAINS(values_of_json, first) && database->longest > LONG) database->longest = LONG;
        return OK;
    case ACTION_CREATE_VIRTUAL_TABLE:
        return CONTAINS(open_modules, second) ? OK : refuse(database, "a virtual table of the kind ", second);
    default: return OK;
    }
}

static int run(const struct csqlite_library *library, sqlite3 *handle, const char *sql) {
    sqlite3_stmt *statement = NULL;
    int result = library->sqlite3_prepare_v2(handle, sql, -1, &statement, NULL);
    if (result == OK && statement) result = library->sqlite3_step(statement);
    library->sqlite3_finalize(statement);
    return result == DONE ? OK : result;
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
    if (*result != OK) return database;
    sqlite3 *handle = database->handle;
    library->sqlite3_busy_handler(handle, waits, database);
    library->sqlite3_limit(handle, LIMIT_LENGTH, database->length = LONGEST);
    library->sqlite3_limit(handle, LIMIT_WORKER_THREADS, 0);
    library->sqlite3_db_config(handle, CONFIG_DEFENSIVE, 1, (int *)0);
    library->sqlite3_db_config(handle, CONFIG_TRUSTED_SCHEMA, 0, (int *)0);
    *result = csqlite_add_functions(library, handle);
    if (*result != OK) return database;
    csqlite_begin_work(CSQLITE_READING, 0);
    library->sqlite3_progress_handler(handle, STEPS, is_interrupted, database);
    /* Larger sorts and tables use the temporary folder. If the first one fails, so does what reads the schema next. */
    run(library, handle, "pragma cache_size = -16384");
    run(library, handle, "pragma temp_store = 1");
    csqlite_end_work();
    *result = library->sqlite3_set_authorizer(handle, authorize, database);
    return database;
}

sqlite3 *csqlite_handle(const csqlite_database *database) { return database->handle; }

void csqlite_limit_values(csqlite_database *database, int64_t memory) {
    /* A value is in memory up to four times: in a row of the file, in the statement, on its way, and in the script. */
    int64_t most = memory / 4;
    database->most = most < SHORTEST ? SHORTEST : most < LONGEST ? (int)most : LONGEST;
}

const char *csqlite_denial(const csqlite_database *database) { return database->denial; }

static void set_length(csqlite_database *database, int length) {
    if (length == database->length) return;
    database->library->sqlite3_limit(database->handle, LIMIT_LENGTH, length);
    database->length = length;
}

static void begin(csqlite_database *database, enum csqlite_work kind, int longest) {
    if (database->looked) {
        database->looked = 0;
        database->library->sqlite3_progress_handler(database->handle, STEPS, is_interrupted, database);
    }
    csqlite_begin_work(kind, longest < LONGEST ? LARGEST : 0);
}

int csqlite_prepare(
    csqlite_database *database, const char *sql, int length, sqlite3_stmt **statement, const char **rest,
    int *longest) {
    database->longest = database->most;
    database->denial[0] = 0;
    set_length(database, LONGEST);
    begin(database, CSQLITE_COMPILING, LONGEST);
    int result = database->library->sqlite3_prepare_v2(database->handle, sql, length, statement, rest);
    csqlite_end_work();
    *longest = database->longest;
    return result;
}

int csqlite_step(csqlite_database *database, sqlite3_stmt *statement, int longest) {
    const struct csqlite_library *library = database->library;
    set_length(database, longest);
    /* The end of a transaction counts as reading for SQLite. */
    int is_reading = library->sqlite3_stmt_readonly(statement) && library->sqlite3_get_autocommit(database->handle);
    begin(database, is_reading ? CSQLITE_READING : CSQLITE_CHANGING, longest);
    int result = library->sqlite3_step(statement);
    csqlite_end_work();
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
    database->library->sqlite3_close_v2(database->handle);
    csqlite_files_free(database->library, database->files);
    free(database);
}
