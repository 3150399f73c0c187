import Glibc
import Synchronization

/// How a process ended.
package enum ExitStatus: Equatable, Sendable {
    /// The process called `exit` with this code.
    case exited(Int32)
    /// A signal of this number ended the process.
    case signaled(Int32)

    init(waitStatus: Int32) {
        let signal = waitStatus & 0x7f
        self = signal == 0 ? .exited((waitStatus >> 8) & 0xff) : .signaled(signal)
    }
}

/// Starts processes by `posix_spawn`, with every signal at its default and none blocked, whatever this process has.
enum Spawn {
    /// One step of setting up the child's descriptors, in order.
    enum FileAction {
        case duplicate(Int32, to: Int32)
        case open(String, as: Int32)
    }

    /// Held while a child starts, and while a pipe is made and not yet marked to be closed in children: an end that
    /// leaks into another child would keep the pipe open.
    static let lock = Mutex(())

    /// Starts a command that is found by PATH, or by its path when it has a slash.
    ///
    /// With `newSession` the child leads a session of its own, and the first terminal that it opens controls it.
    static func start(
        _ command: String, _ arguments: [String], environment: [String: String], directory: String?,
        actions: [FileAction], newSession: Bool = false
    ) throws -> pid_t {
        // Swift does not see posix_spawn_file_actions_addchdir_np, so `env` changes the directory.
        let words = (directory.map { ["env", "-C", $0] } ?? []) + [command] + arguments
        var fileActions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&fileActions)
        defer { posix_spawn_file_actions_destroy(&fileActions) }
        for action in actions {
            switch action {
            case .duplicate(let from, let to): posix_spawn_file_actions_adddup2(&fileActions, from, to)
            case .open(let path, let descriptor):
                posix_spawn_file_actions_addopen(&fileActions, descriptor, path, O_RDWR, 0)
            }
        }

        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        var signals = sigset_t()
        sigemptyset(&signals)
        posix_spawnattr_setsigmask(&attributes, &signals)
        sigfillset(&signals)
        posix_spawnattr_setsigdefault(&attributes, &signals)
        // POSIX_SPAWN_SETSID, which Swift does not see because glibc defines it for _GNU_SOURCE alone.
        let setSession: Int32 = newSession ? 0x80 : 0
        posix_spawnattr_setflags(
            &attributes, Int16(Int32(POSIX_SPAWN_SETSIGMASK) | Int32(POSIX_SPAWN_SETSIGDEF) | setSession))

        var environment = environment
        // What is shown is by the user's clock.
        environment["TZ"] = environment["TZ"] ?? "UTC"
        for name in ["ASAN_OPTIONS", "TSAN_OPTIONS"] where environment[name] == nil {
            environment[name] = Project.environment(name)
        }
        // Behind the kernel's fence a process can read no suppressions and write no report. Leaks are looked for in the
        // tests' own process; any other error ends a child, and its test fails by that.
        environment["ASAN_OPTIONS"]?.append(":detect_leaks=0")
        let pairs = environment.map { "\($0.key)=\($0.value)" }.sorted()
        var pid: pid_t = 0
        let code = withCStrings(words) { argv in
            withCStrings(pairs) { envp in
                lock.withLock { _ in posix_spawnp(&pid, words[0], &fileActions, &attributes, argv, envp) }
            }
        }
        guard code == 0 else { throw TestFailure("cannot start \(command): \(String(cString: strerror(code)))") }
        return pid
    }

    private static func withCStrings<Result>(
        _ strings: [String], _ body: (UnsafePointer<UnsafeMutablePointer<CChar>?>) -> Result
    ) -> Result {
        var pointers = strings.map { strdup($0) } + [nil]
        defer { for pointer in pointers { free(pointer) } }
        return pointers.withUnsafeMutableBufferPointer { buffer in
            guard let base = buffer.baseAddress else { preconditionFailure("an array with a nil at its end") }
            return body(UnsafePointer(base))
        }
    }
}
