#ifndef CPLATFORM_H
#define CPLATFORM_H

/* What Linux offers and Swift cannot say: variadic calls, macros, flags newer than the system's headers, and calls that
   must do several steps on one thread without Swift in between. Unless a function says otherwise it returns a result of 0
   or more, or a negative error number (-ENOENT), so that errno need not survive the way back. */

#include <stddef.h>
#include <stdint.h>
#include <termios.h>

/* errors.c: strerror_r has two signatures, and which one is chosen by feature macros that Swift cannot set. */

/* Writes the text of an error number, always terminated, into `buffer`. */
void cubby_error_text(int error, char *buffer, size_t capacity);

/* threads.c */

/* The lowest address of the calling thread's stack: once looked up, it is kept for the thread. */
char *cubby_stack_end(void);

/* 1 when less of the stack is left than a step of a recursion over nested data may need: 96 KB, or a quarter of what there was
   when the thread first asked. */
int cubby_stack_is_short(void);

/* The kernel's id of the calling thread; the C library declares it for GNU sources only. */
int32_t cubby_thread_id(void);

/* How many processors this process may use, at least 1; the call and its macros are for GNU sources only, too. */
int32_t cubby_processor_count(void);

/* signals.c: signal sets and dispositions are macros, and the stop must happen on one thread step by step. */

/* Blocks SIGTSTP, SIGCONT, SIGTERM, SIGHUP, SIGINT, SIGWINCH, SIGTTIN and SIGTTOU, as far as they are not ignored, in the calling thread and in the threads
   that it makes from now on, and ignores SIGPIPE, so that a write to a closed pipe is an error and not the end. Call it
   at the top of main. A SIGINT that was set to be ignored is taken all the same by who reads the terminal in its foreground. */
int cubby_signals_block(void);

/* Waits for the next of the blocked signals and returns its number. */
int cubby_signals_wait(void);

/* Unblocks the signals that cubby_signals_block blocked, in the calling thread: before an exec, which keeps the mask. */
int cubby_signals_unblock_all(void);

/* Stops the process as SIGTSTP does by default, and returns when it was continued; at once when the process group is
   orphaned, where nobody could continue it. SIGTSTP must be blocked, and is again afterwards. */
int cubby_stop_until_continued(void);

/* terminal.c: ioctl is variadic, its request numbers are macros, and a handler of a crash may call nothing of Swift's. */

/* The size of a terminal in characters, and in pixels where it tells them, else 0. */
int cubby_tty_size(int fd, uint16_t *columns, uint16_t *rows, uint16_t *width, uint16_t *height);

/* Turns raw mode on: keys come one by one, without echo, signals off (Ctrl-C and Ctrl-Z come as bytes), output processing
   kept. The former settings go into `saved`. Refused with -EIO in a background process, where it would spoil the shell's terminal. */
int cubby_tty_raw(int fd, struct termios *saved);

/* Puts settings back that cubby_tty_raw saved. */
int cubby_tty_restore(int fd, const struct termios *saved);

/* Remembers how the terminal is now. A signal that ends the process, by a crash, Ctrl-\ or kill, finds it put back so,
   with the control sequences written first to `output`; what happened before at that signal happens afterwards. Once a process. */
int cubby_tty_rescue(int input, int output, const char *sequences);

/* Puts the terminal back as cubby_tty_rescue remembers it, and returns whether it did. Safe in a signal's handler. */
int cubby_tty_give_back(void);

/* mappings.c: a mapped file that shrinks raises SIGBUS, whose handler may call nothing of Swift's. */

/* Notes that a file is mapped: reading there what the file no longer has then ends the process with status 74 and a line
   on standard error that has `name`. A SIGBUS of any other address goes to the handler that was there before. */
int cubby_mapping_note(const void *address, size_t count, const char *name);

/* Forgets the mapping that begins at an address, before it is unmapped. */
void cubby_mapping_forget(const void *address);

/* streams.c: stdout and stderr are macros in some C libraries and mutable globals in all, which Swift 6 refuses. */

/* Whether reading standard input would wait: nothing was read ahead, nothing is there, and it has not ended. */
int cubby_input_is_empty(void);

/* Writes out what C streams still hold. */
int cubby_flush_output(void);

/* Puts bytes into standard output's stream, where Lua's io.write puts its own; and past any buffer to standard error. */
void cubby_write_output(const void *bytes, size_t count);
void cubby_write_error(const void *bytes, size_t count);

