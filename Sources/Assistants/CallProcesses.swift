package import Application
import Files
import Glibc
package import PropertyList
import REPL

/// Starts the calls of a server as processes of this program: a fence, limits and an end of its own for each.
///
/// The process of a call that may change something stays as the container's host, unless another process is the host: then
/// it passes the call on.
package final class CallProcesses {
    private let loop: EventLoop
    private let words: [String]
    private var running: [CallProcess] = []

    /// - Parameters:
    ///   - loop: the thread's loop.
    ///   - words: the program and its arguments for a call that changes nothing.
    package init(_ loop: EventLoop, _ words: [String]) { (self.loop, self.words) = (loop, words) }

    /// Starts a call, as its server asks for it.
    package func start(_ call: JSONValue, isChanging: Bool, completion: @escaping (JSONValue) -> Void) -> () -> Void {
        do throws(FileError) {
            let words = words + (isChanging ? ["--allow-changes"] : [])
            let process = try CallProcess(words, on: loop, call, completion)
            running = running.filter { $0.watch != nil } + [process]
            return process.cancel
        } catch {
            completion(AssistantText.failure("a process cannot be started: \(error.message)"))
            return {}
        }
    }

    /// Ends what runs; the host in order: it stops its scripts, and saves.
    package func end() { for process in running { process.end(by: SIGHUP) } }
}

/// A process that takes a call, a line of JSON, and writes its output and an answer.
private final class CallProcess {
    /// The variables that calls get: scripts would read the key of a service among others.
    private static let variables = [
        "HOME", "PATH", "LANG", "LC_ALL", "LC_CTYPE", "TZ", "USER", "TMPDIR", "XDG_CONFIG_HOME", "XDG_DATA_HOME",
        "CUBBY_BUNDLE", "LUA_PATH", "LUA_PATH_5_4", "MEMORY_PRESSURE_WATCH",
    ]

    private let child: ChildProcess
    /// The other end of its standard streams.
    private let socket: AttachSocket
    /// Its call; nil when it has answered.
    private var call: JSONValue?
    private var output: [UInt8] = []
    /// Nil when it has ended.
    private(set) var watch: LoopWatch?

    /// - Parameters:
    ///   - words: the program and its arguments.
    ///   - loop: the thread's loop.
    ///   - call: its input.
    ///   - completion: called with the answer, and once more at the end of the process.
    /// - Throws: `FileError` when it cannot be started.
    init(
        _ words: [String], on loop: EventLoop, _ call: JSONValue, _ completion: @escaping (JSONValue) -> Void
    ) throws(FileError) {
        var ends: [Int32] = [-1, -1]
        guard socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0, &ends) == 0 else {
            throw FileError(.open, "a pair of sockets", code: errno)
        }
        defer { close(ends[1]) }
        socket = AttachSocket(ends[0])
        let input = OutputQueue(StreamDescriptor(ends[0]), on: loop)
        self.call = call
        let environment = Self.variables.reduce(into: [:]) { $0[$1] = ProcessEnvironment.value($1) }
        child = try ChildProcess(words, input: ends[1], output: ends[1], environment: environment)
        input.send(((try? call.json()) ?? []) + [0x0A])
        watch = loop.watch(ends[0]) { [self, input] _ in
            let piece = input.stream.read()
            output += piece
            // A program of a script may write any number of bytes.
            let isOver = piece.isEmpty || output.count > 32 << 20
            guard isOver || output.last == 0x0A else { return }
            let answer = ToolWork.answer(to: call, in: output)
            guard isOver || answer != nil else { return }
            self.call = nil
            if isOver { end(by: SIGKILL) }
            // What a process has said that has given none is data.
            let said = VisibleText.escaped(String(escaping: output, upTo: 4096))
            let failure = AssistantText.failure("there is no answer: the process of the call has ended", output: said)
            completion(answer ?? failure)
            output = []
        }
    }

    /// Stops the call: a host that performs it goes on, any other process ends.
    func cancel() {
        if let call { kill(child.processIdentifier, ToolWork.hasBegun(call, in: output) ? SIGINT : SIGKILL) }
    }

    /// Ends it. The loop no longer holds it.
    func end(by signal: Int32) {
        guard let watch else { return }
        watch.cancel()
        self.watch = nil
        kill(child.processIdentifier, signal)
        _ = child.end()
    }
}
