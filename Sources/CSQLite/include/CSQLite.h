/* SQLite's library, loaded when the first database is opened.
 *
 * Why C: linking libsqlite3 would slow down every start, so its functions are looked up with dlsym; opening a database
 * safely requires callbacks of a fixed layout and calls with varargs. The declarations are SQLite's own, unchanged
 * since version 3.9 and stable by its promise: no header is needed to build.
 *
 * A database belongs to one thread at a time. */
#ifndef CSQLITE_H
#define CSQLITE_H

#include <stdint.h>

typedef struct sqlite3 sqlite3;
typedef struct sqlite3_stmt sqlite3_stmt;
typedef struct sqlite3_vfs sqlite3_vfs;
typedef struct sqlite3_vtab sqlite3_vtab;
typedef struct sqlite3_module sqlite3_module;
typedef struct sqlite3_index_info sqlite3_index_info;
typedef struct sqlite3_value sqlite3_value;
typedef struct sqlite3_context sqlite3_context;
typedef void (*csqlite_destructor)(void *_Nullable);

/* Each function with its result and parameters. */
#define CSQLITE_FUNCTIONS(F) \
    F(int, sqlite3_libversion_number, (void)) \
    F(int, sqlite3_open_v2, (const char *_Nonnull, sqlite3 *_Nullable *_Nonnull, int, const char *_Nullable)) \
    F(int, sqlite3_close_v2, (sqlite3 *_Nullable)) \
    F(int, sqlite3_prepare_v2, (sqlite3 *_Nonnull, const char *_Nonnull, int, sqlite3_stmt *_Nullable *_Nonnull, \
        const char *_Nullable *_Nullable)) \
    F(int, sqlite3_step, (sqlite3_stmt *_Nonnull)) \
    F(int, sqlite3_reset, (sqlite3_stmt *_Nonnull)) \
    F(int, sqlite3_finalize, (sqlite3_stmt *_Nullable)) \
    F(int, sqlite3_stmt_readonly, (sqlite3_stmt *_Nonnull)) \
    F(int, sqlite3_bind_null, (sqlite3_stmt *_Nonnull, int)) \
    F(int, sqlite3_bind_int64, (sqlite3_stmt *_Nonnull, int, int64_t)) \
    F(int, sqlite3_bind_double, (sqlite3_stmt *_Nonnull, int, double)) \
    F(int, sqlite3_bind_text, (sqlite3_stmt *_Nonnull, int, const char *_Nullable, int, csqlite_destructor _Nullable)) \
    F(int, sqlite3_bind_blob, (sqlite3_stmt *_Nonnull, int, const void *_Nullable, int, csqlite_destructor _Nullable)) \
    F(int, sqlite3_bind_zeroblob, (sqlite3_stmt *_Nonnull, int, int)) \
    F(int, sqlite3_bind_parameter_count, (sqlite3_stmt *_Nonnull)) \
    F(const char *_Nullable, sqlite3_bind_parameter_name, (sqlite3_stmt *_Nonnull, int)) \
    F(int, sqlite3_column_count, (sqlite3_stmt *_Nonnull)) \
    F(const char *_Nullable, sqlite3_column_name, (sqlite3_stmt *_Nonnull, int)) \
    F(const char *_Nullable, sqlite3_column_decltype, (sqlite3_stmt *_Nonnull, int)) \
    F(int, sqlite3_column_type, (sqlite3_stmt *_Nonnull, int)) \
    F(int64_t, sqlite3_column_int64, (sqlite3_stmt *_Nonnull, int)) \
    F(double, sqlite3_column_double, (sqlite3_stmt *_Nonnull, int)) \
    F(const unsigned char *_Nullable, sqlite3_column_text, (sqlite3_stmt *_Nonnull, int)) \
    F(const void *_Nullable, sqlite3_column_blob, (sqlite3_stmt *_Nonnull, int)) \
    F(int, sqlite3_column_bytes, (sqlite3_stmt *_Nonnull, int)) \
    F(int, sqlite3_clear_bindings, (sqlite3_stmt *_Nonnull)) \
    F(int, sqlite3_changes, (sqlite3 *_Nonnull)) \
    F(int, sqlite3_total_changes, (sqlite3 *_Nonnull)) \
    F(int, sqlite3_get_autocommit, (sqlite3 *_Nonnull)) \
    F(const char *_Nullable, sqlite3_errmsg, (sqlite3 *_Nonnull)) \
    F(const char *_Nullable, sqlite3_errstr, (int)) \
    F(int, sqlite3_extended_errcode, (sqlite3 *_Nonnull)) \
    F(int, sqlite3_limit, (sqlite3 *_Nonnull, int, int)) \
    F(int, sqlite3_config, (int, ...)) \
    F(int, sqlite3_db_config, (sqlite3 *_Nonnull, int, ...)) \
    F(int, sqlite3_compileoption_used, (const char *_Nonnull)) \
    F(void, sqlite3_randomness, (int, void *_Nonnull)) \
    F(void *_Nullable, sqlite3_realloc64, (void *_Nullable, uint64_t)) \
    F(void, sqlite3_free, (void *_Nullable)) \
    F(int, sqlite3_create_function_v2, (sqlite3 *_Nonnull, const char *_Nonnull, int, int, void *_Nullable, \
        void (*_Nullable)(sqlite3_context *_Nonnull, int, sqlite3_value *_Nonnull *_Nonnull), \
        void (*_Nullable)(sqlite3_context *_Nonnull, int, sqlite3_value *_Nonnull *_Nonnull), \
        void (*_Nullable)(sqlite3_context *_Nonnull), void (*_Nullable)(void *_Nullable))) \
    F(int, sqlite3_create_window_function, (sqlite3 *_Nonnull, const char *_Nonnull, int, int, void *_Nullable, \
        void (*_Nullable)(sqlite3_context *_Nonnull, int, sqlite3_value *_Nonnull *_Nonnull), \
        void (*_Nullable)(sqlite3_context *_Nonnull), void (*_Nullable)(sqlite3_context *_Nonnull), \
        void (*_Nullable)(sqlite3_context *_Nonnull, int, sqlite3_value *_Nonnull *_Nonnull), \
        void (*_Nullable)(void *_Nullable))) \
    F(int, sqlite3_create_collation_v2, (sqlite3 *_Nonnull, const char *_Nonnull, int, void *_Nullable, \
        int (*_Nullable)(void *_Nullable, int, const void *_Nullable, int, const void *_Nullable), \
        void (*_Nullable)(void *_Nullable))) \
    F(void *_Nullable, sqlite3_user_data, (sqlite3_context *_Nonnull)) \
    F(void *_Nullable, sqlite3_aggregate_context, (sqlite3_context *_Nonnull, int)) \
    F(sqlite3 *_Nonnull, sqlite3_context_db_handle, (sqlite3_context *_Nonnull)) \
    F(int, sqlite3_value_type, (sqlite3_value *_Nonnull)) \
    F(int64_t, sqlite3_value_int64, (sqlite3_value *_Nonnull)) \
    F(double, sqlite3_value_double, (sqlite3_value *_Nonnull)) \
    F(int, sqlite3_value_nochange, (sqlite3_value *_Nonnull)) \
    F(const unsigned char *_Nullable, sqlite3_value_text, (sqlite3_value *_Nonnull)) \
    F(const void *_Nullable, sqlite3_value_blob, (sqlite3_value *_Nonnull)) \
    F(int, sqlite3_value_bytes, (sqlite3_value *_Nonnull)) \
    F(sqlite3_value *_Nullable, sqlite3_value_dup, (sqlite3_value *_Nonnull)) \
    F(void, sqlite3_value_free, (sqlite3_value *_Nullable)) \
    F(void, sqlite3_result_error, (sqlite3_context *_Nonnull, const char *_Nonnull, int)) \
    F(void, sqlite3_result_error_code, (sqlite3_context *_Nonnull, int)) \
    F(void, sqlite3_result_error_nomem, (sqlite3_context *_Nonnull)) \
    F(void, sqlite3_result_error_toobig, (sqlite3_context *_Nonnull)) \
    F(void, sqlite3_result_null, (sqlite3_context *_Nonnull)) \
    F(void, sqlite3_result_int64, (sqlite3_context *_Nonnull, int64_t)) \
    F(void, sqlite3_result_double, (sqlite3_context *_Nonnull, double)) \
    F(void, sqlite3_result_text, (sqlite3_context *_Nonnull, const char *_Nonnull, int, csqlite_destructor _Nullable)) \
    F(void, sqlite3_result_blob, (sqlite3_context *_Nonnull, const void *_Nonnull, int, csqlite_destructor _Nullable)) \
    F(void, sqlite3_result_value, (sqlite3_context *_Nonnull, sqlite3_value *_Nonnull)) \
    F(void, sqlite3_result_subtype, (sqlite3_context *_Nonnull, unsigned int)) \
    F(int, sqlite3_busy_handler, (sqlite3 *_Nonnull, int (*_Nullable)(void *_Nullable, int), void *_Nullable)) \
    F(void, sqlite3_progress_handler, (sqlite3 *_Nonnull, int, int (*_Nullable)(void *_Nullable), void *_Nullable)) \
    F(int, sqlite3_set_authorizer, (sqlite3 *_Nonnull, \
        int (*_Nullable)(void *_Nullable, int, const char *_Nullable, const char *_Nullable, const char *_Nullable, \
            const char *_Nullable), void *_Nullable)) \
    F(sqlite3_vfs *_Nullable, sqlite3_vfs_find, (const char *_Nullable)) \
    F(int, sqlite3_vfs_register, (sqlite3_vfs *_Nonnull, int)) \
    F(int, sqlite3_vfs_unregister, (sqlite3_vfs *_Nonnull)) \
    F(int, sqlite3_create_module_v2, (sqlite3 *_Nonnull, const char *_Nonnull, const sqlite3_module *_Nullable, \
        void *_Nullable, void (*_Nullable)(void *_Nullable))) \
    F(int, sqlite3_declare_vtab, (sqlite3 *_Nonnull, const char *_Nonnull)) \
    F(int, sqlite3_vtab_config, (sqlite3 *_Nonnull, int, ...)) \
    F(int, sqlite3_vtab_on_conflict, (sqlite3 *_Nonnull)) \
    F(int, sqlite3_vtab_nochange, (sqlite3_context *_Nonnull)) \
    F(const char *_Nonnull, sqlite3_vtab_collation, (sqlite3_index_info *_Nonnull, int))

