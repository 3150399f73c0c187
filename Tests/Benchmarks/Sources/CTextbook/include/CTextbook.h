/* The bindings of "Programming in Lua", written by hand in C: what the bridge is measured against. */
#ifndef CTEXTBOOK_H
#define CTEXTBOOK_H

typedef struct lua_State textbook;

/* A state with the globals `object`, `handle()` (a userdata for an object that exists) and `make()` (a new one). */
textbook *textbook_open(void);
void textbook_close(textbook *state);
/* Compiles a chunk; 0 when it can't. */
int textbook_load(textbook *state, const char *chunk);
/* Calls a chunk with a number; 0 when it raised. */
int textbook_run(textbook *state, int chunk, long long n);

#endif
