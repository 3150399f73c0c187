package import Application
import CPlatform
import Files
import Glibc
package import PropertyList
import Wording

/// What a process of this program does for a call.
package enum CallRole: String, Sendable {
    /// Performs one call on the container as it is; nothing is kept.
    case dry
    /// Passes one call to the host of the container.
    case pass
    /// Is the host, which keeps what calls change, until its input ends.
    case host
}

/// Starts the calls of a server as processes of this program: a fence, limits and an end of its own for each.
package final class CallProcesses: CallStarter {
    private let loop: EventLoop
    private let words: (CallRole) -> [String]
    private var host: CallProcess?
    private var isReady = false
    /// The call that waits for the host: changes follow one another.
    private var waiting: ((_ problem: String) -> Void)?

    /// - Parameters:
    ///   - loop: the thread's loop.
    ///   - words: the program and its arguments, by the role.
    package init(_ loop: EventLoop, words: @escaping (CallRole) -> [String]) { (self.loop, self.words) = (loop, words) }

    package func start(
        _ call: JSONValue, isChanging: Bool, completion: @escaping (JSONValue) -> Void
    ) -> () -> Void {
        var (current, isOver): (CallProcess?, Bool) = (nil, false)
        func begin(_ problem: String) {
            if !isOver { current = spawn(isChanging ? .pass : .dry, call, problem, completion) }
        }
        if isChanging, !isReady {
            waiting = begin
            openHost()
        } else {
            begin("")
        }
        return {
            isOver = true
            current?.kill()
        }
    }

    /// Opens a host, unless it is being opened. Where another process has the container, that may serve the call.
    private func openHost() {
        guard host == nil else { return }
        host = spawn(.host, nil) { [weak self] answer in
            guard let self else { return }
            isReady = answer["isReady"] != nil
            if !isReady { host = nil }
            let begin = waiting
            waiting = nil
            // Why there is no host of this client is also a reason.
            begin?(answer["data"]?["error"]?.text ?? "")
        }
    }

    /// Ends the host in order: it stops what runs, and saves.
    package func end() { host?.endInput(waits: true) }

    private func spawn(
        _ role: CallRole, _ call: JSONValue?, _ problem: String = "", _ completion: @escaping (JSONValue) -> Void
    ) -> CallProcess? {
        do throws(FileError) { return try CallProcess(words(role), loop, call, problem, completion) } catch {
            completion(AssistantText.failure("a process cannot be started: \(error.message)"))
            return nil
        }
    }
}

/// Reads what a descriptor has, which is readable: nothing at the end.
private func readSome(_ descriptor: Int32) -> [UInt8] {
    [UInt8](unsafeUninitializedCapacity: 1 << 16) { buffer, count in
        var result = 0
        repeat { result = read(descriptor, buffer.baseAddress, buffer.count) } while result < 0 && errno == EINTR
        count = max(result, 0)
    }
}

/// A process that writes its output and an answer, a line of JSON.
private final class CallProcess {
    /// The largest length of what it writes in bytes.
    private static let limit = 32 << 20

    private let child: ChildProcess
    /// The other end of its standard streams.
    private let descriptor: Int32
    private var watch: LoopWatch?
    private var bytes: [UInt8] = []

    /// - Parameters:
    ///   - words: the program and its arguments.
    ///   - loop: the thread's loop.
    ///   - call: its input, after whose answer it ends; nil for a process that stays while its input is open.
    ///   - problem: what is added to its own reason for giving no answer.
    ///   - completion: called with the answer, and at the end of a process that stays.
    /// - Throws: `FileError` when it cannot be started.
    init(
        _ words: [String], _ loop: EventLoop, _ call: JSONValue?, _ problem: String,
        _ completion: @escaping (JSONValue) -> Void
    ) throws(FileError) {
        var ends: [Int32] = [-1, -1]
        guard socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0, &ends) == 0 else {
            throw FileError(.open, "a pair of sockets", code: errno)
        }
        descriptor = ends[0]
        defer { close(ends[1]) }
        do throws(FileError) { child = try ChildProcess(words, input: ends[1], output: ends[1]) } catch {
            close(ends[0])
            throw error
        }
        if let json = try? (call?.json() ?? []) + [0x0A], cubby_write(descriptor, json, json.count) < json.count {
            // It is gone already, which its output tells.
            endInput()
        }
        watch = loop.watch(descriptor) { [self] _ in
            let piece = readSome(descriptor)
            bytes += piece
            let isOver = piece.isEmpty || bytes.count > Self.limit
            guard isOver || bytes.last == 0x0A else { return }
            let answer = ToolCalls.answer(to: call, in: bytes)
            if isOver || answer != nil && call != nil { kill() }
            if isOver || answer != nil { completion(answer ?? failure(problem)) }
            if answer != nil { bytes = [] }
        }
    }

    deinit { close(descriptor) }

    /// The answer of a process that has given none: what it has said is data.
    private func failure(_ problem: String) -> JSONValue {
        var answer = AssistantText.failure("there is no answer: the process of the call has ended")
        let text = VisibleText.escaped(String(decoding: bytes.prefix(4096), as: UTF8.self))
        if !text.isEmpty { answer["data"] = .of(["error": text + problem]) }
        return answer
    }

    /// Ends its input: a host ends then in order.
    func endInput(waits: Bool = false) {
        shutdown(descriptor, Int32(SHUT_WR))
        if waits { _ = child.end() }
    }

    /// Ends it at once. The loop no longer holds it.
    func kill() {
        guard let watch else { return }
        watch.cancel()
        self.watch = nil
        Glibc.kill(child.processIdentifier, SIGKILL)
        _ = child.end()
    }
}

/// The client on the standard streams. What it does not read waits in bounded memory; the loop never waits for it.
package final class AssistantClient {
    /// The largest number of bytes that wait: a client beyond it is gone.
    private static let limit = 64 << 20

    private let loop: EventLoop
    /// A slice, whose beginning is removed without moving the rest.
    private var waiting: ArraySlice<UInt8> = []
    private var input: LoopWatch?
    private var output: LoopWatch?
    private var isGone = false

    /// - Parameter loop: the thread's loop.
    package init(_ loop: EventLoop) { self.loop = loop }

    /// Queues bytes.
    package func send(_ bytes: [UInt8]) {
        waiting += bytes
        if waiting.count > Self.limit { isGone = true }
        output?.events = .writable
    }

    /// Serves until the client has left. One that only ends its requests still gets their answers.
    package func serve(_ server: AssistantServer) {
        input = loop.watch(StandardDescriptor.input) { [self] _ in
            let bytes = readSome(StandardDescriptor.input)
            if bytes.isEmpty { input?.cancel() } else { server.receive(bytes[...]) }
        }
        // An event that a stream never has: only its end is reported.
        output = loop.watch(StandardDescriptor.output, for: .priority) { [self] events in
            if events.contains(.writable) { write() }
            if !events.isDisjoint(with: [.hangUp, .error]) { isGone = true }
        }
        loop.run(until: { isGone || input?.isCancelled == true && server.isIdle && waiting.isEmpty })
        server.end()
    }

    /// Writes what the stream takes without blocking: a writable pipe has room for this much.
    private func write() {
        let count = waiting.withUnsafeBytes {
            cubby_write_some(StandardDescriptor.output, $0.baseAddress, min($0.count, 4096))
        }
        if count >= 0 { waiting.removeFirst(Int(count)) } else if errno != EAGAIN { isGone = true }
        guard waiting.isEmpty else { return }
        waiting = []
        output?.events = .priority
    }
}
