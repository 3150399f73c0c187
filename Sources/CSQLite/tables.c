/* Virtual tables: SQLite's calls for rows and values read a batch that Swift has filled. */
#include "CSQLiteTables.h"
#include "database.h"
#include "work.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { OK = 0, ERROR = 1, NO_MEMORY = 7, VTAB_INNOCUOUS = 2 };

/* SQLite's own layout for iVersion 1. */
struct sqlite3_module {
    int iVersion;
    int (*xCreate)(sqlite3 *, void *, int, const char *const *, sqlite3_vtab **, char **);
    int (*xConnect)(sqlite3 *, void *, int, const char *const *, sqlite3_vtab **, char **);
    int (*xBestIndex)(sqlite3_vtab *, sqlite3_index_info *);
    int (*xDisconnect)(sqlite3_vtab *);
    int (*xDestroy)(sqlite3_vtab *);
    int (*xOpen)(sqlite3_vtab *, void **);
    int (*xClose)(void *);
    int (*xFilter)(void *, int, const char *, int, sqlite3_value **);
    int (*xNext)(void *);
    int (*xEof)(void *);
    int (*xColumn)(void *, sqlite3_context *, int);
    int (*xRowid)(void *, int64_t *);
    int (*xUpdate)(sqlite3_vtab *, int, sqlite3_value **, int64_t *);
    int (*xBegin)(sqlite3_vtab *);
    int (*xSync)(sqlite3_vtab *);
    int (*xCommit)(sqlite3_vtab *);
    int (*xRollback)(sqlite3_vtab *);
    int (*xFindFunction)(sqlite3_vtab *, int, const char *, void (**)(sqlite3_context *, int, sqlite3_value **), void **);
    int (*xRename)(sqlite3_vtab *, const char *);
};

/* What SQLite has of a module of ours. */
struct source {
    const struct csqlite_table_methods *methods;
    void *context;
    char declaration[];
};

/* A table keeps its methods beside its context. */
struct table {
    struct csqlite_table shared;
    const struct csqlite_table_methods *methods;
};

#define METHODS(cursor) (((struct table *)((struct csqlite_cursor *)(cursor))->table)->methods)

static int connect_table(
    sqlite3 *handle, void *data, int count, const char *const *names, sqlite3_vtab **result, char **message) {
    (void)count, (void)names, (void)message;
    const struct source *source = data;
    struct table *table = calloc(1, sizeof *table);
    if (!table) return NO_MEMORY;
    table->shared.context = source->context;
    table->methods = source->methods;
    csqlite_loaded.sqlite3_vtab_config(handle, VTAB_INNOCUOUS);
    int answer = csqlite_loaded.sqlite3_declare_vtab(handle, source->declaration);
    if (answer != OK) {
        free(table);
        return answer;
    }
    *result = &table->shared.base;
    return OK;
}

/* Another function than connect_table: then a module is not a table, too. */
static int create_table(
    sqlite3 *handle, void *data, int count, const char *const *names, sqlite3_vtab **result, char **message) {
    return connect_table(handle, data, count, names, result, message);
}

static int disconnect(sqlite3_vtab *table) {
    free(table);
    return OK;
}

static int plan(sqlite3_vtab *base, sqlite3_index_info *info) {
    struct table *table = (struct table *)base;
    return table->methods->plan(table->shared.context, info);
}

static int open_cursor(sqlite3_vtab *base, void **result) {
    struct table *table = (struct table *)base;
    struct csqlite_cursor *cursor = calloc(1, sizeof *cursor);
    if (!cursor) return NO_MEMORY;
    cursor->table = &table->shared;
    cursor->context = table->methods->open(table->shared.context, cursor);
    if (!cursor->context) {
        free(cursor);
        return NO_MEMORY;
    }
    *result = cursor;
    return OK;
}

static int close_cursor(void *cursor) {
    METHODS(cursor)->close(cursor);
    free(cursor);
    return OK;
}

static int begin(void *cursor, int plan, const char *text, int count, sqlite3_value **values) {
    (void)text;
    ((struct csqlite_cursor *)cursor)->place = 0;
    ((struct csqlite_cursor *)cursor)->count = 0;
    return METHODS(cursor)->begin(cursor, plan, count, values);
}

static int next(void *base) {
    struct csqlite_cursor *cursor = base;
    if (++cursor->place < cursor->count) return OK;
    cursor->place = 0;
    cursor->count = 0;
    return METHODS(cursor)->next(cursor);
}

static int is_at_end(void *base) {
    const struct csqlite_cursor *cursor = base;
    return cursor->place >= cursor->count;
}

