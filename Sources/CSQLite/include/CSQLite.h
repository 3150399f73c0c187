/* SQLite's library, loaded when the first database is opened.
 *
 * Why C: linking libsqlite3 would slow down every start, so its functions are looked up with dlsym; opening a database
 * safely requires callbacks of a fixed layout and a call with varargs. The declarations are SQLite's own, unchanged
 * since version 3.7 and stable by its promise: no header is needed to build.
 *
 * A database belongs to one thread at a time. */
#ifndef CSQLITE_H
#define CSQLITE_H

#include <stdint.h>

typedef struct sqlite3 sqlite3;
typedef struct sqlite3_stmt sqlite3_stmt;
typedef struct sqlite3_vfs sqlite3_vfs;
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
    F(sqlite3_stmt *_Nullable, sqlite3_next_stmt, (sqlite3 *_Nonnull, sqlite3_stmt *_Nullable)) \
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
    F(int, sqlite3_changes, (sqlite3 *_Nonnull)) \
    F(int, sqlite3_total_changes, (sqlite3 *_Nonnull)) \
    F(int, sqlite3_get_autocommit, (sqlite3 *_Nonnull)) \
    F(const char *_Nullable, sqlite3_errmsg, (sqlite3 *_Nonnull)) \
    F(const char *_Nullable, sqlite3_errstr, (int)) \
    F(int, sqlite3_extended_errcode, (sqlite3 *_Nonnull)) \
    F(int, sqlite3_limit, (sqlite3 *_Nonnull, int, int)) \
    F(int, sqlite3_db_config, (sqlite3 *_Nonnull, int, ...)) \
    F(int, sqlite3_busy_handler, (sqlite3 *_Nonnull, int (*_Nullable)(void *_Nullable, int), void *_Nullable)) \
    F(void, sqlite3_progress_handler, (sqlite3 *_Nonnull, int, int (*_Nullable)(void *_Nullable), void *_Nullable)) \
    F(int, sqlite3_set_authorizer, (sqlite3 *_Nonnull, \
        int (*_Nullable)(void *_Nullable, int, const char *_Nullable, const char *_Nullable, const char *_Nullable, \
            const char *_Nullable), void *_Nullable)) \
    F(sqlite3_vfs *_Nullable, sqlite3_vfs_find, (const char *_Nullable)) \
    F(int, sqlite3_vfs_register, (sqlite3_vfs *_Nonnull, int)) \
    F(int, sqlite3_vfs_unregister, (sqlite3_vfs *_Nonnull))

/* The functions, by name. */
struct csqlite_library {
#define CSQLITE_DECLARE(result, name, parameters) result (*_Nonnull name) parameters;
    CSQLITE_FUNCTIONS(CSQLITE_DECLARE)
#undef CSQLITE_DECLARE
};

/* The library, loaded by the first call, on any thread; NULL with a reason if it is missing or too old. */
const struct csqlite_library *_Nullable csqlite_library(const char *_Nullable *_Nonnull reason);

/* A database, and the file system by which it accesses its own files only. */
struct csqlite_database {
    sqlite3 *_Nullable handle;
    sqlite3_vfs *_Nullable files;
};

/* Opens a database at a path without links, which must be the only name of its file meanwhile. SQLite also accesses the
 * names derived from it (-journal, -wal, -shm), and unnamed files in a folder for temporary ones. An authorizer refuses
 * actions that scripts must not perform; statements end if the thread's work is interrupted. Returns SQLite's result;
 * the database must be closed in any case. */
int csqlite_open(
    struct csqlite_database *_Nonnull database, const char *_Nonnull path, const char *_Nonnull temporary, int read_only);

/* Finalizes all statements and closes the database. */
void csqlite_close(struct csqlite_database *_Nonnull database);

#endif
