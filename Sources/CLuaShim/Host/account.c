/* What environments own: each with a limit has an account, which is charged while its code runs. The collector runs in any
 * owner's time, and credits the owner of what it frees, which the allocator reads off the block (pool.c).
 *
 * What is left of an environment that ended is the state's: its blocks change hands together, by slabs. A large block still
 * names its environment, whose account stays for that. */
#include "host.h"

void clua_open_accounts(clua_host *host) {
    host->account.all = &host->slabs;
    host->account.calm = SIZE_MAX;
    host->charged = &host->account;
}

clua_account *clua_open_account(clua_host *host, size_t limit) {
    clua_account *account = calloc(1, sizeof *account);
    if (!account) return NULL;
    account->all = &host->slabs;
    account->state = &host->account;
    account->limit = limit;
    account->calm = limit > CLUA_POOL_LARGEST ? limit - CLUA_POOL_LARGEST : 0;
    atomic_store(&account->references, 2);
    account->next = host->accounts;
    host->accounts = account;
    return account;
}

void clua_release_account(clua_account *account) {
    if (atomic_fetch_sub_explicit(&account->references, 1, memory_order_acq_rel) == 1) free(account);
}

void clua_end_accounts(clua_host *host) {
    for (clua_account **place = &host->accounts, *account; (account = *place);) {
        if (!account->hasEnded && atomic_load_explicit(&account->references, memory_order_acquire) == 1)
            clua_pool_merge(account);
        if (account->hasEnded && account->large == 0) {
            *place = account->next;
            clua_release_account(account);
        } else {
            place = &account->next;
        }
    }
}

void clua_charge(clua_host *host, clua_account *account) { host->charged = account ? account : &host->account; }

void clua_read_account(const clua_account *account, size_t *used, size_t *peak) {
    *used = clua_account_used(account);
    *peak = atomic_load_explicit(&((clua_account *)account)->peak, memory_order_relaxed);
}

size_t clua_denied_limit(const clua_host *host) { return host->deniedLimit; }

size_t clua_sum_accounts(const clua_host *host) {
    size_t sum = clua_account_used(&host->account);
    for (const clua_account *account = host->accounts; account; account = account->next)
        sum += clua_account_used(account);
    return sum;
}

void clua_close_accounts(clua_host *host) {
    for (clua_account *account = host->accounts, *next; account; account = next) {
        next = account->next;
        clua_release_account(account);
    }
    clua_pool_close(&host->slabs);
}
