import Glibc

/// Another program on the same terminal: the user's editor.
enum ChildProcess {
    /// Starts a command of the shell's with an argument; nil when it can't be.
    static func start(_ command: String, _ argument: String) -> pid_t? {
        var attributes = posix_spawnattr_t()
        guard posix_spawnattr_init(&attributes) == 0 else { return nil }
        defer { posix_spawnattr_destroy(&attributes) }
        // The host blocks the signals that it handles; its children are to get them.
        var none = sigset_t()
        var all = sigset_t()
        sigemptyset(&none)
        sigfillset(&all)
        posix_spawnattr_setsigmask(&attributes, &none)
        posix_spawnattr_setsigdefault(&attributes, &all)
        posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF))
        let words = ["/bin/sh", "-c", command + " \"$1\"", "sh", argument]
        var arguments: [UnsafeMutablePointer<CChar>?] = words.map { strdup($0) }
        arguments.append(nil)
        defer { for pointer in arguments { free(pointer) } }
        var child: pid_t = 0
        guard posix_spawn(&child, "/bin/sh", nil, &attributes, arguments, environ) == 0 else { return nil }
        return child
    }

    /// Its exit status when it has ended; nil while it runs.
    static func status(of child: pid_t) -> Int32? {
        var status: Int32 = 0
        switch waitpid(child, &status, WNOHANG) {
        case 0: return nil
        case child: return (status & 0x7F) == 0 ? (status >> 8) & 0xFF : 128 + (status & 0x7F)
        default: return errno == EINTR ? nil : -1
        }
    }
}
