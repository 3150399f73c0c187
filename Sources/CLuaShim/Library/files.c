/* Lua's file objects: those of descriptors that the host has opened, and the standard streams, whose output is the
 * host's. C's streams are only reached through Lua's library. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "library.h"

/* Lua's functions use the stream, the first member. The host lists open files, to flush them at its end. */
struct clua_file {
    luaL_Stream stream;
    struct clua_file *next, **link;
    pid_t process; /* the program at the other end of a pipe; 0: none */
    int writes;
    /* Error numbers; 0: none. Of a write whose result the script has, for a file that it does not close; and of a flush
     * by the host, for the next who asks. */
    int code, unheard;
    int hasEnded, status; /* of a program that has ended before the file was made */
    char path[]; /* for messages */
};

static int close_file(lua_State *L);

static clua_file *own_file(luaL_Stream *stream) {
    return stream && stream->closef == close_file ? (clua_file *)stream : NULL;
}

/* Closes a file to or from a program that has ended. */
static int close_ended(lua_State *L, clua_file *file) {
    *file->link = file->next;
    if (file->next) file->next->link = file->link;
    fclose(file->stream.f);
    errno = 0; /* otherwise a status other than 0 would count as a system error */
    return luaL_execresult(L, file->status);
}

/* Closes the stream; 0 or an error number. */
static int close_stream(clua_file *file) {
    *file->link = file->next;
    if (file->next) file->next->link = file->link;
    return fclose(file->stream.f) == 0 ? 0 : errno;
}

/* Waits for the program; its status, or -1. */
static int wait_for(clua_host *host, const clua_file *file) {
    int status = 0;
    pid_t result;
    do result = waitpid(file->process, &status, 0);
    while (result < 0 && errno == EINTR);
    if (result > 0 && WIFEXITED(status) && WEXITSTATUS(status) && !host->failedStatus) {
        host->failedStatus = WEXITSTATUS(status);
        host->failedProgram = strdup(file->path);
    }
    return result < 0 ? -1 : status;
}

static int close_file(lua_State *L) {
    clua_file *file = luaL_checkudata(L, 1, LUA_FILEHANDLE);
    if (file->hasEnded) return close_ended(L, file);
    int code = close_stream(file);
    if (file->unheard) code = file->unheard;
    if (file->process) {
        int status = wait_for(host_of(L), file);
        /* A program may end without reading all; but what the disk or the kernel refused is not a success. */
        if (status != 0 || code == 0 || code == EPIPE) {
            if (status >= 0) errno = 0; /* otherwise a non-zero status would count as a system error */
            return luaL_execresult(L, status);
        }
    }
    errno = code;
    return luaL_fileresult(L, code == 0, NULL);
}

/* Counts bytes that a file of a script has lost without the script's hearing of it. */
static void record_lost(clua_host *host, const clua_file *file, int code) {
    if (code == 0 || !file->writes || (file->process && code == EPIPE)) return;
    if (host->lostFiles++) return;
    host->lostCode = code;
    host->lostPath = strdup(file->path);
}

/* __gc and __close: nobody has the result. One upvalue: Lua's own function, for the standard streams. */
static int leave_file(lua_State *L) {
    clua_file *file = own_file(luaL_testudata(L, 1, LUA_FILEHANDLE));
    if (!file) return lua_tocfunction(L, lua_upvalueindex(1))(L);
    file->stream.closef = NULL; /* closed */
    int code = close_stream(file);
    record_lost(host_of(L), file, file->unheard ? file->unheard : code ? code : file->code);
    if (file->process) wait_for(host_of(L), file);
    return 0;
}

void clua_flush_files(clua_host *host, int isLast) {
    for (clua_file *file = host->files; file; file = file->next) {
        if (!file->writes) continue;
        if (fflush(file->stream.f) != 0 && !file->unheard) file->unheard = errno;
        if (!isLast) continue;
        record_lost(host, file, file->unheard ? file->unheard : file->code);
        file->unheard = file->code = 0; /* said once */
    }
}

int clua_lost_files(const clua_host *host, int *code, const char **path) {
    *code = host->lostCode;
    *path = host->lostPath;
    return host->lostFiles;
}

int clua_failed_program(const clua_host *host, const char **command) {
    *command = host->failedProgram;
    return host->failedStatus;
}