/* Functions of later versions than the oldest that is supported: NULL in a library that lacks them. */
#define CSQLITE_LATER_FUNCTIONS(F) \
    F(int, sqlite3_error_offset, (sqlite3 *_Nonnull)) \
    F(int, sqlite3_vtab_distinct, (sqlite3_index_info *_Nonnull)) \
    F(int, sqlite3_vtab_in, (sqlite3_index_info *_Nonnull, int, int)) \
    F(int, sqlite3_vtab_rhs_value, (sqlite3_index_info *_Nonnull, int, sqlite3_value *_Nullable *_Nonnull)) \
    F(int, sqlite3_vtab_in_first, (sqlite3_value *_Nonnull, sqlite3_value *_Nullable *_Nonnull)) \
    F(int, sqlite3_vtab_in_next, (sqlite3_value *_Nonnull, sqlite3_value *_Nullable *_Nonnull))

/* The functions, by name. */
struct csqlite_library {
#define CSQLITE_DECLARE(result, name, parameters) result (*_Nonnull name) parameters;
    CSQLITE_FUNCTIONS(CSQLITE_DECLARE)
#undef CSQLITE_DECLARE
#define CSQLITE_DECLARE(result, name, parameters) result (*_Nullable name) parameters;
    CSQLITE_LATER_FUNCTIONS(CSQLITE_DECLARE)
#undef CSQLITE_DECLARE
};

