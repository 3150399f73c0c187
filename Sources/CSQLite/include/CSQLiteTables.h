/* Virtual tables and functions whose work is done in Swift, a batch of rows at a time.
 *
 * Why C: SQLite calls a function for every row and every value; here these read arrays, which one call of Swift fills for
 * some hundreds of rows. The structures are SQLite's own, stable by its promise. */
#ifndef CSQLITE_TABLES_H
#define CSQLITE_TABLES_H

#include "CSQLite.h"

struct csqlite_constraint {
    int column;         /* -1 for the row number. */
    unsigned char operation;
    unsigned char is_usable;
    int offset;
};

struct csqlite_order {
    int column;
    unsigned char is_descending;
};

struct csqlite_usage {
    int argument;       /* The place of the constraint's value, from 1; 0 for none. */
    unsigned char omits;
};

/* SQLite's own layout. */
struct sqlite3_index_info {
    int constraint_count;
    struct csqlite_constraint *_Nullable constraints;
    int order_count;
    struct csqlite_order *_Nullable order;
    struct csqlite_usage *_Nullable usage;
    int plan;
    char *_Nullable text;
    int frees_text;
    int is_ordered;
    double cost;
    int64_t rows;
    int flags;
    uint64_t columns;
};

/* The values of a column in a batch of rows, as arrays of the kinds of SQLite, of words, and of lengths. */
struct csqlite_lane {
    uint64_t batch;                     /* The batch that it has been read for. */
    const uint8_t *_Nullable kinds;
    const int64_t *_Nullable words;     /* An integer, the bits of a real, or a place in the bytes. */
    const uint32_t *_Nullable lengths;  /* Of texts and blobs. */
    const char *_Nullable bytes;
};

enum { CSQLITE_INTEGER = 1, CSQLITE_REAL = 2, CSQLITE_TEXT = 3, CSQLITE_BLOB = 4, CSQLITE_NULL = 5 };

/* SQLite's own layouts, with ours behind them. */
struct sqlite3_vtab {
    const sqlite3_module *_Nullable module;
    int references;
    char *_Nullable message;
};

struct csqlite_table {
    struct sqlite3_vtab base;
    void *_Nullable context;
};

struct csqlite_cursor {
    struct csqlite_table *_Nonnull table;
    void *_Nullable context;
    uint64_t batch;                     /* Its number, from 1. */
    uint32_t place, count;              /* The current row of the selection, and the number of its rows. */
    const uint32_t *_Nullable selection; /* Places in the batch; NULL for all of them in order. */
    const int64_t *_Nullable rows;      /* The rows' numbers, by place in the batch. */
    struct csqlite_lane *_Nullable lanes; /* By column. */
};

/* Each returns SQLite's result. */
struct csqlite_table_methods {
    int (*_Nonnull plan)(void *_Nonnull table, sqlite3_index_info *_Nonnull info);
    void *_Nullable (*_Nonnull open)(void *_Nonnull table, struct csqlite_cursor *_Nonnull cursor);
    int (*_Nonnull begin)(
        struct csqlite_cursor *_Nonnull cursor, int plan, int count, sqlite3_value *_Nonnull *_Nullable values);
    int (*_Nonnull next)(struct csqlite_cursor *_Nonnull cursor);
    int (*_Nonnull read)(struct csqlite_cursor *_Nonnull cursor, int column);
    void (*_Nonnull close)(struct csqlite_cursor *_Nonnull cursor);
    int (*_Nonnull update)(
        void *_Nonnull table, int count, sqlite3_value *_Nonnull *_Nonnull values, int64_t *_Nonnull row);
    void (*_Nonnull release)(void *_Nonnull table);
};

/* Adds a table that is there without being created, or replaces it; without a context it is removed. The context is
 * released by the methods, also by a failure. Returns SQLite's result. */
int csqlite_add_table(
    csqlite_database *_Nonnull database, const char *_Nonnull name, const char *_Nonnull declaration,
    const struct csqlite_table_methods *_Nonnull methods, void *_Nullable context);

/* Creates a table of the main database that statements may change. Before, one of the same name is dropped: it must not
 * be in use by a cursor. */
int csqlite_create_table(
    csqlite_database *_Nonnull database, const char *_Nonnull name, const char *_Nonnull declaration,
    const struct csqlite_table_methods *_Nonnull methods, void *_Nonnull context);

/* Sets the message of a table's failure. */
void csqlite_fail(struct csqlite_table *_Nonnull table, const char *_Nonnull message);

#endif
