package import Application
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
    /// Is the host, which keeps what calls change, until the server ends.
    case host
}

/// Starts the calls of a server as processes of this program: a fence, limits and an end of its own for each.
package final class CallProcesses {
    private let loop: EventLoop
    private let words: [String]
    private let environment: [String: String]
    private var host: CallProcess?
    private var isReady = false
    /// Called for the call that waits for the host: changes follow one another.
    private var whenReady: ((_ failure: JSONValue?) -> Void)?

    /// - Parameters:
    ///   - loop: the thread's loop.
    ///   - words: the program and its arguments, the last of which is followed by the role.
    ///   - environment: the variables of the processes.
    package init(_ loop: EventLoop, words: [String], environment: [String: String]) {
        (self.loop, self.words, self.environment) = (loop, words, environment)
    }

    /// Starts a call, as its server asks for it.
    package func start(
        _ call: JSONValue, isChanging: Bool, completion: @escaping (JSONValue) -> Void
    ) -> () -> Void {
        var current: CallProcess?
        var isOver = false
        func begin(_ role: CallRole) {
            if !isOver { current = start(role, call, completion) }
        }
        if isChanging {
            openHost { failure in
                if let failure { completion(failure) } else { begin(.pass) }
            }
        } else {
            begin(.dry)
        }
        return {
            isOver = true
            current?.end(by: SIGKILL)
        }
    }

    /// Opens a host, unless there is one.
    ///
    /// - Parameter completion: called when there is one, or with an answer that says why there is none. Where another
    ///   process has the container, that may serve the call.
    private func openHost(_ completion: @escaping (_ failure: JSONValue?) -> Void) {
        if isReady { return completion(nil) }
        whenReady = completion
        guard host == nil else { return }
        host = start(.host, nil) { [weak self] answer in
            guard let self else { return }
            isReady = answer["isReady"] != nil
            if !isReady { host = nil }
            let next = whenReady
            whenReady = nil
            next?(isReady ? nil : answer)
        }
    }

    /// Ends the host in order: it stops what runs, and saves.
    package func end() { host?.end(by: SIGHUP) }

    private func start(
        _ role: CallRole, _ call: JSONValue?, _ completion: @escaping (JSONValue) -> Void
    ) -> CallProcess? {
        do throws(FileError) {
            return try CallProcess(words + [role.rawValue], environment, on: loop, call, completion)
        } catch {
            completion(AssistantText.failure("a process cannot be started: \(error.message)"))
            return nil
        }
    }
}

/// A process that takes a call, a line of JSON, and writes its output and an answer.
private final class CallProcess {
    /// The largest length of what it writes in bytes.
    private static let limit = 32 << 20

    private let child: ChildProcess
    /// The other end of its standard streams.
    private let stream: StreamDescriptor
    private let input: OutputQueue
    private var output: [UInt8] = []
    private var watch: LoopWatch?

    /// - Parameters:
    ///   - words: the program and its arguments.
    ///   - environment: its variables.
    ///   - loop: the thread's loop.
    ///   - call: its input, after whose answer it ends; nil for a process that stays.
    ///   - completion: called with the answer, and at the end of a process that stays.
    /// - Throws: `FileError` when it cannot be started.
    init(
        _ words: [String], _ environment: [String: String], on loop: EventLoop, _ call: JSONValue?,
        _ completion: @escaping (JSONValue) -> Void
    ) throws(FileError) {
        var ends: [Int32] = [-1, -1]
        guard socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0, &ends) == 0 else {
            throw FileError(.open, "a pair of sockets", code: errno)
        }
        defer { close(ends[1]) }
        stream = StreamDescriptor(ends[0])
        input = OutputQueue(stream, on: loop)
        do throws(FileError) {
            child = try ChildProcess(words, input: ends[1], output: ends[1], environment: environment)
        } catch {
            close(ends[0])
            throw error
        }
        input.send(((try? call?.json()) ?? []) + [0x0A])
        watch = loop.watch(ends[0]) { [self] _ in
            let piece = stream.read()
            output += piece
            let isOver = piece.isEmpty || output.count > Self.limit
            guard isOver || output.last == 0x0A else { return }
            let answer = ToolCalls.answer(to: call, in: output)
            guard isOver || answer != nil else { return }
            if isOver || call != nil { end(by: SIGKILL) }
            completion(answer ?? failure)
            output = []
        }
    }

    deinit { close(stream.descriptor) }

    /// The answer of a process that has given none: what it has said is data.
    private var failure: JSONValue {
        var answer = AssistantText.failure("there is no answer: the process of the call has ended")
        let text = VisibleText.escaped(String(decoding: output.prefix(4096), as: UTF8.self))
        if !text.isEmpty { answer["data"] = .of(["error": text]) }
        return answer
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
