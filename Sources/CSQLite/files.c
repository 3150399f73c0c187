/* A file system for one database: its file and SQLite's side files in one open folder, and temporary files in another.
 *
 * SQLite opens files by name. Here a name leads through the descriptor of the open folder (/proc/self/fd), so that
 * another file cannot be put in its place by exchanging a folder for a link; a link at its end is not followed.
 * Each read of a database checks for an interruption, since SQLite itself does so between its steps only.
 *
 * A journal beside a database may name any file as its super-journal, to be read and deleted: names other than the
 * database's own are always refused here. */
#include "files.h"
#include "CPlatform.h"
#include "work.h"

#include <fcntl.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
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

/* SQLite's own layouts for iVersion 3. */
struct methods {
    int iVersion;
    int (*xClose)(void *);
    int (*xRead)(void *, void *, int, int64_t);
    int (*xWrite)(void *, const void *, int, int64_t);
    int (*xTruncate)(void *, int64_t);
    int (*xSync)(void *, int);
    int (*xFileSize)(void *, int64_t *);
    int (*xLock)(void *, int);
    int (*xUnlock)(void *, int);
    int (*xCheckReservedLock)(void *, int *);
    int (*xFileControl)(void *, int, void *);
    int (*xSectorSize)(void *);
    int (*xDeviceCharacteristics)(void *);
    int (*xShmMap)(void *, int, int, int, void volatile **);
    int (*xShmLock)(void *, int, int, int);
    void (*xShmBarrier)(void *);
    int (*xShmUnmap)(void *, int);
    int (*xFetch)(void *, int64_t, int, void **);
    int (*xUnfetch)(void *, int64_t, void *);
};

/* A file as SQLite has it: its methods, then what is ours, then the file of the real file system. */
struct file {
    const struct methods *methods;
    int checks;
    const struct methods *real;
};

enum {
    OK = 0,
    INTERRUPTED = 9,
    CANNOT_OPEN = 14,
    ACCESS_ERROR = 10 | 13 << 8,
    DELETE_ERROR = 10 | 10 << 8,
    OPEN_READ_WRITE = 2,
    OPEN_CREATE = 4,
    OPEN_DELETE_ON_CLOSE = 8,
    OPEN_EXCLUSIVE = 16,
    OPEN_MAIN_DATABASE = 0x100,
    OPEN_TEMPORARY_DATABASE = 0x200,
    OPEN_TRANSIENT_DATABASE = 0x400,
};

/* SQLite may look for parameters around a name: there are none between so many NUL bytes. */
#define MARGIN 8
/* A name of at most 255 bytes and a suffix, behind the number of a descriptor. */
#define PLACE_SIZE (MARGIN + 40 + 256 + 8 + MARGIN)

enum { SIDES = 4 };
static const char *const suffixes[SIDES] = {"", "-journal", "-wal", "-shm"};

struct files {
    sqlite3_vfs vfs;
    sqlite3_vfs *real;
    int folder, temporary;
    char name[40];
    char path[CSQLITE_NAME_SIZE];
    char places[SIDES][PLACE_SIZE];
};

/* Part of the name of a temporary file, and of a file system. */
static atomic_uint counter;

static struct files *files_of(sqlite3_vfs *vfs) { return (struct files *)vfs; }

/* The real name of the database's file or one beside it; NULL for any other. */
static const char *place_of(const struct files *files, const char *name) {
    size_t length = strlen(files->path);
    if (strncmp(name, files->path, length) != 0) return NULL;
    for (int side = 0; side < SIDES; side++)
        if (!strcmp(name + length, suffixes[side])) return files->places[side] + MARGIN;
    return NULL;
}

/* A file's methods. */

#define REAL(file) (&((struct file *)(file))->real)
#define CALL(file, method, ...) ((struct file *)(file))->real->method(REAL(file), ##__VA_ARGS__)

static int file_close(void *file) { return CALL(file, xClose); }
static int file_read(void *file, void *target, int size, int64_t offset) {
    if (((struct file *)file)->checks && csqlite_must_stop()) return INTERRUPTED;
    return CALL(file, xRead, target, size, offset);
}
static int file_write(void *file, const void *bytes, int size, int64_t offset) {
    return CALL(file, xWrite, bytes, size, offset);
}
static int file_truncate(void *file, int64_t size) { return CALL(file, xTruncate, size); }
static int file_sync(void *file, int flags) { return CALL(file, xSync, flags); }
static int file_size(void *file, int64_t *size) { return CALL(file, xFileSize, size); }
static int file_lock(void *file, int level) { return CALL(file, xLock, level); }
static int file_unlock(void *file, int level) { return CALL(file, xUnlock, level); }
static int file_check_reserved(void *file, int *result) { return CALL(file, xCheckReservedLock, result); }
static int file_control(void *file, int operation, void *argument) {
    return CALL(file, xFileControl, operation, argument);
}
static int file_sector(void *file) { return CALL(file, xSectorSize); }
static int file_characteristics(void *file) { return CALL(file, xDeviceCharacteristics); }
static int file_shared_map(void *file, int region, int size, int extends, void volatile **target) {
    return CALL(file, xShmMap, region, size, extends, target);
}
static int file_shared_lock(void *file, int offset, int count, int flags) {
    return CALL(file, xShmLock, offset, count, flags);
}
static void file_shared_barrier(void *file) { CALL(file, xShmBarrier); }
static int file_shared_unmap(void *file, int removes) { return CALL(file, xShmUnmap, removes); }
static int file_fetch(void *file, int64_t offset, int size, void **target) {
    return CALL(file, xFetch, offset, size, target);
}
static int file_unfetch(void *file, int64_t offset, void *page) { return CALL(file, xUnfetch, offset, page); }