static uint32_t place_of(const struct csqlite_cursor *cursor) {
    return cursor->selection ? cursor->selection[cursor->place] : cursor->place;
}

static int column(void *base, sqlite3_context *context, int number) {
    struct csqlite_cursor *cursor = base;
    /* A change leaves the other columns as they are. */
    if (csqlite_loaded.sqlite3_vtab_nochange(context)) return OK;
    const struct csqlite_lane *lane = &cursor->lanes[number];
    if (lane->batch != cursor->batch) {
        int result = METHODS(cursor)->read(cursor, number);
        if (result != OK) return result;
    }
    uint32_t place = place_of(cursor);
    switch (lane->kinds[place]) {
    case CSQLITE_INTEGER: csqlite_loaded.sqlite3_result_int64(context, lane->words[place]); break;
    case CSQLITE_REAL: {
        double number;
        memcpy(&number, &lane->words[place], sizeof number);
        csqlite_loaded.sqlite3_result_double(context, number);
        break;
    }
    case CSQLITE_TEXT:
        csqlite_loaded.sqlite3_result_text(
            context, lane->bytes + lane->words[place], (int)lane->lengths[place], (csqlite_destructor)-1);
        break;
    case CSQLITE_BLOB:
        csqlite_loaded.sqlite3_result_blob(
            context, lane->bytes + lane->words[place], (int)lane->lengths[place], (csqlite_destructor)-1);
        break;
    default: break; /* NULL is what a result is before. */
    }
    return OK;
}

static int row_number(void *base, int64_t *result) {
    const struct csqlite_cursor *cursor = base;
    *result = cursor->rows[place_of(cursor)];
    return OK;
}

static int update(sqlite3_vtab *base, int count, sqlite3_value **values, int64_t *row) {
    struct table *table = (struct table *)base;
    return table->methods->update(table->shared.context, count, values, row);
}

#define MODULE(create, change) \
    { \
        .iVersion = 1, .xCreate = create, .xConnect = connect_table, .xBestIndex = plan, .xDisconnect = disconnect, \
        .xDestroy = disconnect, .xOpen = open_cursor, .xClose = close_cursor, .xFilter = begin, .xNext = next, \
        .xEof = is_at_end, .xColumn = column, .xRowid = row_number, .xUpdate = change \
    }
static const struct sqlite3_module fixed = MODULE(NULL, NULL), changeable = MODULE(create_table, update);

static void release(void *data) {
    struct source *source = data;
    source->methods->release(source->context);
    free(source);
}

static int add_module(
    csqlite_database *database, const char *name, const char *declaration,
    const struct csqlite_table_methods *methods, void *context, const struct sqlite3_module *module) {
    sqlite3 *handle = csqlite_handle(database);
    size_t length = strlen(declaration) + 1;
    struct source *source = malloc(sizeof *source + length);
    if (!source) {
        methods->release(context);
        return NO_MEMORY;
    }
    source->methods = methods;
    source->context = context;
    memcpy(source->declaration, declaration, length);
    /* It releases the source also if it fails. */
    return csqlite_loaded.sqlite3_create_module_v2(handle, name, module, source, release);
}

int csqlite_add_table(
    csqlite_database *database, const char *name, const char *declaration,
    const struct csqlite_table_methods *methods, void *context) {
    if (!context) return csqlite_loaded.sqlite3_create_module_v2(csqlite_handle(database), name, NULL, NULL, NULL);
    return add_module(database, name, declaration, methods, context, &fixed);
}

int csqlite_create_table(
    csqlite_database *database, const char *name, const char *declaration,
    const struct csqlite_table_methods *methods, void *context) {
    char text[256];
    snprintf(text, sizeof text, "drop table if exists main.\"%.40s\"", name);
    int result = csqlite_run_own(database, text);
    if (result != OK) {
        methods->release(context);
        return result;
    }
    char module[64];
    snprintf(module, sizeof module, "cubby_%.40s", name);
    result = add_module(database, module, declaration, methods, context, &changeable);
    if (result != OK) return result;
    snprintf(text, sizeof text, "create virtual table main.\"%.40s\" using \"%s\"", name, module);
    return csqlite_run_own(database, text);
}

void csqlite_fail(struct csqlite_table *table, const char *message) {
    csqlite_loaded.sqlite3_free(table->base.message);
    size_t length = strlen(message) + 1;
    table->base.message = csqlite_loaded.sqlite3_realloc64(NULL, length);
    if (table->base.message) memcpy(table->base.message, message, length);
}
