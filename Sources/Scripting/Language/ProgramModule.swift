import Application
import Files
import Glibc
import Logging
import Lua

/// `os.execute` and `io.popen`, for a host whose scripts may start programs. Programs inherit the kernel's fence.
enum ProgramModule {
    static func install(os: LuaModule, io: LuaModule, in host: ScriptHost) {
        os.function(
            "execute",
            [
                LuaParameter(
                    "command", .optional(.text),
                    "a shell command, or a granted program and its arguments; none tests for a shell")
            ],
            returns: [.optional(.boolean), .string, .integer],
            doc:
                "Runs a command and waits, as Lua's own os.execute does; timers continue meanwhile. Needs --allow-run, which grants the shell, or a program granted by cubby config.",
            example: "return pcall(os.execute, \"true\")"
        ) { [unowned host] call in
            guard !call.isNil(0) else { return call.returns(host.options.allowsRunning) }
            try host.lifeCycle.saver.settle()
            if let program = host.replacements.program(of: try call.text(0), for: "os.execute") {
                let end = try program.run(host.state)
                host.output.put(end.output)
                return try call.returns(values: values(of: .exited(end.status)))
            }
            let programs = host.sandbox.programs
            let child: ChildProcess
            let command = try call.text(0)
            do { child = try programs.start(command, for: "os.execute", in: host) } catch let error as FileError {
                return call.returns(failure: error)
            }
            return try host.scheduler.waitForValues(call) { [unowned host] resume in
                wait(for: child, on: host.loop) { [unowned host] end in
                    if case .exited(let status) = end { programs.didEnd(command, status, in: host) }
                    resume(values(of: end))
                }
            }
        }
        io.function(
            "popen",
            [
                "command": "a shell command, or a granted program and its arguments",
                "mode": "\"r\" reads the command's output, \"w\" writes its input",
            ],
            returns: LuaType.orError(.object("file*")),
            doc:
                "Starts a command and returns a file connected to it. Needs --allow-run, which grants the shell, or a program granted by cubby config.",
            example: "return pcall(io.popen, \"date\")"
        ) { [unowned host] (command: String, mode: PipeMode?) in
            try OrError(returning: FileError.self) { try open(command, mode ?? .r, host) }
        }
    }

    /// The direction of the script's end of a pipe.
    private enum PipeMode: String, CaseIterable, LuaRepresentable { case r, w }

    private static func open(_ command: String, _ mode: PipeMode, _ host: ScriptHost) throws -> LuaValue {
        if let program = host.replacements.program(of: command, for: "io.popen") {
            return try open(program, mode, command, host)
        }
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0 else { throw FileError(.open, "a pipe", code: errno) }
        let (own, other) = mode == .r ? (ends[0], ends[1]) : (ends[1], ends[0])
        // The program must not inherit this end: its input would never end.
        _ = fcntl(own, F_SETFD, FD_CLOEXEC)
        defer { close(other) }
        do {
            let child = try host.sandbox.programs.start(
                command, for: "io.popen", in: host, input: mode == .w ? other : nil, output: mode == .r ? other : nil)
            guard
                let file = host.state.makeFile(
                    own, mode: mode.rawValue, process: child.processIdentifier, path: command)
            else {
                throw FileError(.open, "a pipe", code: EMFILE)
            }
            return file
        } catch {
            close(own)
            throw error
        }
    }

    /// A file connected to a function in place of a program: it is called at once, and reads what the script writes
    /// by a function.
    private static func open(
        _ program: ReplacedProgram, _ mode: PipeMode, _ command: String, _ host: ScriptHost
    ) throws -> LuaValue {
        let pipe = try ReplacedPipe(in: host.container.tmp)
        do {
            // The script closes the other descriptor.
            let reading = mode == .w ? dup(pipe.descriptor) : -1
            let input = host.state.makeFunction("input", []) { [unowned host] in
                host.output.flushFiles()
                return LuaString(try ReplacedPipe(descriptor: reading).contents())
            }
            if reading >= 0 { host.atEnd { close(reading) } }
            let end = try program.run(host.state, input: mode == .w ? .function(input) : .nil)
            try pipe.write(end.output)
            let status = -1 - end.status << 8
            guard
                let file = host.state.makeFile(pipe.descriptor, mode: mode.rawValue, process: status, path: command)
            else { throw FileError(.open, "a pipe", code: EMFILE) }
            return file
        } catch {
            close(pipe.descriptor)
            throw error
        }
    }

