/* Makes every Lua function that can raise callable from Swift.
 *
 * Why C: Lua raises errors by longjmp, and a longjmp over a Swift frame leaks the frame's references and corrupts its
 * exclusivity records. So lua.h is not visible to Swift. Swift uses this header, whose functions are of three kinds:
 *
 *   plain      cannot raise, by the manual's own indicator (`-`);
 *   allocating raises only when memory runs out (`m`). Swift calls these while `enforce` is off: the allocator then never
 *              refuses, so they cannot raise. The debt is counted, and the VM's own next allocation fails instead;
 *   protected  may run any Lua code (`e`, `v`): the body runs inside lua_pcall, with `enforce` on.
 *
 * A Swift function called from Lua returns a status to its trampoline, and the trampoline raises or yields after Swift's
 * frames are gone. Nothing else in the project includes <lua.h>.
 *
 * Layers, ground first: Host; Library; Objects, Debugger. The host's record with its limits, interrupts and the protected
 * call; Lua's library functions, interruptible; trampolines and objects, and beside them the debugger, which the others
 * call by a pointer in the record. state.c puts them together. scripts/lib/layers.py refuses calls from below. */
#ifndef CLUASHIM_H
#define CLUASHIM_H

#include <stddef.h>
#include <stdint.h>

typedef struct lua_State lua_State;
typedef struct clua_host clua_host;
typedef struct clua_class clua_class;
typedef struct clua_account clua_account;

/* The statuses of a Swift function called from Lua, in addition to a number of results. */
#define CLUA_RAISE (-1)      /* raise the value on top of the stack as it is */
#define CLUA_RAISE_HERE (-2) /* the same for a string, with the caller's position in front */
#define CLUA_WAIT (-3)       /* yield to the host; when it resumes, the continuation on the stack returns the results */

/* The reasons of an interrupt; several bits may be pending. */
#define CLUA_INTERRUPT_EVENTS 1   /* the host has pending events */
#define CLUA_INTERRUPT_CANCEL 2   /* stop the running chunk */
#define CLUA_INTERRUPT_DEADLINE 4 /* its deadline has passed */
#define CLUA_INTERRUPT_MEMORY 8   /* scripts are near their memory limit */
#define CLUA_INTERRUPT_SAMPLE 32  /* a profiler samples the call stack */
#define CLUA_INTERRUPT_URGENT 16  /* another pending reason will probably stop the chunk: host functions end early */

/* The Swift side: nonisolated @convention(c) functions without captures. */
typedef struct {
    int (*call)(void *function, lua_State *L);
    int (*method)(void *function, void *object, lua_State *L); /* object: NULL for a receiver of another class */
    int (*get)(void *accessor, void *object, lua_State *L);
    int (*set)(void *accessor, void *object, lua_State *L);
    int (*interrupt)(void *owner, lua_State *L, int reasons); /* 0: resume; CLUA_RAISE: the error is on the stack */
    /* Pushes the error by which `by`, the owner of an outer state, stops the code of this one. */
    void (*stop)(void *owner, void *by, lua_State *L);
    void (*release)(void *object);
    /* The script is at a break: `number` is the breakpoint's. 0: continue; CLUA_RAISE: stop, error on the stack. */
    int (*pause)(void *owner, lua_State *L, int reason, int number);
    /* Whether a breakpoint is in a chunk of this name, in Lua's notation; runs no code of scripts. */
    int (*matches)(void *owner, const char *name, int number);
    /* A line of a chunk begins, while lines are observed; runs no code of scripts. */
    void (*line)(void *owner, const char *name, int line);
} clua_callbacks;

