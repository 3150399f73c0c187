/* Landlock has no wrappers in the C library, and the system's header ends at ABI 2: later definitions are here. */
#define _GNU_SOURCE
#include "CPlatform.h"

#include <errno.h>

#if CUBBY_LINUX
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef __NR_landlock_create_ruleset
#define __NR_landlock_create_ruleset 444
#define __NR_landlock_add_rule 445
#define __NR_landlock_restrict_self 446
#endif

struct ruleset_attributes {
    uint64_t file_system;
    uint64_t network; /* ABI 4 */
    uint64_t scoped;  /* ABI 6 */
};

struct __attribute__((packed)) path_beneath {
    uint64_t allowed;
    int32_t path;
};

enum { create_version = 1, rule_path_beneath = 1, rule_net_port = 2 };

enum {
    execute = 1 << 0,
    write_file = 1 << 1,
    read_file = 1 << 2,
    read_directory = 1 << 3,
    remove_directory = 1 << 4,
    remove_file = 1 << 5,
    make_character_device = 1 << 6,
    make_directory = 1 << 7,
    make_regular = 1 << 8,
    make_socket = 1 << 9,
    make_pipe = 1 << 10,
    make_block_device = 1 << 11,
    make_link = 1 << 12,
    all_of_abi_1 = (1 << 13) - 1,
    refer = 1 << 13,          /* ABI 2 */
    truncate_file = 1 << 14,  /* ABI 3 */
    device_control = 1 << 15, /* ABI 5 */
};
enum { network_bind = 1 << 0, network_connect = 1 << 1 };
enum { scope_abstract_socket = 1 << 0, scope_signal = 1 << 1 };

static const uint64_t changes = write_file | remove_directory | remove_file | make_character_device | make_directory |
                                make_regular | make_socket | make_pipe | make_block_device | make_link | refer |
                                truncate_file;

static uint64_t known(int abi) {
    uint64_t rights = all_of_abi_1;
    if (abi >= 2) rights |= refer;
    if (abi >= 3) rights |= truncate_file;
    if (abi >= 5) rights |= device_control;
    return rights;
}

int cubby_landlock_abi(void) {
    long abi = syscall(__NR_landlock_create_ruleset, NULL, 0, create_version);
    return abi < 0 ? -errno : (int)abi;
}

int cubby_landlock_ruleset(int abi, int deny_network, int deny_scopes) {
    struct ruleset_attributes attributes = {.file_system = known(abi)};
    size_t size = sizeof attributes.file_system;
    if (abi >= 4) {
        size = 2 * sizeof(uint64_t);
        if (deny_network) attributes.network = network_bind | network_connect;
    }
    if (abi >= 6) {
        size = sizeof attributes;
        if (deny_scopes) attributes.scoped = scope_abstract_socket | scope_signal;
    }
    /* Rulesets are close-on-exec by default. */
    long result = syscall(__NR_landlock_create_ruleset, &attributes, size, 0);
    return result < 0 ? -errno : (int)result;
}

int cubby_landlock_change_ruleset(int abi, int deny_changes, int deny_network) {
    struct ruleset_attributes attributes = {.file_system = deny_changes ? changes & known(abi) : 0};
    size_t size = sizeof attributes.file_system;
    if (abi >= 4 && deny_network) {
        size = 2 * sizeof(uint64_t);
        attributes.network = network_bind | network_connect;
    }
    long result = syscall(__NR_landlock_create_ruleset, &attributes, size, 0);
    return result < 0 ? -errno : (int)result;
}

int cubby_landlock_allow(int ruleset, int abi, int path, int is_directory, int uses) {
    uint64_t rights = 0;
    if (uses & CUBBY_LANDLOCK_CHANGE) rights |= changes;
    if (uses & CUBBY_LANDLOCK_READ) rights |= read_file | read_directory;
    if (uses & CUBBY_LANDLOCK_EXECUTE) rights |= execute | read_file | read_directory;
    /* Scripts must not create devices, sockets and pipes. */
    if (uses & CUBBY_LANDLOCK_WRITE)
        rights |= write_file | remove_directory | remove_file | make_directory | make_regular | make_link | refer |
                  truncate_file;
    if (uses & CUBBY_LANDLOCK_DEVICE) rights |= device_control;
    if (uses & CUBBY_LANDLOCK_REMOVE_FOLDER) rights |= remove_directory;
    if (!is_directory) rights &= execute | write_file | read_file | truncate_file | device_control;
    rights &= known(abi);
    if (rights == 0) return 0;
    struct path_beneath rule = {.allowed = rights, .path = path};
    return syscall(__NR_landlock_add_rule, ruleset, rule_path_beneath, &rule, 0) == 0 ? 0 : -errno;
}

int cubby_landlock_allow_port(int ruleset, int abi, int port, int listens) {
    if (abi < 4) return 0;
    struct {
        uint64_t allowed;
        uint64_t port;
    } rule = {.allowed = listens ? network_bind : network_connect, .port = (uint64_t)port};
    return syscall(__NR_landlock_add_rule, ruleset, rule_net_port, &rule, 0) == 0 ? 0 : -errno;
}

int cubby_landlock_restrict(int ruleset) {
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return -errno;
    return syscall(__NR_landlock_restrict_self, ruleset, 0) == 0 ? 0 : -errno;
}
#else
int cubby_landlock_abi(void) { return -ENOSYS; }

int cubby_landlock_ruleset(int abi, int deny_network, int deny_scopes) {
    (void)abi, (void)deny_network, (void)deny_scopes;
    return -ENOSYS;
}

int cubby_landlock_change_ruleset(int abi, int deny_changes, int deny_network) {
    (void)abi, (void)deny_changes, (void)deny_network;
    return -ENOSYS;
}

int cubby_landlock_allow(int ruleset, int abi, int path, int is_directory, int uses) {
    (void)ruleset, (void)abi, (void)path, (void)is_directory, (void)uses;
    return -ENOSYS;
}

int cubby_landlock_allow_port(int ruleset, int abi, int port, int listens) {
    (void)ruleset, (void)abi, (void)port, (void)listens;
    return -ENOSYS;
}

int cubby_landlock_restrict(int ruleset) {
    (void)ruleset;
    return -ENOSYS;
}
#endif