    /// Calls back when the program has ended; the returned function terminates it.
    private static func wait(
        for child: ChildProcess, on loop: EventLoop, _ done: @escaping (ChildProcess.End) -> Void
    ) -> () -> Void {
        let descriptor = child.makeDescriptor()
        guard descriptor >= 0 else {
            // The kernel has no such descriptors: poll.
            var timer: LoopTimer?
            timer = loop.every(0.01) {
                guard let end = child.end(waits: false) else { return }
                timer?.cancel()
                done(end)
            }
            return {
                timer?.cancel()
                child.terminate()
            }
        }
        var watch: LoopWatch?
        watch = loop.watch(descriptor) { _ in
            watch?.cancel()
            close(descriptor)
            done(child.end() ?? .unknown)
        }
        return {
            watch?.cancel()
            close(descriptor)
            child.terminate()
        }
    }

    /// The results of Lua's own `os.execute`.
    private static func values(of end: ChildProcess.End) -> [LuaValue] {
        switch end {
        case .exited(0): [.boolean(true), "exit", .integer(0)]
        case .exited(let code): [.nil, "exit", .integer(Int64(code))]
        case .signaled(let signal): [.nil, "signal", .integer(Int64(signal))]
        case .unknown: [.nil, .string(LuaString(SystemErrorText.describe(ECHILD))), .integer(Int64(ECHILD))]
        }
    }
}

/// Starts the programs that scripts may run: shell commands, or granted programs by name, if their files are unchanged.
final class ProgramStarter {
    private var grants: [ProgramGrant]
    private var known: [ProgramFile.Stamp: String] = [:]
    /// Whether a program was refused because its file has changed.
    private(set) var hasDeniedChange = false
    /// Whether the line about the closed network was written.
    private var hasSaidNetwork = false

    init(_ grants: [ProgramGrant]) { self.grants = grants }

    /// Starts a command.
    ///
    /// - Parameters:
    ///   - command: the script's text.
    ///   - function: the script's function, for errors.
    ///   - host: the host.
    ///   - input: the program's standard input; the host's own if not given.
    ///   - output: its standard output.
    /// - Returns: the program.
    /// - Throws: `FileError` when it cannot be started, `LuaError` when it is not granted.
    func start(
        _ command: String, for function: String, in host: ScriptHost, input: Int32? = nil, output: Int32? = nil
    ) throws -> ChildProcess {
        // What the script has written precedes the program's output, and is in the files that it reads.
        host.output.flush()
        let folder = closedFolder(host)
        if host.options.allowsRunning {
            return try ChildProcess(
                ["/bin/sh", "-c", command], closing: folder, ports: ports(host), input: input, output: output)
        }
        guard !grants.isEmpty else {
            throw LuaError(
                .runtime,
                "\(function) starts a program, which the sandbox does not grant; --allow-run does, or cubby config grant run PROGRAM for one by its name"
            )
        }
        let words = try CommandWords.split(command, for: function)
        guard let index = index(of: words.first ?? "", in: host) else {
            throw error(of: words.first ?? "", function, host)
        }
        let file = try ProgramFile(grants[index].path, known: known)
        if file.isSettled { known[file.stamp] = file.digest }
        if file.digest != grants[index].digest { try approve(file, index, function, host) }
        // A program of many names is the one that was granted, whichever way the script has written it.
        return try ChildProcess(
            [grants[index].name] + words.dropFirst(), program: file, closing: folder, ports: ports(host), input: input,
            output: output)
    }

    /// The TCP ports that programs may connect to; nil if the kernel's fence around the process holds that.
    private func ports(_ host: ScriptHost) -> Set<Int>? {
        host.fences.kernelABI == nil ? host.network.ports.union(host.sandbox.hostPorts) : nil
    }

    /// Says once a run that the network is closed, when a program has failed under that: its own message blames the
    /// server.
    ///
    /// - Parameters:
    ///   - command: the script's text.
    ///   - status: the program's exit status.
    ///   - host: the host.
    func didEnd(_ command: String, _ status: Int32, in host: ScriptHost) {
        guard status != 0, !hasSaidNetwork, let abi = host.fences.kernelABI ?? Landlock.abi, abi >= Landlock.networkABI
        else { return }
        hasSaidNetwork = true
        let name = command.split(whereSeparator: { $0 == " " || $0 == "\n" }).first.map(String.init) ?? command
        let ports = host.network.ports.union(host.sandbox.hostPorts).sorted().map(String.init)
        let open =
            ports.isEmpty ? "" : ", except \(ports.count == 1 ? "port" : "ports") \(ports.joined(separator: ", "))"
        host.inform(
            "\(VisibleText.line(name)) ended with status \(status); the network is closed to programs that scripts start (TCP\(open)): --allow-net HOST:PORT, or cubby config grant net HOST:PORT, opens a port to them, of any host"
        )
    }