/* ---- State (state.c, host.c) ---- */
/* The Lua release of the headers, `Lua 5.4.4`: Swift cannot read a macro made of several strings. */
const char *clua_release(void);
clua_host *clua_open(const clua_callbacks *callbacks, void *owner, size_t memoryLimit);
void clua_set_owner(clua_host *host, void *owner);
void clua_close(clua_host *host);
lua_State *clua_current(clua_host *host);
clua_host *clua_host_of(lua_State *L);
void *clua_owner(lua_State *L);
/* Called before each use of the state: 1 if this thread may use it, 0 while its code runs on another one. */
int clua_use(clua_host *host);
size_t clua_used(const clua_host *host);
size_t clua_peak(const clua_host *host);
/* What a piece of work takes, from steps on the state's thread (usage.c). Zeroed before the first step. */
typedef struct {
    uint64_t nanoseconds; /* of the thread's processor time */
    size_t peak;          /* the highest use of memory in a step */
    uint64_t startTime;   /* of the step */
} clua_usage;
void clua_begin_step(clua_host *host, clua_usage *usage); /* steps are not nested */
void clua_end_step(clua_host *host, clua_usage *usage);
size_t clua_limit(const clua_host *host);
void clua_set_limit(clua_host *host, size_t bytes);
/* For tests: the n-th allocation from now that can fail, fails, and so do those after it, `count` in all (0: without
 * end); an n of 0 disables that. Lua retries after a full collection: with a count of 1 the retry succeeds, with 2 it
 * raises. Returns the number of allocations since the last call. */
unsigned long clua_fail_allocation(clua_host *host, unsigned long n, unsigned long count);
/* The host's alternative, besides __close, in the message that refuses __gc; the text outlives the state. */
void clua_set_finalizer_hint(clua_host *host, const char *text);
/* A value that does not fit into the memory limit is refused: a push leaves something small in its place, and what
 * follows is refused, too. The next protected entry, or the return to the script, raises an error. Takes the refusal
 * from them: 1 if there was one. */
int clua_take_denial(clua_host *host);
int clua_is_refusing(const clua_host *host);
/* 1: nothing is refused, while the host pushes an error; 0: the end of that. Drops a refusal. */
void clua_exempt(clua_host *host, int isExempt);
/* Whether the host may push this many more bytes; if not, they count as refused. */
int clua_reserve(lua_State *L, size_t bytes);
/* The limit for which the last error was raised, until code runs again from the outside; 0: none. */
#define CLUA_EXCEEDED_OUTPUT 1
#define CLUA_EXCEEDED_DEPTH 2
#define CLUA_EXCEEDED_MEMORY 3
int clua_exceeded(const clua_host *host);
void clua_set_exceeded(clua_host *host, int limit);
/* The class of the host's errors, which functions of Lua's library take for their texts. */
void clua_set_error_class(clua_host *host, const clua_class *cls);
int clua_depth(const clua_host *host);
void clua_drain_releases(clua_host *host);
/* The same once no code of the state runs: a script may depend on the time at which the host's objects end. */
void clua_settle_releases(clua_host *host);
size_t clua_live_objects(const clua_host *host);
void clua_collect(clua_host *host);

/* ---- Memory by environment (account.c) ---- */
/* Makes an account with a limit in bytes, of which the caller has a reference; NULL: no memory. */
clua_account *clua_open_account(clua_host *host, size_t limit);
/* Any thread, also after the state's end. */
void clua_release_account(clua_account *account);
void clua_read_account(const clua_account *account, size_t *used, size_t *peak);
/* Ends those that nobody has a reference of: what is left of them is the state's. None of them may be charged. */
void clua_end_accounts(clua_host *host);
/* Charges an account with what is allocated from now on; NULL: the state's. */
void clua_charge(clua_host *host, clua_account *account);
/* The limit of the environment that was last refused memory; 0: it was the state's. */
size_t clua_denied_limit(const clua_host *host);
/* For tests: what all accounts have in use, which is what clua_used says. */
size_t clua_sum_accounts(const clua_host *host);

/* Output of print, io.write and the standard streams' write is counted. The first write beyond the limit (0: none)
 * raises, later ones are dropped: output during unwinding must not raise another error. */
#define CLUA_OUTPUT_FITS 0
#define CLUA_OUTPUT_RAISES 1
#define CLUA_OUTPUT_DROPPED 2
void clua_set_output_limit(clua_host *host, size_t bytes);
int clua_count_output(clua_host *host, size_t bytes);
size_t clua_output(const clua_host *host);
size_t clua_output_limit(const clua_host *host);
void clua_reset_output(clua_host *host);
/* Restores an earlier count. */
void clua_set_output(clua_host *host, size_t bytes);

