/* The file system of one database. */
#ifndef CSQLITE_FILES_H
#define CSQLITE_FILES_H

#include "CSQLite.h"

#define CSQLITE_NAME_SIZE 4096

/* Registers a database's file system under a unique name; NULL without memory, and for a path that is too long. Takes
 * over both descriptors, also then. */
sqlite3_vfs *csqlite_files_make(const struct csqlite_library *library, const char *path, int folder, int temporary);
const char *csqlite_files_name(sqlite3_vfs *files);
void csqlite_files_free(const struct csqlite_library *library, sqlite3_vfs *files);

#endif
