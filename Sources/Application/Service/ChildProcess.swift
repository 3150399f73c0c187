import CPlatform
package import Files
import Glibc

/// A child process. All signals have their default action: a child would otherwise inherit the blocked mask.
package final class ChildProcess {
    /// How a process ended.
    package enum End: Sendable, Hashable {
        case exited(Int32)
        case signaled(Int32)
        /// Its status is lost: another waiter has had it, or children are not waited for in this process.
        case unknown
    }

    package let processIdentifier: Int32

    /// Starts a program.
    ///
    /// - Parameters:
    ///   - words: its path, or a name in PATH, and its arguments.
    ///   - program: the file to start; found by the first word if not given.
    ///   - folder: a folder that it cannot change, if the kernel supports Landlock.
    ///   - ports: the only TCP ports that it can connect to, if the kernel can hold that; all if not given.
    ///   - input: its standard input; this process's own if not given.
    ///   - output: its standard output; this process's own if not given.
    ///   - environment: its variables; this process's own if not given.
    ///   - workingFolder: an open folder, where it starts; this process's own if not given.
    /// - Throws: `FileError` when it cannot be started.
    package init(
        _ words: [String], program: ProgramFile? = nil, closing folder: ClosedFolder? = nil,
        ports: Set<Int>? = nil, input: Int32? = nil, output: Int32? = nil, environment: [String: String]? = nil,
        workingFolder: Int32? = nil
    ) throws(FileError) {
        // Buffered output must precede the program's output.
        StandardStream.flushAll()
        let descriptor = program?.descriptor
        let staysOpen = program?.isScript == true
        let surroundings = ProcessSurroundings.current
        defer { withExtendedLifetime(program) {} }
        let start: @Sendable () -> Outcome = {
            Self.spawn(
                words, descriptor, staysOpen: staysOpen,
                streams: [
                    input ?? surroundings.input, output ?? surroundings.output.descriptor,
                    surroundings.error.descriptor,
                ], environment ?? surroundings.environment, workingFolder: workingFolder)
        }
        switch folder == nil && ports == nil ? start() : Self.restricted(folder, ports, start) {
        case .started(let process): processIdentifier = process
        case .failed(let code, let reason): throw FileError(.open, words.first ?? "", code: code, reason: reason)
        }
    }

    private enum Outcome: Sendable {
        case started(pid_t)
        case failed(Int32, reason: String? = nil)
    }

    /// Starts it on a separate thread: restrictions apply to a thread and its children.
    private static func restricted(
        _ folder: ClosedFolder?, _ ports: Set<Int>?, _ start: @escaping @Sendable () -> Outcome
    ) -> Outcome {
        guard Landlock.abi != nil else { return start() }
        let caller = UInt(bitPattern: Int(pthread_self()))
        let thread = WorkerThread { () -> Outcome in
            // On the calling thread the restrictions would persist.
            guard UInt(bitPattern: Int(pthread_self())) != caller else {
                return .failed(EAGAIN)
            }
            do throws(LandlockError) { try Landlock.closeThread(folder, ports: ports) } catch {
                return .failed(EACCES, reason: error.message)
            }
            return start()
        }
        return thread.join() ?? .failed(EAGAIN)
    }

    private static func spawn(
        _ words: [String], _ program: Int32?, staysOpen: Bool, streams: [Int32], _ environment: [String: String]?,
        workingFolder: Int32?
    ) -> Outcome {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        for (number, stream) in streams.enumerated() where stream != number {
            posix_spawn_file_actions_adddup2(&actions, stream, Int32(number))
        }
        if let workingFolder {
            let result = cubby_spawn_in(&actions, workingFolder)
            if result < 0 { return .failed(-result) }
        }
        // An interpreter opens the script by this descriptor's name.
        if let program, staysOpen { posix_spawn_file_actions_adddup2(&actions, program, program) }
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        var signals = sigset_t()
        sigemptyset(&signals)
        posix_spawnattr_setsigmask(&attributes, &signals)
        sigfillset(&signals)
        posix_spawnattr_setsigdefault(&attributes, &signals)
        posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK) | Int16(POSIX_SPAWN_SETSIGDEF))

        var arguments: [UnsafeMutablePointer<CChar>?] = words.map { strdup($0) } + [nil]
        defer { for argument in arguments { free(argument) } }
        var process: pid_t = 0
        let path = program.map { "/proc/self/fd/\($0)" } ?? words.first ?? ""
        var variables = (environment ?? [:]).map { strdup("\($0)=\($1)") } + [nil]
        defer { for variable in variables { free(variable) } }
        let code = variables.withUnsafeMutableBufferPointer { variables in
            posix_spawnp(
                &process, path, &actions, &attributes, &arguments,
                environment == nil ? environ : variables.baseAddress)
        }
        return code == 0 ? .started(process) : .failed(code)
    }

    /// A descriptor that becomes readable when the program has ended, for an event loop; the caller closes it. Negative
    /// before Linux 5.3.
    package func makeDescriptor() -> Int32 { cubby_pidfd_open(processIdentifier) }

    /// Ends it: by SIGTERM, and if it ignores that for a while, by SIGKILL. Do not ask for its end afterwards.
    ///
    /// - Parameter patience: seconds for the program to end by itself.
    package func terminate(patience: Double = 1) {
        kill(processIdentifier, SIGTERM)
        let limit = MonotonicTime.now().advanced(by: patience)
        let descriptor = makeDescriptor()
        defer { if descriptor >= 0 { close(descriptor) } }
        while end(waits: false) == nil {
            let left = limit.seconds(since: .now())
            guard left > 0 else {
                kill(processIdentifier, SIGKILL)
                _ = end()
                return
            }
            // Without a descriptor to wait for, the program is looked at every 10 ms.
            var ended = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
            poll(&ended, 1, descriptor >= 0 ? Int32(left * 1000) + 1 : 10)
        }
    }

    /// Waits for the end, or polls for it. Do not call it again after a result.
    ///
    /// - Parameter waits: false to poll.
    /// - Returns: nil while it runs.
    package func end(waits: Bool = true) -> End? {
        var code: Int32 = 0
        var isSignal: Int32 = 0
        if waits { UnstoppableWork.begin() }
        let result = cubby_reap(processIdentifier, waits ? 1 : 0, &code, &isSignal)
        if waits { UnstoppableWork.end() }
        if result == 0 { return nil }
        guard result > 0 else { return .unknown }
        return isSignal != 0 ? .signaled(code) : .exited(code)
    }
}

/// The end of a process that this one works for, its child or not.
package enum ProcessEnd {
    /// Calls a function when a process has ended, on a thread of its own: a script may never wait.
    ///
    /// - Parameters:
    ///   - process: its number.
    ///   - body: called once.
    /// - Returns: false when no thread can be created.
    package static func notify(of process: Int32, _ body: @escaping @Sendable () -> Void) -> Bool {
        DetachedThread.start {
            var end = pollfd(fd: cubby_pidfd_open(process), events: Int16(POLLIN), revents: 0)
            // Without a descriptor to wait for, the process is looked at every second.
            while end.revents == 0, kill(process, 0) == 0 || errno != ESRCH { poll(&end, 1, end.fd < 0 ? 1000 : -1) }
            if end.fd >= 0 { close(end.fd) }
            body()
        }
    }
}