/* ---- Call depth (depth.c) ---- */
/* Maximum number of active calls, of all coroutines that have resumed one another; 0: Lua's own limit. */
void clua_set_call_limit(clua_host *host, int calls);

/* ---- Interrupts (interrupt.c, signal.c, thread.c) ---- */
/* Any thread: adds the reasons and interrupts the VM at its next instruction. A CANCEL applies to the running code:
 * without any it is dropped when the next code starts. The other reasons remain pending. */
void clua_interrupt(clua_host *host, int reasons);
/* The pending reasons, without a deadline. */
int clua_pending(const clua_host *host);
/* Any thread: a number that changes whenever the VM serves interrupts. */
unsigned long clua_beats(const clua_host *host);
/* Any other thread: what the state's thread runs, and the line that called it, as text; asked by a signal. Returns its
 * length; 0 without an answer in time. One thread may ask at a time. */
int clua_ask_place(clua_host *host, char *text, size_t size, int milliseconds);
/* Whether the system has a timer for deadlines. */
int clua_keeps_time(void);
/* Seconds from now at which the running code is interrupted with DEADLINE; 0 or less disables it. */
void clua_set_deadline(clua_host *host, double seconds);
/* After `interrupt` requested a raise, every frame above this depth of protected calls raises again until it is
 * unwound. */
void clua_abort_above(clua_host *host, int depth);

/* A function, or a call of it; `source` in Lua's abbreviated form. */
typedef struct {
    char source[128];
    const char *name;
    int line;
    int definedAt;
    int isC;
    int isMain; /* the main function of a chunk */
} clua_frame;

/* ---- Debugger (debugger.c, frames.c, lines.c) ---- */
/* The reasons of a break, bits. */
#define CLUA_BREAK_CALL 1       /* requested by the script */
#define CLUA_BREAK_LINE 2       /* a breakpoint */
#define CLUA_BREAK_STEP 4
#define CLUA_BREAK_ERROR 8      /* its value: clua_pusherror */
/* Steps: to the next executed line in any function; in this function or its callers; in its callers. */
#define CLUA_STEP_NONE 0
#define CLUA_STEP_IN 1
#define CLUA_STEP_OVER 2
#define CLUA_STEP_OUT 3
/* The errors that cause a break. */
#define CLUA_ERRORS_NONE 0
#define CLUA_ERRORS_UNCAUGHT 1
#define CLUA_ERRORS_ALL 2
/* Adds a breakpoint; the callback `matches` decides of which chunks. 0: no memory. */
int clua_add_breakpoint(clua_host *host, int line, int number);
void clua_remove_breakpoints(clua_host *host);
void clua_set_error_breaks(clua_host *host, int errors);
/* Has `line` called for each line that begins, or no longer. */
void clua_observe_lines(clua_host *host, int observes);
/* Steps from the function at the break or, without one, to the next executed line. */
void clua_take_step(clua_host *host, int step);
/* Whether a chunk's name, in Lua's notation, matches a path: one is a suffix of the other, at a slash. */
int clua_matches(const char *name, const char *path);
/* Breaks in the caller of the running function; 0 or CLUA_RAISE, like `pause`. */
int clua_pause(lua_State *L);
/* Whether running code is being stopped. */
int clua_is_unwinding(const clua_host *host);
/* Pushes the value of the error at the break. */
void clua_pusherror(clua_host *host, lua_State *to);
/* The functions at the break, innermost first, through all coroutines that have resumed one another. A zeroed place
 * precedes the first; 0: no more. */
