/* What statements may do, and how long the values may be of those that call slow functions. */
#include "database.h"
#include "work.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum {
    OK = 0,
    DENY = 1,
    ACTION_CREATE_INDEX = 1,
    ACTION_CREATE_TABLE = 2,
    ACTION_CREATE_TRIGGER = 7,
    ACTION_CREATE_VIEW = 8,
    ACTION_DELETE = 9,
    ACTION_DROP_INDEX = 10,
    ACTION_DROP_TABLE = 11,
    ACTION_DROP_TRIGGER = 16,
    ACTION_DROP_VIEW = 17,
    ACTION_INSERT = 18,
    ACTION_PRAGMA = 19,
    ACTION_READ = 20,
    ACTION_TRANSACTION = 22,
    ACTION_UPDATE = 23,
    ACTION_ATTACH = 24,
    ACTION_DETACH = 25,
    ACTION_ALTER_TABLE = 26,
    ACTION_REINDEX = 27,
    ACTION_ANALYZE = 28,
    ACTION_CREATE_VIRTUAL_TABLE = 29,
    ACTION_DROP_VIRTUAL_TABLE = 30,
    ACTION_FUNCTION = 31,
    ACTION_SAVEPOINT = 32,
};

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
    "lead", "length", "like", "likelihood", "likely", "ln", "log", "log10", "log2", "lower", "ltrim", "matches", "max",
    "median", "min", "mod", "nth_value", "ntile", "nullif", "octet_length", "percent_rank", "percentile", "pi", "pow", "power", "quote", "radians",
    "random", "randomblob", "rank", "regexp", "replace", "round", "row_number", "rtrim", "sign", "sin", "sinh", "soundex",
    "sqlite_compileoption_get", "sqlite_compileoption_used", "sqlite_source_id", "sqlite_version", "sqrt",
    "stddev", "string_agg", "substr", "substring", "subtype", "sum", "tan", "tanh", "time", "timediff", "total",
    "total_changes", "trim", "trunc", "typeof", "unaccent", "unicode", "unixepoch", "unlikely", "upper", "variance", "zeroblob", "zone",
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

/* What statements over items may ask: nothing that is set. */
static const char *const reading_pragmas[] = {
    "collation_list", "compile_options", "database_list", "foreign_key_list", "function_list", "index_info",
    "index_list", "index_xinfo", "module_list", "pragma_list", "table_info", "table_list", "table_xinfo",
};

static int deny(struct csqlite_database *database, enum csqlite_denial kind, const char *name) {
    database->kind = kind;
    return refuse(database, "", name);
}

/* Whether a statement over items may do something; OK as far as it is not about tables of the main database. */
static int authorize_items(
    struct csqlite_database *database, int action, const char *first, const char *second, const char *file) {
    int is_main = file && !strcmp(file, "main");
    switch (action) {
    /* VACUUM attaches a file without a name. */
    case ACTION_ATTACH: return deny(database, CSQLITE_DENIED_ATTACH, first && !*first ? "VACUUM" : "");
    case ACTION_DETACH: return deny(database, CSQLITE_DENIED_ATTACH, "");
    case ACTION_TRANSACTION:
    case ACTION_SAVEPOINT: return deny(database, CSQLITE_DENIED_TRANSACTION, "");
    case ACTION_PRAGMA: return CONTAINS(reading_pragmas, first) ? OK : deny(database, CSQLITE_DENIED_PRAGMA, first);
    case ACTION_INSERT:
    case ACTION_UPDATE:
    case ACTION_DELETE:
        if (is_main && first && !strcasecmp(first, "items")) database->changes_main = 1;
        /* The declaration of a virtual table writes to the schema as well; statements may not, by the defensive mode. */
        return OK;
    case ACTION_ALTER_TABLE:
        return first && !strcmp(first, "main") ? deny(database, CSQLITE_DENIED_SCHEMA, second) : OK;
    case ACTION_CREATE_INDEX:
    case ACTION_CREATE_TABLE:
    case ACTION_CREATE_TRIGGER:
    case ACTION_CREATE_VIEW:
    case ACTION_CREATE_VIRTUAL_TABLE:
    case ACTION_DROP_INDEX:
    case ACTION_DROP_TABLE:
    case ACTION_DROP_TRIGGER:
    case ACTION_DROP_VIEW:
    case ACTION_DROP_VIRTUAL_TABLE:
    case ACTION_REINDEX:
    case ACTION_ANALYZE: return is_main ? deny(database, CSQLITE_DENIED_SCHEMA, first) : OK;
    default: return OK;
    }
}

int csqlite_authorize(
    void *context, int action, const char *first, const char *second, const char *file, const char *trigger) {
    (void)trigger;
    struct csqlite_database *database = context;
    if (database->is_own) return OK;
    if (!csqlite_spend(64)) return DENY;
    int is_items = !database->files;
    if (is_items && authorize_items(database, action, first, second, file) != OK) return DENY;
    switch (action) {
    case ACTION_ATTACH: /* VACUUM attaches a file without a name. */
        return first && !*first ? OK : refuse(database, "another file", "");
    case ACTION_FUNCTION: {
        int longest = longest_for(second ? second : "");
        if (!longest) database->kind = CSQLITE_DENIED_FUNCTION;
        if (!longest) return refuse(database, "the function ", second);
        /* A function that the host has defined. */
        if (is_items && longest == MEDIUM) longest = LONG;
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
