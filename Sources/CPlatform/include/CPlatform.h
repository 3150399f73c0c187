#ifndef CPLATFORM_H
#define CPLATFORM_H

/* Functions of the system that Swift cannot call: variadic calls, macros, flags newer than the system's headers, and
   calls with several steps on one thread without Swift in between. Unless stated otherwise a function returns a result
   of 0 or more, or a negative error number (-ENOENT), so that errno need not survive the return. */

#include <stddef.h>
#include <stdint.h>

/* Linux-specific calls have POSIX versions that return -ENOSYS, like an old kernel, where POSIX has no equivalent.
   CUBBY_PLAIN_POSIX tests these on Linux; they are untested on other systems. */
#if defined(__linux__) && !defined(CUBBY_PLAIN_POSIX)
#define CUBBY_LINUX 1
#else
#define CUBBY_LINUX 0
#endif

/* errors.c: strerror_r has two signatures, selected by feature macros that Swift cannot set. */

/* Writes the text of an error number into `buffer`, always terminated. */
void cubby_error_text(int error, char *buffer, size_t capacity);

/* build.c */

/* The build's source and compiler, set by the scripts: `1a2b3c4d5e6f, Swift 6.3.1`; empty in a manual build. */
const char *cubby_build(void);

/* threads.c */

/* The lowest address of the calling thread's stack, cached per thread. */
char *cubby_stack_end(void);

/* 1 if less stack is left than one recursion step over nested data may need: 96 KB, or a quarter of the stack left at
   the thread's first call. */
int cubby_stack_is_short(void);

/* Starts a detached thread, or a joinable one, whose pthread_t is stored in `joined`. It blocks all signals except its
   own faults; signal sets are macros on some systems. `stack` is its size in bytes; 0: the default. */
int cubby_thread_start(size_t stack, void *(*run)(void *argument), void *argument, void *joined);

/* The calling thread's kernel id; the C library's declaration requires _GNU_SOURCE. */
int32_t cubby_thread_id(void);

/* The number of processors available to this process, at least 1; the call and its macros require _GNU_SOURCE. */
int32_t cubby_processor_count(void);

/* A moment in a loop that waits for another thread: an instruction of the processor, which Swift has not. */
static inline void cubby_pause(void) {
#if defined __x86_64__ || defined __i386__
    __builtin_ia32_pause();
#elif defined __aarch64__
    __asm__ volatile("isb");
#endif
}

/* clock.c */

/* What a thread's code sees of the clocks, apart from the system's. */
typedef struct cubby_thread_clock {
    /* Nanoseconds by which the monotonic clock is ahead. */
    int64_t lead;
    /* The wall clock in nanoseconds since 1970, if it is set. */
    int64_t wall;
    int32_t is_set;
} cubby_thread_clock;

cubby_thread_clock cubby_clock(void);
void cubby_set_clock(cubby_thread_clock clock);

/* signals.c: signal sets and dispositions are macros, and the stop must happen on one thread step by step. */

/* Blocks SIGTSTP, SIGCONT, SIGTERM, SIGHUP, SIGINT, SIGWINCH, SIGTTIN and SIGTTOU, unless they are ignored, in the
   calling thread and its later threads, and ignores SIGPIPE, so that a write to a closed pipe is an error. Called at
   the start of main. An ignored SIGINT is handled nevertheless in a terminal's foreground, and an ignored SIGCHLD is not
   ignored any more, since the statuses of children would be lost. */
int cubby_signals_block(void);

/* Waits for the next of the blocked signals and returns its number. */
int cubby_signals_wait(void);

/* Stops the process as SIGTSTP or SIGTTIN does by default, and returns 0 after the continuation; immediately in an
   orphaned process group, which no process could continue, or if SIGTTIN is ignored. The signal must be blocked, and is
   blocked again afterwards. The function, or NULL, is called when the stop is pending: if it returns non-zero, the stop
   is dropped, and the result is 1. */
int cubby_stop_until_continued(int number, int (*is_cancelled)(void *), void *context);

/* terminal.c: ioctl is variadic, its request numbers are macros, and a crash handler may not call Swift. */

/* The size of a terminal in characters, and in pixels if it reports them, else 0. */
int cubby_tty_size(int fd, uint16_t *columns, uint16_t *rows, uint16_t *width, uint16_t *height);

/* Saves the terminal's settings. A signal that ends the process, by a crash, Ctrl-\ or kill, first restores them and
   writes the control sequences to `output`; then its former action is performed. Once per process. */
int cubby_tty_rescue(int input, int output, const char *sequences);

/* Restores the settings that cubby_tty_rescue saved; returns whether it did. Safe in a signal handler. */
int cubby_tty_give_back(void);

/* mappings.c: a mapped file that shrinks raises SIGBUS, whose handler may not call Swift. */

