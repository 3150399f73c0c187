import Application
import Files
import Glibc
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
            "Runs a command and waits, as Lua's own os.execute does; timers continue meanwhile. Needs --allow-run, which grants the shell, or a program granted by cubby config.",
            example: "return pcall(os.execute, \"true\")"
        ) { [unowned host] call in
            guard !call.isNil(0) else { return call.returns(host.options.allowsRunning) }
            let child: ChildProcess
            do { child = try host.programs.start(try call.text(0), for: "os.execute", in: host) } catch let error
                as FileError
            {
                return call.returns(failure: error)
            }
            host.commit()
            host.output.flush()
            return try host.scheduler.waitForValues(call) { [unowned host] resume in
                wait(for: child, on: host.loop) { resume(values(of: $0)) }
            }
        }
        io.function(
            "popen",
            [
                "command": "a shell command, or a granted program and its arguments",
                "mode": "\"r\" reads the command's output, \"w\" writes its input",
            ],
            returns: LuaType.orError(.object("file*")),
            "Starts a command and returns a file connected to it. Needs --allow-run, which grants the shell, or a program granted by cubby config.",
            example: "return pcall(io.popen, \"date\")"
        ) { [unowned host] (command: String, mode: PipeMode?) in
            try OrError(returning: FileError.self) { try open(command, mode ?? .r, host) }
        }
    }

    /// The direction of the script's end of a pipe.
    private enum PipeMode: String, CaseIterable, LuaRepresentable { case r, w }

    private static func open(_ command: String, _ mode: PipeMode, _ host: ScriptHost) throws -> LuaValue {
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0 else { throw FileError(.open, "a pipe", code: errno) }
        let (own, other) = mode == .r ? (ends[0], ends[1]) : (ends[1], ends[0])
        // The program must not inherit this end: its input would never end.
        _ = fcntl(own, F_SETFD, FD_CLOEXEC)
        defer { close(other) }
        do {
            let child = try host.programs.start(
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
            done(child.end() ?? .exited(0))
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
        }
    }
}