/* The library, loaded by the first call, on any thread; NULL with a reason if it is missing or too old. */
const struct csqlite_library *_Nullable csqlite_library(const char *_Nullable *_Nonnull reason);

/* A database, its file system, and what its statements may use. */
typedef struct csqlite_database csqlite_database;

/* A descriptor of a folder, which is not followed if it is a link; -1 for none. */
int csqlite_open_folder(const char *_Nonnull path);

/* Opens a database.
 *
 * `path` names it in messages; its file is the path's last component in the open folder `folder`, which is not
 * followed if it is a link. SQLite also accesses the names derived from it (-journal, -wal, -shm) there, and unnamed
 * files in the open folder `temporary`. Both descriptors are taken over and closed with the database, or by a failure.
 *
 * An authorizer refuses actions that scripts must not perform. All work ends if the thread's work is interrupted, and
 * no statement allocates more than the thread's work may use (cubby_watch_work). NULL without memory, and for a path
 * that is too long; otherwise SQLite's result is stored, and the database must be closed in any case. */
csqlite_database *_Nullable csqlite_open(
    const char *_Nonnull path, int folder, int temporary, int read_only, int *_Nonnull result);

/* Opens a database in memory whose statements ask virtual tables (CSQLiteTables.h), and other databases that are attached.
 *
 * They may not change a schema, but for that of temporary tables and of databases attached for writing, and neither
 * begin nor end a transaction. */
