/* Entering and leaving the VM from Swift: the nesting of states on a thread. */
#include "host.h"

/* Whether a host of this or an outer stretch has pending interrupts. */
static int has_pending(const clua_stretch *stretch) {
    for (; stretch; stretch = stretch->outer)
        if (stretch->host->abortDepth || pending_of(stretch->host)) return 1;
    return 0;
}

static void begin(clua_host *host, clua_stretch *stretch) {
    clua_stretch *outer = clua_self.innermost;
    stretch->host = host;
    stretch->base = depth_of(host);
    stretch->outer = outer;
    stretch->outerDepth = outer ? depth_of(outer->host) : 0;
    /* A cancellation requested before the code starts is obsolete. */
    const int stale = CLUA_INTERRUPT_CANCEL | CLUA_LOOK;
    if (!stretch->base && pending_of(host) & stale) atomic_fetch_and(&host->pending, ~stale);
    atomic_signal_fence(memory_order_seq_cst);
    clua_self.innermost = stretch;
    if (has_pending(outer) || clua_is_overdue(host)) atomic_fetch_or(&host->pending, CLUA_LOOK);
}

/* Reasons that the inner code did not serve remain pending for the outer code. */
static void end(const clua_stretch *stretch) {
    clua_stretch *outer = stretch->outer;
    clua_self.innermost = outer;
    atomic_signal_fence(memory_order_seq_cst);
    if (!outer || !(has_pending(outer) || pending_of(stretch->host) & CLUA_LOOK)) return;
    atomic_fetch_or(&outer->host->pending, CLUA_LOOK);
    clua_arm(outer->host);
}

void clua_enter(clua_host *host, lua_State *L, clua_entry *entry) {
    entry->enforce = host->enforce;
    entry->current = host->current;
    if (!depth_of(host)) {
        host->exceeded = 0;
        host->deniedLimit = 0;
    }
    entry->begins = !clua_self.innermost || clua_self.innermost->host != host;
    entry->run = host->run;
    entry->canWait = host->canWait;
    entry->outer = host->resumption;
    /* A coroutine that the host resumes during another coroutine's call. */
    if (depth_of(host) && host->current != L) {
        entry->resumption = (clua_resumption){host->current, host->resumption};
        host->resumption = &entry->resumption;
    }
    host->enforce = 1;
    host->canWait = 0;
    host->current = L;
    if (entry->begins) begin(host, &entry->stretch);
    atomic_store_explicit(&host->depth, depth_of(host) + 1, memory_order_relaxed);
    clua_watch(host, L);
    /* Serves interrupts that arrived outside the VM. From now on the signal handler on this thread arms the hook. */
    atomic_signal_fence(memory_order_seq_cst);
    if (pending_of(host)) clua_arm(host);
}

void clua_leave(clua_host *host, const clua_entry *entry) {
    int depth = depth_of(host);
    host->enforce = entry->enforce;
    host->run = entry->run;
    host->canWait = entry->canWait;
    host->resumption = entry->outer;
    host->raised = NULL;
    host->debugger.hasSeenError = 0;
    if (host->abortDepth == depth) host->abortDepth = 0; /* unwound: the error is now Swift's */
    atomic_store_explicit(&host->depth, depth - 1, memory_order_relaxed);
    if (entry->begins) end(&entry->stretch);
    /* The abortion continues in outer code, and later reasons wait there. */
    if (depth > 1) clua_switch(host, entry->current);
    else host->current = entry->current;
}