#define METHODS(version) \
    { \
        version, file_close, file_read, file_write, file_truncate, file_sync, file_size, file_lock, file_unlock, \
            file_check_reserved, file_control, file_sector, file_characteristics, file_shared_map, file_shared_lock, \
            file_shared_barrier, file_shared_unmap, file_fetch, file_unfetch, \
    }
/* SQLite asks for no more than a file's version has. */
static const struct methods methods[] = {METHODS(1), METHODS(2), METHODS(3)};

/* The file system's methods. */

static int open_file(sqlite3_vfs *vfs, const char *name, void *target, int flags, int *given) {
    struct files *files = files_of(vfs);
    sqlite3_vfs *real = files->real;
    struct file *file = target;
    file->methods = NULL; /* No methods: nothing to close. */
    file->real = NULL;
    file->checks = flags & (OPEN_MAIN_DATABASE | OPEN_TEMPORARY_DATABASE | OPEN_TRANSIENT_DATABASE);
    char unnamed[PLACE_SIZE] = {0};
    const char *place;
    if (name) {
        place = place_of(files, name);
        struct stat status;
        if (!place || (!lstat(place, &status) && !S_ISREG(status.st_mode))) return CANNOT_OPEN;
    } else {
        place = unnamed + MARGIN;
        snprintf(
            unnamed + MARGIN, sizeof unnamed - 2 * MARGIN, "/proc/self/fd/%d/.cubby-%d-sqlite-%u.tmp", files->temporary,
            (int)getpid(), atomic_fetch_add(&counter, 1));
        flags |= OPEN_READ_WRITE | OPEN_CREATE | OPEN_EXCLUSIVE | OPEN_DELETE_ON_CLOSE;
    }
    int result = real->xOpen(real, place, REAL(file), flags, given);
    if (file->real) {
        int version = file->real->iVersion;
        file->methods = &methods[version > 3 ? 2 : version < 1 ? 0 : version - 1];
    }
    return result;
}

static int delete_file(sqlite3_vfs *vfs, const char *name, int sync) {
    struct files *files = files_of(vfs);
    const char *place = place_of(files, name);
    return place ? files->real->xDelete(files->real, place, sync) : DELETE_ERROR;
}

static int has_access(sqlite3_vfs *vfs, const char *name, int flags, int *result) {
    struct files *files = files_of(vfs);
    const char *place = place_of(files, name);
    return place ? files->real->xAccess(files->real, place, flags, result) : ACCESS_ERROR;
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

int csqlite_open_folder(const char *path) {
    return open(path, cubby_open_path | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
}

sqlite3_vfs *csqlite_files_make(
    const struct csqlite_library *library, const char *path, int folder, int temporary) {
    sqlite3_vfs *real = library->sqlite3_vfs_find("unix");
    const char *slash = strrchr(path, '/');
    struct files *files = NULL;
    if (real && real->iVersion >= 2 && slash && strlen(slash + 1) < 256 && strlen(path) + 16 <= CSQLITE_NAME_SIZE)
        files = calloc(1, sizeof *files);
    if (!files) {
        close(folder);
        close(temporary);
        return NULL;
    }
    files->folder = folder;
    files->temporary = temporary;
    snprintf(files->name, sizeof files->name, "cubby-%d-%u", (int)getpid(), atomic_fetch_add(&counter, 1));
    strcpy(files->path, path);
    for (int side = 0; side < SIDES; side++)
        snprintf(
            files->places[side] + MARGIN, PLACE_SIZE - 2 * MARGIN, "/proc/self/fd/%d/%s%s", folder, slash + 1,
            suffixes[side]);
    files->real = real;
    files->vfs = (sqlite3_vfs){
        .iVersion = 2,
        .szOsFile = (int)offsetof(struct file, real) + real->szOsFile,
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
    if (library->sqlite3_vfs_register(&files->vfs, 0) == OK) return &files->vfs;
    csqlite_files_free(library, &files->vfs);
    return NULL;
}

const char *csqlite_files_name(sqlite3_vfs *files) { return files->zName; }

void csqlite_files_free(const struct csqlite_library *library, sqlite3_vfs *vfs) {
    struct files *files = files_of(vfs);
    library->sqlite3_vfs_unregister(vfs);
    close(files->folder);
    close(files->temporary);
    free(files);
}
