/* Functions of SQL that SQLite cannot interrupt, in forms that can be. */
#ifndef CSQLITE_FUNCTIONS_H
#define CSQLITE_FUNCTIONS_H

#include "CSQLite.h"

/* Replaces functions of a database. Returns SQLite's result. */
int csqlite_add_functions(const struct csqlite_library *library, sqlite3 *handle);

#endif
