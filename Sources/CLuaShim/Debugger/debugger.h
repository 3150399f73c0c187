/* Shared by the debugger's files. What is below and beside it calls it by a pointer in the host's record, which
 * clua_open sets. */
#ifndef CLUA_DEBUGGER_H
#define CLUA_DEBUGGER_H

#include "../Host/host.h"

extern const clua_debugger_calls clua_debugger_functions;
void clua_close_debugger(clua_debugger *debugger);

/* The function at a level, except for the one around a coroutine's own; 0: none. */
int clua_describe_call(lua_State *L, int level, clua_frame *frame);

#endif