int clua_pushfile(lua_State *L, int fd, const char *mode, int process, const char *path) {
    size_t length = strlen(path) + 1;
    clua_file *file = lua_newuserdatauv(L, sizeof *file + length, 0);
    memset(file, 0, sizeof *file); /* closed, in case a call below fails */
    memcpy(file->path, path, length);
    file->process = process > 0 ? process : 0;
    file->hasEnded = process < 0;
    file->status = process < 0 ? -1 - process : 0;
    file->writes = *mode != 'r' || strchr(mode, '+') != NULL;
    if (luaL_getmetatable(L, LUA_FILEHANDLE) != LUA_TTABLE) {
        lua_pop(L, 2);
        return 0;
    }
    lua_setmetatable(L, -2);
    file->stream.f = fdopen(fd, mode);
    if (!file->stream.f) {
        lua_pop(L, 1);
        return 0;
    }
    file->stream.closef = close_file;
    clua_host *host = host_of(L);
    file->next = host->files;
    file->link = &host->files;
    if (file->next) file->next->link = &file->next;
    host->files = file;
    return 1;
}

/* ---- The standard streams ---- */

/* Three upvalues: the host's function, which gets the stream's number before the arguments, Lua's own, and the streams
 * that are the host's, a bit each. The host's function may wait: it yields. */

static int number_of(const luaL_Stream *stream) {
    if (!stream || !stream->closef) return -1;
    return stream->f == stdin ? 0 : stream->f == stdout ? 1 : stream->f == stderr ? 2 : -1;
}

static int results(lua_State *L, int status, lua_KContext context) {
    (void)status;
    (void)context;
    return lua_gettop(L);
}

static int call_host(lua_State *L, int stream) {
    luaL_checkstack(L, 2, NULL);
    lua_pushvalue(L, lua_upvalueindex(1));
    lua_insert(L, 1);
    lua_pushinteger(L, stream);
    lua_insert(L, 2);
    lua_callk(L, lua_gettop(L) - 1, LUA_MULTRET, 0, results);
    return results(L, LUA_OK, 0);
}

static int stream_method(lua_State *L) {
    clua_check_stack(L);
    luaL_Stream *stream = luaL_testudata(L, 1, LUA_FILEHANDLE);
    int number = number_of(stream);
    if (number >= 0 && lua_tointeger(L, lua_upvalueindex(3)) & 1 << number) return call_host(L, number);
    for (int i = lua_gettop(L); i > 1; i--)
        if (lua_type(L, i) == LUA_TUSERDATA && clua_is_error(L, i)) clua_error_to_text(L, i);
    int count = lua_tocfunction(L, lua_upvalueindex(2))(L);
    clua_file *file = own_file(stream);
    /* nil, message, number: what Lua's functions return for a failure of C's. */
    if (file && count == 3 && lua_isnil(L, -3)) file->code = (int)lua_tointeger(L, -1);
    return count;
}

/* io.flush and io.read: the default files are always the standard streams. */
static int of_default(lua_State *L, const char *name, int stream) {
    clua_check_stack(L);
    luaL_checkstack(L, 1, NULL);
    lua_getfield(L, LUA_REGISTRYINDEX, name);
    lua_insert(L, 1);
    return call_host(L, stream);
}

static int flush_output(lua_State *L) {
    lua_settop(L, 0);
    return of_default(L, "_IO_output", 1);
}

static int read_input(lua_State *L) { return of_default(L, "_IO_input", 0); }

/* Replaces the function with a name in the table on top. Its body is Lua's own, also if the host counts its output. */
static void replace(lua_State *L, const char *name, lua_CFunction function) {
    lua_pushvalue(L, 2);
    lua_getfield(L, -2, name);
    if (lua_getupvalue(L, -1, 1)) lua_replace(L, -2);
    lua_pushvalue(L, 3);
    lua_pushcclosure(L, function, 3);
    lua_setfield(L, -2, name);
}

/* Takes the method's name, the function, and the streams. */
static int takestream_body(lua_State *L) {
    const char *name = luaL_checkstring(L, 1);
    lua_settop(L, 3);
    luaL_getmetatable(L, LUA_FILEHANDLE);
    lua_getfield(L, 4, "__index");
    replace(L, name, stream_method);
    int flushes = strcmp(name, "flush") == 0;
    if (!flushes && strcmp(name, "read") != 0) return 0;
    lua_getglobal(L, LUA_IOLIBNAME);
    replace(L, name, flushes ? flush_output : read_input);
    return 0;
}

int clua_takestream(lua_State *L) { return clua_protect(L, takestream_body, 3, 0); }

/* In every state: files that are left to the collector, or to the end of a block. */
void clua_watch_files(lua_State *L) {
    static const char *const methods[] = {"__gc", "__close", NULL};
    if (luaL_getmetatable(L, LUA_FILEHANDLE) == LUA_TTABLE) {
        for (const char *const *name = methods; *name; name++) clua_replace(L, *name, leave_file, 1);
    }
    lua_pop(L, 1);
}