typedef struct {
    const void *resumption;
    lua_State *L;
    int level;
    int coroutine; /* its number, counted from 0 */
} clua_place_of_call;
int clua_next_call(clua_host *host, clua_place_of_call *place, clua_frame *frame);
/* Moves the place outwards so that at most so many functions follow; returns the number of those passed over. */
int clua_skip_calls(clua_place_of_call *place, int remaining);
/* Pushes on `to` the n-th local variable, from 1, or extra argument, from -1 downwards; its name, or NULL: none. */
const char *clua_get_local(lua_State *L, int level, int n, lua_State *to);
/* Pops the value on top of `from` and assigns it; 0: no such variable. */
int clua_set_local(lua_State *L, int level, int n, lua_State *from);
const char *clua_get_upvalue(lua_State *L, int level, int n, lua_State *to);
int clua_set_upvalue(lua_State *L, int level, int n, lua_State *from);
/* The lines with code of the function on top and of nested functions, unordered; returns their number, which may exceed
 * the capacity. 0: unknown. */
size_t clua_code_lines(lua_State *L, int *lines, size_t capacity);

/* ---- Stack, plain (stack.c) ---- */
int clua_gettop(lua_State *L);
void clua_settop(lua_State *L, int index); /* a Swift frame's part of the stack has no to-be-closed slots */
int clua_absindex(lua_State *L, int index);
int clua_checkstack(lua_State *L, int n);
int clua_type(lua_State *L, int index);
int clua_isinteger(lua_State *L, int index);
const char *clua_typename(int type);
int clua_numbertext(double value, char *text, size_t size); /* like tostring; returns its length. 32 bytes suffice */
int clua_toboolean(lua_State *L, int index);
int64_t clua_tointeger(lua_State *L, int index, int *ok);
double clua_tonumber(lua_State *L, int index, int *ok);
const char *clua_tostring(lua_State *L, int index, size_t *length); /* NULL for other types: never converts */
const void *clua_topointer(lua_State *L, int index);
lua_State *clua_tothread(lua_State *L, int index);
size_t clua_rawlen(lua_State *L, int index);
void clua_pushnil(lua_State *L);
void clua_pushboolean(lua_State *L, int value);
void clua_pushinteger(lua_State *L, int64_t value);
void clua_pushnumber(lua_State *L, double value);
void clua_pushvalue(lua_State *L, int index);
void clua_replacevalue(lua_State *L, int index); /* pops the value that replaces that at the index */
int clua_rawget(lua_State *L, int index);
int clua_getmetatable(lua_State *L, int index);
void clua_setmetatable(lua_State *L, int index);
int clua_getref(lua_State *L, int ref);
void clua_unref(lua_State *L, int ref);
int clua_setupvalue(lua_State *L, int index, int n);

/* ---- Stack, allocating (stack.c) ---- */
void clua_pushlstring(lua_State *L, const char *bytes, size_t length);
void clua_pushcstring(lua_State *L, const char *text, size_t length); /* zero-terminated; may contain zeros */
void clua_createtable(lua_State *L, int array, int hash);
void clua_rawseti(lua_State *L, int index, int64_t n);
void clua_rawset(lua_State *L, int index); /* the key is neither nil nor NaN */
int clua_ref(lua_State *L);
lua_State *clua_newthread(lua_State *L);
void clua_pushglobals(lua_State *L);

/* Gives the bytecode of the Lua function on top, in pieces; cannot raise, and needs no memory (chunks.c). */
void clua_dump(lua_State *L, void (*take)(void *context, const void *bytes, size_t length), void *context);

/* The function at a level of the call stack; 0 if there is none. */
int clua_getframe(lua_State *L, int level, clua_frame *frame);
/* The active calls of a coroutine, innermost first, and those of the coroutines that have resumed it, if it is running.
 * Returns their number, at most `capacity`. */
int clua_getcalls(lua_State *L, int isRunning, clua_frame *frames, int capacity);
const char *clua_getsource(lua_State *L, int level); /* the chunk's name, while its function is on the stack */
/* The same for the function on top of the stack, which it pops. */
void clua_getfunction(lua_State *L, clua_frame *frame);