/* Registers a mapping of a file: access beyond the file's end then ends the process with status 74 and a line on
   standard error with `name`. A SIGBUS at any other address calls the former handler. */
int cubby_mapping_record(const void *address, size_t count, const char *name);

/* Removes the mapping that begins at an address, before it is unmapped. */
void cubby_mapping_forget(const void *address);

/* streams.c: every write to a descriptor, with a result that a caller cannot drop; stdin and stdout are macros in some
   C libraries and mutable globals in all, which Swift 6 rejects. */

#define CUBBY_RESULT_MATTERS __attribute__((warn_unused_result))

/* Writes all bytes, waiting where a non-blocking descriptor is full. Returns how many were written: if fewer than
   `count`, errno says why. */
CUBBY_RESULT_MATTERS size_t cubby_write(int descriptor, const void *bytes, size_t count);

/* The same at an offset of a file. */
CUBBY_RESULT_MATTERS size_t cubby_write_at(int descriptor, const void *bytes, size_t count, int64_t offset);

/* Writes what a descriptor, or a socket without waiting, accepts at once; repeated only after a signal. Returns the
   number of bytes; below zero, errno says why. */
CUBBY_RESULT_MATTERS int64_t cubby_write_some(int descriptor, const void *bytes, size_t count);
CUBBY_RESULT_MATTERS int64_t cubby_send_some(int descriptor, const void *bytes, size_t count);

/* Flushes C's own standard output, which code of others in this process may use. Returns 0 or an error number. */
CUBBY_RESULT_MATTERS int cubby_flush_output(void);

/* files.c: openat2 has no wrapper in the C library, and some flags require _GNU_SOURCE. */

/* O_PATH and AT_EMPTY_PATH. */
extern const int32_t cubby_open_path;
extern const int32_t cubby_at_empty_path;

/* Flags of cubby_openat2, as the kernel defines them (linux/openat2.h). */
#define CUBBY_RESOLVE_NO_MAGICLINKS 0x02
#define CUBBY_RESOLVE_NO_SYMLINKS 0x04
#define CUBBY_RESOLVE_BENEATH 0x08

/* openat2(2). -ENOSYS if the kernel lacks it. */
int cubby_openat2(int directory, const char *path, int flags, uint32_t mode, uint64_t resolve);

/* renameat2(2) that replaces nothing: -EEXIST if there is something at the new path. Where the file system cannot do
   that, the new path is examined first. */
int cubby_rename_new(int directory, const char *path, int new_directory, const char *new_path);

/* Opens a file without a name, in memory, for reading and writing; closed on exec. */
int cubby_open_in_memory(void);

/* A file's creation time, in nanoseconds since 1970; -1 if the file system does not store it. */
int64_t cubby_birth_time(int file);

/* Starts writing a file's data to the disk, without waiting. */
int cubby_begin_sync(int file);

/* events.c: Swift's module of the C library lacks the headers of eventfd and timerfd. */

/* A new event descriptor, non-blocking, closed on exec. */
int cubby_eventfd(void);

/* A timer of the wall clock: a descriptor, non-blocking, closed on exec. */
int cubby_wall_timer(void);

/* Makes the timer readable at a time in seconds since 1970, or when the clock is set; 0: never. Returns -ECANCELED if
   the clock was set since the last read; the timer is set nevertheless. */
int cubby_wall_timer_set(int fd, int64_t seconds);

/* watching.c: what happens in folders, by inotify. */

/* What has happened, combinable. */
enum {
    CUBBY_FOLDER_CREATED = 1,
    /* A file that was open for writing was closed. */
    CUBBY_FOLDER_CLOSED = 2,
    CUBBY_FOLDER_WRITTEN = 4,
    CUBBY_FOLDER_REMOVED = 8,
    CUBBY_FOLDER_MOVED_FROM = 16,
    CUBBY_FOLDER_MOVED_TO = 32,
    /* The watched folder itself is gone. */
    CUBBY_FOLDER_ENDED = 64,
    CUBBY_FOLDER_MOVED_ITSELF = 128,
    /* The watch has ended. */
    CUBBY_FOLDER_IGNORED = 256,
    /* The kernel's queue was full: events are lost. */
    CUBBY_FOLDER_OVERFLOW = 512,
    CUBBY_FOLDER_IS_FOLDER = 1024,
};

/* An event. `name` is not terminated, and empty for the folder itself; both halves of a move have the same cookie. */
typedef struct {
    int32_t watch;
    uint32_t flags;
    uint32_t cookie;
    const char *name;
    size_t length;
} cubby_folder_event;

/* A descriptor of a queue of events, non-blocking, closed on exec. */
int cubby_folder_events_open(void);

/* Watches an open folder, with `all_writes` also each write to a file in it. Returns the watch's number, which is the same
   for the same folder. Needs /proc. */
int cubby_folder_events_add(int fd, int folder, int all_writes);

