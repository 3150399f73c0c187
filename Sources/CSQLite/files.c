/* A file system for one database: its file and SQLite's side files, and temporary files in one folder.
 *
 * A journal beside a database may name any file as its super-journal, to be read and deleted: names other than the
 * database's own are always refused here. */
#include "files.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* SQLite's own layout for iVersion 2. */
struct sqlite3_vfs {
    int iVersion, szOsFile, mxPathname;
    sqlite3_vfs *pNext;
    const char *zName;
    void *pAppData;
    int (*xOpen)(sqlite3_vfs *, const char *, void *, int, int *);
    int (*xDelete)(sqlite3_vfs *, const char *, int);
    int (*xAccess)(sqlite3_vfs *, const char *, int, int *);
    int (*xFullPathname)(sqlite3_vfs *, const char *, int, char *);
    void *(*xDlOpen)(sqlite3_vfs *, const char *);
    void (*xDlError)(sqlite3_vfs *, int, char *);
    void (*(*xDlSym)(sqlite3_vfs *, void *, const char *))(void);
    void (*xDlClose)(sqlite3_vfs *, void *);
    int (*xRandomness)(sqlite3_vfs *, int, char *);
    int (*xSleep)(sqlite3_vfs *, int);
    int (*xCurrentTime)(sqlite3_vfs *, double *);
    int (*xGetLastError)(sqlite3_vfs *, int, char *);
    int (*xCurrentTimeInt64)(sqlite3_vfs *, int64_t *);
};

enum {
    OK = 0,
    CANNOT_OPEN = 14,
    ACCESS_ERROR = 10 | 13 << 8,
    DELETE_ERROR = 10 | 10 << 8,
    OPEN_READ_WRITE = 2,
    OPEN_CREATE = 4,
    OPEN_DELETE_ON_CLOSE = 8,
    OPEN_EXCLUSIVE = 16,
};

struct files {
    sqlite3_vfs vfs;
    sqlite3_vfs *real;
    char name[40];
    char path[CSQLITE_NAME_SIZE];
    char temporary[CSQLITE_NAME_SIZE];
};

/* Part of the name of a temporary file, and of a file system. */
static atomic_uint counter;

static struct files *files_of(sqlite3_vfs *vfs) { return (struct files *)vfs; }

static int is_own(const struct files *files, const char *name) {
    size_t length = strlen(files->path);
    if (strncmp(name, files->path, length) != 0) return 0;
    const char *rest = name + length;
    return !*rest || !strcmp(rest, "-journal") || !strcmp(rest, "-wal") || !strcmp(rest, "-shm");
}

static int open_file(sqlite3_vfs *vfs, const char *name, void *file, int flags, int *given) {
    struct files *files = files_of(vfs);
    sqlite3_vfs *real = files->real;
    if (name) {
        if (is_own(files, name)) return real->xOpen(real, name, file, flags, given);
    } else {
        /* Parameters follow a name; here there are none. */
        char place[CSQLITE_NAME_SIZE + 64] = {0};
        snprintf(
            place, sizeof place - 2, "%s/.cubby-%d-sqlite-%u.tmp", files->temporary, (int)getpid(),
            atomic_fetch_add(&counter, 1));
        int own = OPEN_READ_WRITE | OPEN_CREATE | OPEN_EXCLUSIVE | OPEN_DELETE_ON_CLOSE;
        return real->xOpen(real, place, file, flags | own, given);
    }
    memset(file, 0, sizeof(void *)); /* No methods: nothing to close. */
    return CANNOT_OPEN;
}

static int delete_file(sqlite3_vfs *vfs, const char *name, int sync) {
    struct files *files = files_of(vfs);
    return is_own(files, name) ? files->real->xDelete(files->real, name, sync) : DELETE_ERROR;
}

static int has_access(sqlite3_vfs *vfs, const char *name, int flags, int *result) {
    struct files *files = files_of(vfs);
    return is_own(files, name) ? files->real->xAccess(files->real, name, flags, result) : ACCESS_ERROR;
}

static int full_path(sqlite3_vfs *vfs, const char *name, int size, char *target) {
    const struct files *files = files_of(vfs);
    if (strcmp(name, files->path) != 0 || (size_t)size <= strlen(name)) return CANNOT_OPEN;
    strcpy(target, name);
    return OK;
}

static void *open_library(sqlite3_vfs *vfs, const char *name) { return (void)vfs, (void)name, NULL; }

static void library_error(sqlite3_vfs *vfs, int size, char *target) {
    (void)vfs;
    if (size > 0) snprintf(target, (size_t)size, "extensions are not loaded");
}

static void (*find_symbol(sqlite3_vfs *vfs, void *library, const char *name))(void) {
    return (void)vfs, (void)library, (void)name, NULL;
}

static void close_library(sqlite3_vfs *vfs, void *library) { (void)vfs, (void)library; }

static int randomness(sqlite3_vfs *vfs, int size, char *target) {
    sqlite3_vfs *real = files_of(vfs)->real;
    return real->xRandomness(real, size, target);
}

static int sleep_for(sqlite3_vfs *vfs, int microseconds) {
    sqlite3_vfs *real = files_of(vfs)->real;
    return real->xSleep(real, microseconds);
}

static int current_time(sqlite3_vfs *vfs, double *time) {
    sqlite3_vfs *real = files_of(vfs)->real;
    return real->xCurrentTime(real, time);
}

static int last_error(sqlite3_vfs *vfs, int size, char *target) {
    sqlite3_vfs *real = files_of(vfs)->real;
    return real->xGetLastError(real, size, target);
}

static int current_milliseconds(sqlite3_vfs *vfs, int64_t *time) {
    sqlite3_vfs *real = files_of(vfs)->real;
    return real->xCurrentTimeInt64(real, time);
}

sqlite3_vfs *csqlite_files_make(const struct csqlite_library *library, const char *path, const char *temporary) {
    sqlite3_vfs *real = library->sqlite3_vfs_find("unix");
    if (!real || real->iVersion < 2 || strlen(path) + 16 > CSQLITE_NAME_SIZE || strlen(temporary) >= CSQLITE_NAME_SIZE)
        return NULL;
    struct files *files = calloc(1, sizeof *files);
    if (!files) return NULL;
    snprintf(files->name, sizeof files->name, "cubby-%d-%u", (int)getpid(), atomic_fetch_add(&counter, 1));
    strcpy(files->path, path);
    strcpy(files->temporary, temporary);
    files->real = real;
    files->vfs = (sqlite3_vfs){
        .iVersion = 2,
        .szOsFile = real->szOsFile,
        .mxPathname = CSQLITE_NAME_SIZE,
        .zName = files->name,
        .xOpen = open_file,
        .xDelete = delete_file,
        .xAccess = has_access,
        .xFullPathname = full_path,
        .xDlOpen = open_library,
        .xDlError = library_error,
        .xDlSym = find_symbol,
        .xDlClose = close_library,
        .xRandomness = randomness,
        .xSleep = sleep_for,
        .xCurrentTime = current_time,
        .xGetLastError = last_error,
        .xCurrentTimeInt64 = current_milliseconds,
    };
    if (library->sqlite3_vfs_register(&files->vfs, 0) != OK) {
        free(files);
        return NULL;
    }
    return &files->vfs;
}

const char *csqlite_files_name(sqlite3_vfs *files) { return files->zName; }

void csqlite_files_free(const struct csqlite_library *library, sqlite3_vfs *files) {
    library->sqlite3_vfs_unregister(files);
    free(files);
}