    /// The configuration's folder, unless the kernel's fence already closes it to programs.
    private func closedFolder(_ host: ScriptHost) -> ClosedFolder? {
        guard let path = ConfigurationFolder.locate() else { return nil }
        guard host.fences.kernelABI != nil else { return ClosedFolder(path) }
        let roots = [host.container.path] + host.options.writable + LandlockRules.host.devices
        return ClosedFolder(
            path, within: roots.map { RealPath.ofExistingPart(of: PathText.absolute($0, from: host.fence.base)) })
    }

    /// The grant of a name, or of the path by which it was granted.
    private func index(of word: String, in host: ScriptHost) -> Int? {
        guard word.contains("/") else { return grants.firstIndex { $0.name == word } }
        let path = PathText.absolute(word, from: host.fence.base)
        return grants.firstIndex { $0.spelling == path }
    }

    /// The error for a word that is not a grant, with the grant of the same file if there is one.
    private func error(of word: String, _ function: String, _ host: ScriptHost) -> LuaError {
        let path = word.contains("/") ? try? RealPath.of(PathText.absolute(word, from: host.fence.base)) : nil
        if let path, let grant = grants.first(where: { $0.path == path }) {
            return LuaError(
                .runtime,
                "\(function): '\(word)' is the file of \(grant.name), which is granted by that name and as \(DisplayPath.abbreviate(grant.spelling)): start it by one of these"
            )
        }
        return LuaError(
            .runtime,
            "\(function) starts programs that are granted by name, and '\(word)' is none of them; cubby config grant run grants it"
        )
    }

    /// Requests the user's approval of a changed file.
    private func approve(_ file: ProgramFile, _ index: Int, _ function: String, _ host: ScriptHost) throws {
        var grant = grants[index]
        guard host.options.isInteractive, host.fences.kernelABI == nil,
            host.activeFrontEnd?.consent(toChanged: grant) == true
        else {
            hasDeniedChange = true
            throw LuaError(
                .runtime,
                "\(function): \(DisplayPath.abbreviate(grant.path)) has changed since it was granted; cubby --container \(host.container.displayPath) config grant run \(grant.name) approves it as it is now"
            )
        }
        grant.digest = file.digest
        grants[index] = grant
        do { try host.options.programApproved?(grant) } catch {
            host.logger.warning("The approval is not reading: \(error)")
        }
    }
}

/// Splits a command into words as the shell does, without expansion.
///
/// Quotes and backslashes have their meaning in the shell. Characters that a shell would interpret are refused, so that
/// a command never has another meaning than in a shell.
enum CommandWords {
    /// Splits a command.
    ///
    /// - Throws: `LuaError` for a character that needs a shell, and for a quote without its end.
    static func split(_ command: String, for function: String) throws(LuaError) -> [String] {
        var words: [String] = []
        var word: String?
        var quote: Unicode.Scalar?
        var rest = command.unicodeScalars[...]
        while let scalar = rest.popFirst() {
            switch (scalar, quote) {
            case ("'", "'"), ("\"", "\""): quote = nil
            case (_, "'"): word?.unicodeScalars.append(scalar)
            case ("'", nil), ("\"", nil):
                quote = scalar
                word = word ?? ""
            case ("\\", _):
                guard let next = rest.popFirst(), next != "\n" else {
                    throw error("a backslash at the end of a line", function)
                }
                // Within double quotes a backslash escapes only characters that are special there.
                let isLiteral = quote != nil && !["\"", "\\", "$", "`"].contains(next)
                word = (word ?? "") + (isLiteral ? "\\" : "")
                word?.unicodeScalars.append(next)
            case ("$", _), ("`", _): throw error("'\(scalar)'", function)
            case (_, "\""): word?.unicodeScalars.append(scalar)
            case (" ", _), ("\t", _):
                if let found = word { words.append(found) }
                word = nil
            case _ where operators.contains(scalar), ("~", _) where word == nil, ("#", _) where word == nil:
                throw error(scalar == "\n" ? "a line break" : "'\(scalar)'", function)
            default:
                word = word ?? ""
                word?.unicodeScalars.append(scalar)
            }
        }
        if let quote { throw error("\(quote) without its end", function) }
        if let word { words.append(word) }
        return words
    }

    private static let operators: Set<Unicode.Scalar> = [
        ";", "|", "&", "<", ">", "(", ")", "*", "?", "[", "\n", "\r",
    ]

    private static func error(_ subject: String, _ function: String) -> LuaError {
        LuaError(
            .runtime,
            "\(function): \(subject) needs a shell, and programs that are granted by name are started without one; "
                + "quote what is meant as text, or start with --allow-run, which grants the shell")
    }
}