/* ---- Protected entries (protected.c, chunks.c, coroutine.c). 0: success; else the error value is on top ---- */
int clua_load(lua_State *L, const char *bytes, size_t length, const char *name);
/* Loads what clua_dump gave in this process, and nothing else: the VM does not verify bytecode. */
int clua_load_dumped(lua_State *L, const void *bytes, size_t length);
int clua_pcall(lua_State *L, int arguments, int results);
/* 0 finished, 1 yielded; else an error. `results` values are on co's stack. In a program of its own host functions may
 * wait: CLUA_WAITS. */
#define CLUA_WAITS (-1)
int clua_resume(lua_State *co, lua_State *from, int arguments, int *results, int isProgram);
void clua_resetthread(lua_State *co);
int clua_isyieldable(lua_State *L);
int clua_gettable(lua_State *L, int index);                /* pops the key, pushes the value */
int clua_getfield(lua_State *L, int index, const char *name); /* pushes the value */
int clua_settable(lua_State *L, int index);                /* pops the value and the key */
int clua_next(lua_State *L, int index, int *more);         /* like lua_next */
/* lua_next itself, for a table that does not change between two steps, so that it cannot raise. */
int clua_nextentry(lua_State *L, int index);

/* ---- Rows of texts as tables (textrow.c) ---- */
typedef struct clua_text {
    const char *bytes; /* NULL for no text */
    size_t length;
} clua_text;
/* Pushes a table with the texts under the names, which a table at an index has from 1 on. */
void clua_pushtextrow(lua_State *L, int names, const clua_text *texts, int count);
#define CLUA_TEXT_SAME 0
#define CLUA_TEXT_OTHER 1
#define CLUA_TEXT_NONE 2
/* Compares the table at an index with texts: what it has under each name, the same text, another value or none.
 * Returns the number of its entries under other keys. */
int clua_comparetextrow(
    lua_State *L, int index, int names, const clua_text *texts, int count, unsigned char *states);

int clua_compare(lua_State *L, int a, int b, int operation, int *result); /* 0 ==, 1 <, 2 <= */
int clua_tolstring(lua_State *L, int index);               /* pushes the text, by __tostring or __name */
int clua_openlib(lua_State *L, const char *name);          /* one standard library; its table is left on the stack */
/* Pushes three functions for the makers of environments: error(message), with the script's place, copy(table, others),
 * and newRandom(random, randomseed), which returns these functions with separate random numbers. */
void clua_pushenvironmenttools(lua_State *L);
/* Replaces a method of standard streams: pops its name, the function, and the streams, a bit for each descriptor.
 * `flush` is io.flush, too, and `read` io.read. The function gets the stream's number, then the method's arguments. */
int clua_takestream(lua_State *L);
int clua_pushnumeral(lua_State *L, const char *text); /* 0, and nothing pushed, for another text */
int clua_iscallable(lua_State *L, int index);         /* a function, or a value with __call */
int clua_was_out_of_memory(int status);
int clua_was_syntax_error(int status);
/* The traceback of the error that a protected entry just returned; NULL if there is none. */
const char *clua_last_traceback(lua_State *L);
void clua_forget_traceback(lua_State *L);
/* The name of the class of the object whose missing method was called at that error; NULL for another error. */
const char *clua_last_receiver(lua_State *L);
/* Whether errors record the calls on the stack with their local variables (traceback.c). */
void clua_keep_frames(clua_host *host, int keeps);
int clua_keeps_frames(const clua_host *host);
/* Pushes the calls at the last error, innermost first; 0, without a push, if they are not kept. Each is an array of the
 * source, the line (-1: none), the function's name or nil, an array of the alternating names and values of its local
 * variables, and the length of that. */
int clua_pushframes(lua_State *L);

/* ---- Functions and objects (object.h) ---- */
void clua_pushfunction(lua_State *L, void *function);       /* `function` outlives the state */
void clua_pushownedfunction(lua_State *L, void *function);  /* released when Lua collects it */
void clua_pushcontinuation(lua_State *L, void *function); /* for CLUA_WAIT, instead of all values; released likewise */
void clua_pushmethod(lua_State *L, clua_class *cls, void *function); /* its receiver is checked before Swift is called */