csqlite_database *_Nullable csqlite_open_memory(int *_Nonnull result);

/* Lets LIKE compare characters beyond ASCII in one case, too, by a function. Returns SQLite's result. */
int csqlite_fold_case(sqlite3 *_Nonnull handle, uint32_t (*_Nonnull fold)(uint32_t));

/* Adds a collating sequence of dates as texts: those are compared as moments, `2024-02-29` as its beginning, and others byte
 * by byte. Returns SQLite's result. */
int csqlite_add_date_order(sqlite3 *_Nonnull handle, const char *_Nonnull name);

/* Attaches a database under a name, with the parameters and the safety of csqlite_open. Returns SQLite's result. */
int csqlite_attach(
    csqlite_database *_Nonnull database, const char *_Nonnull name, const char *_Nonnull path, int folder, int temporary,
    int read_only);

/* Detaches it. */
int csqlite_detach(csqlite_database *_Nonnull database, const char *_Nonnull name);

sqlite3 *_Nullable csqlite_handle(const csqlite_database *_Nonnull database);

/* Limits texts, blobs and rows to a quarter of the bytes that work may use, but to a megabyte at least. */
void csqlite_limit_values(csqlite_database *_Nonnull database, int64_t memory);

/* Gives the next statements two seconds again for waiting for a lock; without it they share those of the last ones. */
void csqlite_renew(csqlite_database *_Nonnull database);

/* Prepares a statement, as sqlite3_prepare_v2; stores the maximum length of its texts, blobs and rows. */
int csqlite_prepare(
    csqlite_database *_Nonnull database, const char *_Nonnull sql, int length,
    sqlite3_stmt *_Nullable *_Nonnull statement, const char *_Nullable *_Nonnull rest, int *_Nonnull longest);

/* Steps through a statement, with the maximum length that csqlite_prepare stored. */
int csqlite_step(csqlite_database *_Nonnull database, sqlite3_stmt *_Nonnull statement, int longest);

/* Runs a short statement that ends work, such as a rollback, even if the thread's work is interrupted. */
int csqlite_finish(csqlite_database *_Nonnull database, const char *_Nonnull sql);

/* What the authorizer refused last, and why; empty for nothing since the last csqlite_prepare. */
const char *_Nonnull csqlite_denial(const csqlite_database *_Nonnull database);

/* Whether the statement that was prepared last changes the table items of the main database. */
int csqlite_changes_items(const csqlite_database *_Nonnull database);

/* What was denied, for a database of items: the caller says which way leads there. */
enum csqlite_denial {
    CSQLITE_CLOSED,
    CSQLITE_DENIED_ATTACH,
    CSQLITE_DENIED_SCHEMA,
    CSQLITE_DENIED_TRANSACTION,
    CSQLITE_DENIED_PRAGMA,
    CSQLITE_DENIED_FUNCTION,
};
enum csqlite_denial csqlite_denial_kind(const csqlite_database *_Nonnull database);

/* Counts bytes that the host holds for statements with SQLite's own on this thread, against what the thread's work may use: 0 if
 * they are too many, and none are counted. A negative number gives bytes back. */
int csqlite_count_memory(int64_t bytes);

/* Closes the database. Its statements must be finalized, except those of SQLite's own virtual tables. */
void csqlite_close(csqlite_database *_Nullable database);

#include "CSQLiteTables.h"

#endif