/* Ends a watch. */
void cubby_folder_events_remove(int fd, int watch);

/* Reads the next events as bytes; 0: there are none. */
ptrdiff_t cubby_folder_events_read(int fd, void *buffer, size_t capacity);

/* Takes the next event of these bytes, and moves the offset; 0 at their end. */
int cubby_folder_event_next(const void *buffer, size_t count, size_t *offset, cubby_folder_event *event);

/* 1 if any process has an open file, which this one has opened for reading, open for writing; else 0. A negative error
   number where that cannot be known: the file belongs to another user, or the file system has no leases. */
int cubby_file_has_writer(int file);

/* arguments.c: Swift reads /proc/self/cmdline, which may not be mounted. */

/* The number of arguments, including the program's name, and each of them; NULL beyond the last. */
int32_t cubby_argument_count(void);
const char *cubby_argument(int32_t index);

/* The program's path as passed to the kernel, or NULL. */
const char *cubby_program_path(void);

/* processes.c: pidfd_open has no wrapper in older C libraries, and Swift cannot use the status macros of wait. */

/* A descriptor that becomes readable when a process ends. */
int cubby_pidfd_open(int32_t process);

/* Adds to posix_spawn's file actions that the child starts in an open folder. Returns 0 or a negative error number. */
int cubby_spawn_in(void *file_actions, int folder);

/* Reaps a child: 1 if it has ended, 0 while it runs (never with `waits`). */
int cubby_reap(int32_t process, int waits, int *code, int *is_signal);

/* sockets.c: the structure of SO_PEERCRED requires _GNU_SOURCE. */

/* The user of the process at the other end of a Unix socket. */
int64_t cubby_peer_user(int fd);

/* memory.c: Swift's Glibc module lacks malloc.h. */

/* Returns freed memory to the system. Returns 1 if there was any. */
int cubby_trim_memory(void);

/* work.c: Swift has no thread-local variables. */

/* Replaces what one caller on this thread has noted for another, an engine for its executor; returns the former note. */
void *cubby_thread_handover(void *object);

/* The checks of long work on a thread: whether it is interrupted, and how many bytes it may still use. */
typedef struct {
    int (*is_stopped)(void *context);
    int64_t (*capacity)(void *context);
    void *context;
} cubby_watch;

/* Sets the calling thread's checks, or none, and returns the former ones. */
cubby_watch cubby_watch_work(cubby_watch watch);

/* Whether the calling thread's work is interrupted. */
int cubby_work_is_stopped(void);

/* The same, looked at in each 1,024th call on the thread, and in every call after an interruption: for loops within
 * loops, of which each is short. */
int cubby_work_is_stopped_at_step(void);

/* The number of bytes that the calling thread's work may still use; INT64_MAX without a limit. */
int64_t cubby_work_capacity(void);

/* Whether a folder is on an in-memory file system (tmpfs). */
int cubby_is_in_memory(const char *path);

/* landlock.c: the system's header ends at ABI 2; later rights are defined there. */

/* The permitted uses of a path, combinable. */
enum {
    CUBBY_LANDLOCK_READ = 1,
    CUBBY_LANDLOCK_WRITE = 2,
    CUBBY_LANDLOCK_EXECUTE = 4,
    /* Terminal and device controls on devices opened later (ABI 5). */
    CUBBY_LANDLOCK_DEVICE = 8,
    CUBBY_LANDLOCK_REMOVE_FOLDER = 16,
    /* All changes of files and folders, including devices, sockets and pipes. */
    CUBBY_LANDLOCK_CHANGE = 32,
};

/* The kernel's Landlock ABI, 1 or more; -ENOSYS or -EOPNOTSUPP without Landlock. */
int cubby_landlock_abi(void);

/* Makes a ruleset for all file system rights of the ABI; with `deny_network` also TCP bind and connect (ABI 4), and
   with `deny_scopes` signals to and abstract sockets of outside processes (ABI 6). A descriptor. */
int cubby_landlock_ruleset(int abi, int deny_network, int deny_scopes);

/* Makes a ruleset that only restricts changes, not reading and executing, or TCP (ABI 4), or both. A descriptor. */
int cubby_landlock_change_ruleset(int abi, int deny_changes, int deny_network);

/* Allows uses beneath a path that is open with O_PATH. */
int cubby_landlock_allow(int ruleset, int abi, int path, int is_directory, int uses);

/* Enforces the ruleset for the calling thread and its later threads, irrevocably. */
int cubby_landlock_restrict(int ruleset);

/* Allows TCP connections to a port of any machine, or, with `listens`, to listen on it. Returns 0 or a negative error
   number. */
int cubby_landlock_allow_port(int ruleset, int abi, int port, int listens);

/* Prefetches a cache line. Any address is valid, since it is not read. */
static inline void cubby_prefetch(const void *address) { __builtin_prefetch(address); }

#endif