/* The types of parameters, a byte each, the first lowest; 0: end. GENERAL for other types. */
#define CLUA_TAKES_ANY 1
#define CLUA_TAKES_BOOLEAN 2
#define CLUA_TAKES_INTEGER 3
#define CLUA_TAKES_NUMBER 4
#define CLUA_TAKES_STRING 5
#define CLUA_TAKES_TEXT 6
#define CLUA_TAKES_TABLE 7
#define CLUA_TAKES_FUNCTION 8
#define CLUA_TAKES_USERDATA 9
#define CLUA_TAKES_CHOICE 10
/* One of several types, a bit each. */
#define CLUA_TAKES_ONE_OF 0x40
#define CLUA_TAKES_OR_TEXT 0x01
#define CLUA_TAKES_OR_NUMBER 0x02
#define CLUA_TAKES_OR_STRING 0x04
#define CLUA_TAKES_OR_TABLE 0x08
#define CLUA_TAKES_OR_FUNCTION 0x10
#define CLUA_TAKES_OR_USERDATA 0x20
#define CLUA_TAKES_GENERAL 0x7f
#define CLUA_TAKES_NIL_TOO 0x80
/* 1 if the arguments from `base` on conform to the bytes, and the last one's index is `most` or less; 0: check them one
 * by one. `words` holds the words of each CHOICE in turn, each zero-terminated, followed by another zero; NULL without
 * choices. */
int clua_conforms(lua_State *L, int base, uint64_t parameters, const char *words, int most);
/* The number of arguments beyond the index `most`, without nils at the end, if a script has written the call. Otherwise
 * removes them and returns 0. `isFunction`: whether the arguments have no receiver. */
int clua_surplus(lua_State *L, int most, int isFunction);
/* Removes the nils at the end of the arguments, from the index `from` on. */
void clua_dropnils(lua_State *L, int from);

typedef enum {
    CLUA_OBJECT = 0, /* a canonical handle: the same object is always the same userdata */
    CLUA_BOX = 1,    /* a new handle for each push, compared by __eq */
    CLUA_INLINE = 2, /* eight bytes of payload, without an object */
    CLUA_ROW = 3,    /* 48 bits of payload, no handle: the same payload is the same value; one class per state */
} clua_kind;

/* A function like clua_pushfunction's for a `__call` that makes inline values of a class: for a whole number, the
 * shim returns the value whose payload is the number minus `offset`. */
void clua_pushconstructor(lua_State *L, void *function, clua_class *cls, double offset);

/* A class: its name and its representation. Pushes nothing. */
clua_class *clua_newclass(lua_State *L, const char *name, clua_kind kind);
/* The accessors for undeclared names. */
void clua_setfallback(clua_class *cls, void *getter, void *setter);
const char *clua_classname(const clua_class *cls);
void clua_addproperty(lua_State *L, clua_class *cls, const char *name, void *getter, void *setter);
void clua_addmethod(lua_State *L, clua_class *cls, const char *name);     /* pops the function */
void clua_addmetamethod(lua_State *L, clua_class *cls, const char *name); /* pops the value */
/* Objects of the class are accepted in place of the superclass's, also as receivers. Called once per class. */
void clua_setsuperclass(clua_class *cls, clua_class *superclass);

/* Pushes the handle of an object; returns 1 if it is new and owns a reference that `release` returns. */
int clua_pushobject(lua_State *L, clua_class *cls, void *object);
/* The same with a handle of its own, which can be revoked: without taking it from those who have the object otherwise. */
int clua_pushownhandle(lua_State *L, clua_class *cls, void *object);
/* Releases the object of the handle at an index; what uses the handle from then on gets an error with the message. */
void clua_revoke(lua_State *L, int index, const char *message);
/* That message, if the value at an index is such a handle; else NULL. */
const char *clua_revocation(lua_State *L, int index);
void clua_pushinline(lua_State *L, clua_class *cls, uint64_t payload);
void clua_pushrow(lua_State *L, uint64_t payload);
/* Pushes an array of rows. */
void clua_pushrows(lua_State *L, const uint64_t *payloads, size_t count);
/* Detects removed rows: `accessor`'s get returns 0 results for a removed row. It is called only after `epoch` has
 * changed. The accessor retains the counter. */
