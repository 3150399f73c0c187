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
    /// The calls that wait for the host.
    private var waiting: [(_ problem: String) -> Void] = []

    /// - Parameters:
    ///   - loop: the thread's loop.
    ///   - words: the program and its arguments, by the role.
    package init(_ loop: EventLoop, words: @escaping (CallRole) -> [String]) { (self.loop, self.words) = (loop, words) }

    package func start(
        _ call: JSONValue, isChanging: Bool, completion: @escaping (JSONValue) -> Void
    ) -> () -> Void {
        var (current, isOver): (CallProcess?, Bool) = (nil, false)
        func begin(_ problem: String) {
            guard !isOver else { return }
            current = spawn(isChanging ? .pass : .dry, call) { answer in
                var answer = answer
                // Why there is no host of this client is also a reason.
                if answer["isLost"] != nil, let text = answer["data"]?["error"]?.text {
                    answer["data"]?["error"] = .string(text + problem)
                }
                completion(answer)
            }
        }
        if isChanging { withHost(begin) } else { begin("") }
        return {
            isOver = true
            current?.kill()
        }
    }

    /// Opens a host, unless this client has one. Where another process has the container, that may serve the call.
    private func withHost(_ body: @escaping (_ problem: String) -> Void) {
        if isReady { return body("") }
        waiting.append(body)
        guard host == nil else { return }
        host = spawn(.host, nil) { [weak self] answer in
            guard let self else { return }
            isReady = answer["isReady"] != nil
            if !isReady { host = nil }
            defer { waiting = [] }
            for body in waiting { body(answer["data"]?["error"]?.text ?? "") }
        }
    }

    /// Ends the host in order: it stops what runs, and saves.
    package func end() { host?.endInput(waits: true) }

    private func spawn(_ role: CallRole, _ call: JSONValue?, _ completion: @escaping (JSONValue) -> Void)
        -> CallProcess?
    {
        do throws(FileError) { return try CallProcess(words(role), loop, call, completion) } catch {
            completion(AssistantText.failure("a process cannot be started: \(error.message)"))
            return nil
        }
    }
}

/// A process that writes its output and an answer, a line of JSON.
private final class CallProcess {
    /// The largest length of what it writes in bytes.
    private static let limit = 32 << 20

    private let child: ChildProcess
    /// The other end of its standard streams.
    private let descriptor: Int32
    /// Whether it ends with its answer.
    private let isOneCall: Bool
    private var watch: LoopWatch?
    private var bytes: [UInt8] = []

    /// - Parameters:
    ///   - words: the program and its arguments.
    ///   - loop: the thread's loop.
    ///   - call: its input; nil for a process that stays while its input is open.
    ///   - completion: called with the answer, and at the end of a process that stays.
    /// - Throws: `FileError` when it cannot be started.
    init(
        _ words: [String], _ loop: EventLoop, _ call: JSONValue?, _ completion: @escaping (JSONValue) -> Void
    ) throws(FileError) {
        var ends: [Int32] = [-1, -1]
        guard socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0, &ends) == 0 else {
            throw FileError(.open, "a pair of sockets", code: errno)
        }
        (descriptor, isOneCall) = (ends[0], call != nil)
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
            let isOpen = read()
            guard !isOpen || bytes.last == 0x0A else { return }
            let answer = ToolCalls.answer(to: call, in: bytes)
            if !isOpen || answer != nil && isOneCall { kill() }
            if !isOpen || answer != nil { completion(answer ?? failure) }
            if answer != nil { bytes = [] }
        }
    }

    deinit { close(descriptor) }

    /// Reads what is there; false at the end.
    private func read() -> Bool {
        var buffer = [UInt8](repeating: 0, count: 1 << 16)
        let count = Glibc.read(descriptor, &buffer, buffer.count)
        bytes += buffer[..<max(count, 0)]
        return bytes.count <= Self.limit && (count > 0 || count < 0 && errno == EINTR)
    }

    /// The answer of a process that has given none: what it has said is data.
    private var failure: JSONValue {
        var answer = AssistantText.failure("there is no answer: the process of the call has ended")
        let text = VisibleText.escaped(String(decoding: bytes.prefix(4096), as: UTF8.self))
        answer["isLost"] = .boolean(true)
        if !text.isEmpty { answer["data"] = .object(["error": .string(text)]) }
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
        let input = loop.watch(StandardDescriptor.input) { [self] _ in
            var buffer = [UInt8](repeating: 0, count: 1 << 16)
            let count = read(StandardDescriptor.input, &buffer, buffer.count)
            if count > 0 { server.receive(buffer[..<count]) }
            if count == 0 || count < 0 && errno != EINTR { self.input?.cancel() }
        }
        self.input = input
        // An event that a stream never has: only its end is reported.
        output = loop.watch(StandardDescriptor.output, for: .priority) { [self] events in
            if events.contains(.writable) { write() }
            if !events.isDisjoint(with: [.hangUp, .error]) { isGone = true }
        }
        loop.run(until: { isGone || input.isCancelled && server.isIdle && waiting.isEmpty })
        server.end()
    }

    private var input: LoopWatch?

    /// Writes what the stream takes without blocking: a writable pipe has room for this much.
    private func write() {
        let count = waiting.withUnsafeBytes {
            cubby_write_some(StandardDescriptor.output, $0.baseAddress, min($0.count, 4096))
        }
        if count >= 0 { waiting.removeFirst(Int(count)) } else if errno != EAGAIN { isGone = true }
        if waiting.isEmpty {
            waiting = []
            output?.events = .priority
        }
    }
}
