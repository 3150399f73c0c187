import Foundation
package import Glibc

/// A command that runs in a terminal of its own, as its session's leader, driven and read as a person would.
///
/// Ctrl-Z, Ctrl-C, hang-ups and window changes go the way that they go in a real terminal: through the kernel's line
/// discipline and job control.
package final class PseudoTerminal {
    /// The process that leads the session.
    package let pid: pid_t
    /// How long `expect` and the other waits last unless told, in seconds; generous, because machines are shared.
    package var timeout: Double = 30

    private var master: Int32
    private var raw: [UInt8] = []
    private var plain: [UInt8] = []
    private var matched = 0
    private var stripper = EscapeStripper()
    private var ended: ExitStatus?
    /// What runs in the terminal, if that is a part of this process.
    private var process: (running: TestProcess, slave: String)?
    private var atEnd = false

    /// Starts a command in a new terminal.
    ///
    /// - Parameters:
    ///   - command: a path, or a name that PATH finds.
    ///   - arguments: what it gets after its name.
    ///   - environment: what to add to, or replace in, a small environment: TERM, LANG, PATH, PS1 (`$ `) and HOME
    ///     (which must be given by tests that write there; it is `/nonexistent` otherwise).
    ///   - directory: where it runs; nil is where this process is.
    ///   - columns: the window's width in cells.
    ///   - rows: the window's height in cells.
    /// - Throws: `TestFailure` when there is no terminal to be had or the command does not start.
    package init(
        _ command: String, _ arguments: [String] = [], environment: [String: String] = [:],
        directory: String? = nil, columns: UInt16 = 80, rows: UInt16 = 24
    ) throws {
        let slave: String
        (master, slave) = try Self.openMaster()
        var size = winsize(ws_row: rows, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0)
        _ = ioctl(master, UInt(TIOCSWINSZ), &size)

        var whole = [
            "TERM": "xterm-256color", "LANG": "C.UTF-8", "PS1": "$ ", "HOME": "/nonexistent",
            "PATH": Project.environment("PATH") ?? "/usr/bin:/bin",
        ]
        whole.merge(environment) { $1 }
        let actions: [Spawn.FileAction] = [.open(slave, as: 0), .duplicate(0, to: 1), .duplicate(0, to: 2)]
        do {
            pid = try Spawn.start(
                command, arguments, environment: whole, directory: directory, actions: actions, newSession: true)
        } catch {
            close(master)
            throw error
        }
    }

    /// Starts a command in this process, on a new terminal. Its keys and its size reach it as from a terminal that
    /// controls it; it has no job control.
    ///
    /// - Parameters:
    ///   - environment: all of its variables but TERM, LANG and PS1, which have defaults as above.
    ///   - directory: where it runs.
    ///   - columns: the window's width in cells.
    ///   - rows: the window's height in cells.
    ///   - command: the command; gives the exit status.
    /// - Throws: `TestFailure` when there is no terminal to be had.
    package init(
        environment: [String: String], directory: String, columns: UInt16 = 80, rows: UInt16 = 24,
        _ command: @escaping @Sendable () -> Int32
    ) throws {
        let slave: String
        (master, slave) = try Self.openMaster()
        pid = getpid()
        resize(columns: columns, rows: rows)
        let streams = (0..<3).map { _ in open(slave, O_RDWR | O_NOCTTY | O_CLOEXEC) }
        guard streams.allSatisfy({ $0 >= 0 }) else { throw TestFailure("the terminal \(slave) cannot be opened") }
        let running = TestProcess(
            streams: streams,
            environment: ["TERM": "xterm-256color", "LANG": "C.UTF-8"].merging(environment) { $1 },
            directory: directory, command)
        process = (running, slave)
    }

    /// What posix_openpt, unlockpt and ptsname do, none of which Swift sees.
    private static func openMaster() throws -> (master: Int32, slavePath: String) {
        let master = open("/dev/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC)
        let unlock: UInt = 0x4004_5431  // TIOCSPTLCK
        let getNumber: UInt = 0x8004_5430  // TIOCGPTN
        var locked: Int32 = 0
        var number: Int32 = 0
        guard master >= 0, ioctl(master, unlock, &locked) == 0, ioctl(master, getNumber, &number) == 0 else {
            let reason = String(cString: strerror(errno))
            if master >= 0 { close(master) }
            throw TestFailure("no pseudo-terminal: \(reason)")
        }
        return (master, "/dev/pts/\(number)")
    }

    /// Starts an interactive shell that reads no file of the user's, and waits for its first prompt.
    package static func shell(
        environment: [String: String] = [:], directory: String? = nil, columns: UInt16 = 80, rows: UInt16 = 24
    ) throws -> PseudoTerminal {
        let terminal = try PseudoTerminal(
            "bash", ["--norc", "--noprofile", "-i"], environment: environment, directory: directory, columns: columns,
            rows: rows)
        try terminal.expect("$ ")
        return terminal
    }

    deinit {
        if let process = process?.running, process.status == nil {
            // Of a second one handlers that still run are stopped.
            for _ in 1...2 { process.signal(SIGTERM) }
            hangUp()
            _ = process.wait(seconds: 20)
        } else if ended == nil, process == nil {
            for process in SystemProcess.inSession(pid) { Glibc.kill(process.pid, SIGKILL) }
            Glibc.kill(pid, SIGKILL)
            var status: Int32 = 0
            while waitpid(pid, &status, 0) < 0 && errno == EINTR {}
        }
        if master >= 0 { close(master) }
    }

    // MARK: - Typing

    /// Types text, without a line end of its own.
    package func send(_ text: String) throws {
        try send(bytes: Array(text.utf8))
    }

    /// Types text and the Return key.
    package func sendLine(_ text: String) throws {
        try send(text + "\r")
    }

    /// Types a letter with the Control key held: `"z"` is Ctrl-Z.
    package func send(control letter: Character) throws {
        guard let ascii = letter.asciiValue else { throw TestFailure("no control character \(letter)") }
        try send(bytes: [ascii & 0x1f])
    }

    /// Types bytes as they are, escape sequences of keys for example.
    package func send(bytes: [UInt8]) throws {
        if let process, let place = bytes.firstIndex(of: 0x03), raisesInterrupt {
            // The kernel has no process to send it to, and would drop what is written at its signal: the key does not
            // reach it. It drops what was typed before.
            if place > 0 { try send(bytes: Array(bytes[..<place])) }
            let slave = open(process.slave, O_RDWR | O_NOCTTY | O_CLOEXEC)
            tcflush(slave, TCIFLUSH)
            close(slave)
            process.running.signal(SIGINT)
            if place + 1 < bytes.count { try send(bytes: Array(bytes[(place + 1)...])) }
            return
        }
        var sent = 0
        while sent < bytes.count {
            let count = bytes[sent...].withUnsafeBytes { write(master, $0.baseAddress, min($0.count, 1024)) }
            if count < 0 && errno != EINTR {
                throw failure("cannot type: \(String(cString: strerror(errno)))")
            }
            sent += max(count, 0)
            drain(milliseconds: 0)
        }
    }

    /// Whether Ctrl-C raises a signal in the terminal's present mode.
    private var raisesInterrupt: Bool {
        var mode = termios()
        return tcgetattr(master, &mode) == 0 && mode.c_lflag & tcflag_t(ISIG) != 0
    }

    /// Changes the window, which the foreground processes hear of as SIGWINCH.
    package func resize(columns: UInt16, rows: UInt16) {
        var size = winsize(ws_row: rows, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0)
        _ = ioctl(master, UInt(TIOCSWINSZ), &size)
        process?.running.signal(SIGWINCH)
    }

    // MARK: - Reading

    /// All that was written to the terminal so far, escape sequences included.
    package var rawTranscript: [UInt8] { raw }

    /// All that was written to the terminal so far, without escape sequences and carriage returns.
    package var transcript: String { String(decoding: plain, as: UTF8.self) }

    /// Waits until the text appears after what was expected before.
    ///
    /// - Returns: what was written since the last match, with the text at its end.
    /// - Throws: `TestFailure` with the whole transcript when it does not appear in time, or the terminal closes.
    @discardableResult
    package func expect(_ text: String, timeout: Double? = nil) throws -> String {
        let needle = Array(text.utf8)
        return try expect("\(text.debugDescription)", timeout: timeout) { new in
            Self.firstRange(of: needle, in: new)
        }
    }

    /// Waits until a regular expression matches after what was expected before.
    ///
    /// - Returns: what was written since the last match, with the match at its end.
    /// - Throws: `TestFailure` with the whole transcript when it does not match in time, or the terminal closes.
    @discardableResult
    package func expect(matching pattern: String, timeout: Double? = nil) throws -> String {
        let regex = try Regex(pattern)
        return try expect("/\(pattern)/", timeout: timeout) { new in
            // A character may be in two pieces; the rest of it comes with the next.
            guard let text = String(validating: new, as: UTF8.self), let match = text.firstMatch(of: regex) else {
                return nil
            }
            return new.startIndex + text.utf8.distance(from: text.startIndex, to: match.range.upperBound)
        }
    }

    private func expect(_ what: String, timeout: Double?, find: (ArraySlice<UInt8>) -> Int?) throws -> String {
        let seconds = (timeout ?? self.timeout) * Project.patience
        let deadline = Date(timeIntervalSinceNow: seconds)
        while true {
            if let end = find(plain[matched...]) {
                defer { matched = end }
                return String(decoding: plain[matched..<end], as: UTF8.self)
            }
            if atEnd { throw failure("the terminal closed before \(what)") }
            let milliseconds = Int32(clamping: Int(deadline.timeIntervalSinceNow * 1000))
            if milliseconds <= 0 { throw failure("no \(what) in \(seconds) s") }
            drain(milliseconds: milliseconds)
        }
    }

    /// Takes what the terminal has, waiting up to some milliseconds for the first byte.
    private func drain(milliseconds: Int32) {
        guard master >= 0, !atEnd else { return }
        var descriptor = pollfd(fd: master, events: Int16(POLLIN), revents: 0)
        guard poll(&descriptor, 1, milliseconds) > 0 else { return }
        var chunk = [UInt8](repeating: 0, count: 16384)
        let count = read(master, &chunk, chunk.count)
        if count > 0 {
            raw.append(contentsOf: chunk[..<count])
            stripper.strip(chunk[..<count], into: &plain)
        } else if count == 0 || errno != EINTR {
            atEnd = true
        }
    }

    private static func firstRange(of needle: [UInt8], in bytes: ArraySlice<UInt8>) -> Int? {
        guard let first = needle.first else { return bytes.startIndex }
        var start = bytes.startIndex
        while bytes.endIndex - start >= needle.count, let index = bytes[start...].firstIndex(of: first) {
            if bytes[index...].starts(with: needle) { return index + needle.count }
            start = index + 1
        }
        return nil
    }

    private func failure(_ message: String) -> TestFailure {
        TestFailure("\(message); the transcript, from its start:\n\(transcript)\n(end of the transcript)")
    }

    // MARK: - Processes

    /// The processes of the terminal's session with a command name (as `/proc/…/comm` has it: at most 15 bytes).
    package func processes(named name: String) -> [SystemProcess] {
        SystemProcess.inSession(pid).filter { $0.name == name.prefix(15) }
    }

    /// Waits until the session has a process of a name, in one of the states when some are given (`T` is stopped).
    ///
    /// - Throws: `TestFailure` with the transcript when there is none in time.
    @discardableResult
    package func waitForProcess(named name: String, states: String = "", timeout: Double? = nil) throws -> pid_t {
        let deadline = Date(timeIntervalSinceNow: (timeout ?? self.timeout) * Project.patience)
        repeat {
            for process in processes(named: name) where states.isEmpty || states.contains(process.state) {
                return process.pid
            }
            drain(milliseconds: 0)
            usleep(5000)
        } while deadline.timeIntervalSinceNow > 0
        throw failure("no process \(name) in a state of \(states.debugDescription)")
    }

    /// Waits until a process group has the terminal.
    ///
    /// - Throws: `TestFailure` with the transcript when it has not got it in time.
    package func waitForForeground(of group: pid_t, timeout: Double? = nil) throws {
        let deadline = Date(timeIntervalSinceNow: (timeout ?? self.timeout) * Project.patience)
        repeat {
            if tcgetpgrp(master) == group { return }
            drain(milliseconds: 0)
            usleep(5000)
        } while deadline.timeIntervalSinceNow > 0
        throw failure("process group \(group) is not in the foreground")
    }

    /// Waits until the session's leader ends, taking what it still writes.
    ///
    /// - Throws: `TestFailure` with the transcript when it does not end in time.
    @discardableResult
    package func waitForExit(timeout: Double? = nil) throws -> ExitStatus {
        let deadline = Date(timeIntervalSinceNow: (timeout ?? self.timeout) * Project.patience)
        repeat {
            if let ended { return ended }
            if let status = reap() {
                ended = status
                while hasMore { drain(milliseconds: 0) }
                return status
            }
            if master >= 0 && !atEnd { drain(milliseconds: 10) } else { usleep(10000) }
        } while deadline.timeIntervalSinceNow > 0
        throw failure("process \(pid) did not end")
    }

    /// How the leader has ended; nil while it runs.
    private func reap() -> ExitStatus? {
        if let process { return process.running.status }
        var status: Int32 = 0
        return waitpid(pid, &status, WNOHANG) == pid ? ExitStatus(waitStatus: status) : nil
    }

    private var hasMore: Bool {
        var descriptor = pollfd(fd: master, events: Int16(POLLIN), revents: 0)
        return master >= 0 && !atEnd && poll(&descriptor, 1, 0) > 0 && descriptor.revents & Int16(POLLIN) != 0
    }

    /// Closes the terminal's window: the session gets SIGHUP.
    package func hangUp() {
        if master >= 0 { close(master) }
        master = -1
        atEnd = true
    }

    /// Sends a signal to the session's leader.
    package func signal(_ number: Int32) {
        if let process { return process.running.signal(number) }
        if ended == nil { Glibc.kill(pid, number) }
    }

    /// Sends SIGTERM to the session's leader.
    package func terminate() { signal(SIGTERM) }

    /// Sends SIGKILL to the session's leader.
    package func kill() { signal(SIGKILL) }
}