/* files.c: openat2 has no wrapper in the C library, and some flags are for GNU sources only. */

/* O_PATH and AT_EMPTY_PATH. */
extern const int32_t cubby_open_path;
extern const int32_t cubby_at_empty_path;

/* Flags of cubby_openat2, as the kernel defines them (linux/openat2.h). */
#define CUBBY_RESOLVE_NO_MAGICLINKS 0x02
#define CUBBY_RESOLVE_NO_SYMLINKS 0x04
#define CUBBY_RESOLVE_BENEATH 0x08

/* openat2(2). -ENOSYS where the kernel lacks it. */
int cubby_openat2(int directory, const char *path, int flags, uint32_t mode, uint64_t resolve);

/* Sets the disk to what was written to a file, without waiting. */
int cubby_begin_sync(int file);

/* events.c: eventfd's header is not among those that Swift's module of the C library has. */

/* A new event descriptor, non-blocking, closed on exec. */
int cubby_eventfd(void);

/* arguments.c: Swift reads /proc/self/cmdline, and has no arguments where /proc is not mounted. */

/* How many arguments the program was started with, its name among them, and each of them; NULL beyond the last. */
int32_t cubby_argument_count(void);
const char *cubby_argument(int32_t index);

/* The program's path as it was given to the kernel, or NULL. */
const char *cubby_program_path(void);

/* processes.c: pidfd_open has no wrapper in older C libraries, and waiting's results are macros. */

/* A descriptor that is readable when a process has ended. */
int cubby_pidfd_open(int32_t process);

/* Takes a child's end: 1 when it has ended, 0 while it runs (never when `waits`). */
int cubby_reap(int32_t process, int waits, int *code, int *is_signal);

/* sockets.c: the structure of SO_PEERCRED is for GNU sources only. */

/* The user of the process at the other end of a Unix socket. */
int64_t cubby_peer_user(int fd);

/* memory.c: malloc.h is not among the headers that Swift's Glibc shows. */

/* Gives freed memory back to the system. Returns 1 when there was some. */
int cubby_trim_memory(void);

/* work.c: Swift has no variables of a thread. */

/* Who is asked, on one thread, by work that takes long: whether it has to stop, and how many bytes it may still take. */
typedef struct {
    int (*is_stopped)(void *context);
    int64_t (*room)(void *context);
    void *context;
} cubby_watch;

/* Has the work of the calling thread ask somebody, or nobody, and returns who was asked before. */
cubby_watch cubby_watch_work(cubby_watch watch);

/* Whether the calling thread's work has to stop. */
int cubby_work_is_stopped(void);

/* How many bytes the calling thread's work may still take; INT64_MAX where nothing limits it. */
int64_t cubby_work_room(void);

/* Whether a folder is on a file system in memory (tmpfs). */
int cubby_is_in_memory(const char *path);

/* landlock.c: the system's header ends at ABI 2; the later rights are defined there. */

/* What a path may be used for; a combination of these. */
enum {
    CUBBY_LANDLOCK_READ = 1,
    CUBBY_LANDLOCK_WRITE = 2,
    CUBBY_LANDLOCK_EXECUTE = 4,
    /* Terminal and device controls on devices opened later (ABI 5). */
    CUBBY_LANDLOCK_DEVICE = 8,
    CUBBY_LANDLOCK_REMOVE_FOLDER = 16,
};

/* The kernel's Landlock ABI, 1 or more; -ENOSYS or -EOPNOTSUPP where there is none. */
int cubby_landlock_abi(void);

/* Makes a ruleset that handles everything that the ABI knows of the file system; with `deny_network` TCP bind and connect
   (ABI 4) as well, and with `deny_scopes` signals to and abstract sockets of processes outside (ABI 6). A descriptor. */
int cubby_landlock_ruleset(int abi, int deny_network, int deny_scopes);

/* Allows the uses given beneath a path, which is open with O_PATH. */
int cubby_landlock_allow(int ruleset, int abi, int path, int is_directory, int uses);

/* Puts the ruleset in force for the calling thread and those that it makes. It cannot be taken back. */
int cubby_landlock_restrict(int ruleset);

/* Has the processor fetch a line of memory into its caches. No address is a wrong one: nothing is read. */
static inline void cubby_prefetch(const void *address) { __builtin_prefetch(address); }

#endif