void clua_setrowexistence(clua_class *cls, void *accessor, const uint64_t *epoch);
/* Pushes an iterator for `for` over this many rows, which the caller stores at the result: it returns positions
 * from 1 and rows that still exist. `epoch` is the counter's value before the query. */
uint64_t *clua_pushrowiterator(lua_State *L, size_t count, uint64_t epoch);
/* Whether the state has its class of rows. */
int clua_hasrows(lua_State *L);
/* The object of a handle of this class; else NULL. */
void *clua_toobject(lua_State *L, int index, const clua_class *cls);
int clua_toinline(lua_State *L, int index, const clua_class *cls, uint64_t *payload);
/* ---- Records (record.c) ---- */
#define CLUA_FIELDS 8 /* at most, in a layout */
typedef struct {
    const void *names[CLUA_FIELDS];         /* from clua_pinname */
    int references[CLUA_FIELDS];            /* the names */
    const clua_class *classes[CLUA_FIELDS]; /* of inline values that the field accepts; NULL: none */
    unsigned count;
} clua_layout;

#define CLUA_FIELD_ABSENT 0
#define CLUA_FIELD_STRING 1
#define CLUA_FIELD_INTEGER 2
#define CLUA_FIELD_INLINE 3
typedef struct {
    int kind;
    union {
        int64_t integer;
        uint64_t payload;
        size_t length;
    };
    const char *bytes; /* valid while the table has the string */
} clua_field;

/* The identity of a name, valid for the lifetime of the state, and a reference to it. */
const void *clua_pinname(lua_State *L, const char *name, int *reference);
/* The text of one field of the table at a positive index, valid while the table has it; NULL for other values. */
const char *clua_readtext(lua_State *L, int index, const clua_layout *layout, unsigned field, size_t *length);
/* Reads the table at a positive index. 0 if it has another key, or a value of an unsupported kind: it must then be
 * read entry by entry. */
int clua_readrecord(lua_State *L, int index, const clua_layout *layout, clua_field *fields);

/* The class of the handle at an index; NULL for other values. */
clua_class *clua_classof(lua_State *L, int index);

/* ---- Base library, restricted (base.c) ---- */
/* Replaces setmetatable (refuses __gc), load (text only), coroutine.resume, wrap and close (interruptible), xpcall,
 * long-running functions of the string, table and utf8 libraries (interruptible), and writes to the standard streams
 * (counted); removes dofile, loadfile and functions that the sandbox forbids. Called after the libraries are open. */
int clua_narrow(lua_State *L);

/* ---- Files (files.c) ---- */
/* Pushes a Lua file object that owns a descriptor; 0, without a push, on failure. With a program at the other end of a
 * pipe (0: none) closing it waits until that ends, and returns the results of os.execute. */
int clua_pushfile(lua_State *L, int fd, const char *mode, int process, const char *path);
/* Flushes the files that scripts have open. A failure is a result of the file's close; at the last time it counts. */
void clua_flush_files(clua_host *host, int isLast);
/* The number of files that lost bytes without a result for the script: left to the collector, to the end of a block, or
 * open at the end; the first one's reason and path. */
int clua_lost_files(const clua_host *host, int *code, const char **path);
/* The first program at the other end of a pipe that ended with another exit status than 0: that, and its command; 0: none. */
int clua_failed_program(const clua_host *host, const char **command);

/* ---- Coroutines (coroutine.c) ---- */
/* Whether the calling function can wait by CLUA_WAIT: each coroutine between it and its run can yield. */
int clua_canwait(lua_State *L);
void clua_pushbody(lua_State *L); /* replaces the function on top with a coroutine's function */

/* ---- C modules (native.c) ---- */
/* Pushes a function of a shared library, `luaopen_…`; 0, with the reason in `message`, on failure. */
int clua_pushnative(lua_State *L, const char *path, const char *symbol, char *message, size_t size);

#endif
