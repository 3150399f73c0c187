import CPlatform
package import Files
import Glibc
import Platform
import Synchronization

/// The messages between a kernel and its sockets, which are served by a thread of their own: a front end is heard and
/// answered while an entry runs.
package final class JupyterQueue: Sendable {
    /// Seconds in which texts are gathered for one message.
    private static let gathering = 0.02
    /// Bytes of a message of text.
    private static let textLimit = 1 << 20

    /// What leaves the kernel.
    enum Departure: Sendable {
        case answer(JupyterAnswer)
        /// A text for all front ends.
        case text([UInt8], isError: Bool, parent: [UInt8]?)
    }

    private struct State: Sendable {
        var arrivals: [JupyterMessage] = []
        var count = 0
        var rejected = 0
        var departures: [Departure] = []
        /// When the departures are sent; nil if nothing waits.
        var due: MonotonicTime?
        var isEnding = false
        var onArrival: (@Sendable (JupyterMessage) -> Void)?

        mutating func add(_ bytes: [UInt8], isError: Bool, parent: [UInt8]?) {
            if case .text(var last, isError, parent)? = departures.last,
                last.count < JupyterQueue.textLimit || last.openEnd > 0
            {
                // Removed, so that the unshared text grows in place.
                departures.removeLast()
                last += bytes
                departures.append(.text(last, isError: isError, parent: parent))
            } else {
                departures.append(.text(bytes, isError: isError, parent: parent))
            }
        }
    }

    private let state = Mutex(State())
    /// Readable when the sockets' thread must look at the queue.
    let descriptor: Int32

    /// - Throws: `FileError` when no descriptors are left.
    package init() throws(FileError) {
        descriptor = cubby_eventfd()
        if descriptor < 0 { throw FileError(.open, "an event descriptor", code: -descriptor) }
    }

    deinit { close(descriptor) }

    // MARK: From the front ends

    /// Calls a function on the sockets' thread after each message that arrives.
    package func notify(_ function: (@Sendable (JupyterMessage) -> Void)?) {
        state.withLock { $0.onArrival = function }
    }

    /// Adds a message of a front end.
    package func deliver(_ message: JupyterMessage) {
        let notify = state.withLock { state in
            state.count += 1
            var message = message
            message.number = state.count
            state.arrivals.append(message)
            return state.onArrival
        }
        notify?(message)
    }

    /// Takes the next message of a socket.
    package func next(_ channel: JupyterConnection.Channel) -> JupyterMessage? {
        state.withLock { state in
            state.arrivals.firstIndex { $0.channel == channel }.map { state.arrivals.remove(at: $0) }
        }
    }

    /// The number of the last message that has arrived.
    package var lastNumber: Int { state.withLock { $0.count } }

    /// Counts a message that was not taken.
    package func reject() { state.withLock { $0.rejected += 1 } }

    /// The number of messages that were malformed, not signed, or not known.
    package var rejectedCount: Int { state.withLock { $0.rejected } }

    // MARK: To the front ends

    /// Sends a message.
    package func send(_ answer: JupyterAnswer) {
        state.withLock { state in
            state.departures.append(.answer(answer))
            state.due = .now()
        }
        ring()
    }

    /// Sends a text to all front ends, together with what follows it soon.
    package func send(_ bytes: [UInt8], isError: Bool, parent: [UInt8]?) {
        let isFirst = state.withLock { state in
            state.add(bytes, isError: isError, parent: parent)
            defer { state.due = state.due ?? .now().advanced(by: Self.gathering) }
            return state.due == nil
        }
        if isFirst { ring() }
    }

    /// Takes what is due; a character whose last bytes are still to come stays.
    func takeDue(_ now: MonotonicTime) -> [Departure] {
        state.withLock { state in
            guard let due = state.due, due <= now || state.isEnding else { return [] }
            var taken = state.departures
            (state.departures, state.due) = ([], nil)
            if !state.isEnding, case .text(let bytes, let isError, let parent)? = taken.last,
                case let rest = bytes.openEnd, rest > 0
            {
                taken.removeLast()
                if rest < bytes.count { taken.append(.text(bytes.dropLast(rest), isError: isError, parent: parent)) }
                state.departures = [.text(Array(bytes.suffix(rest)), isError: isError, parent: parent)]
            }
            return taken
        }
    }

    /// When the sockets' thread must look again; nil if nothing waits.
    var due: MonotonicTime? { state.withLock { $0.due } }

    /// Whether the kernel has ended: what is queued is sent, and the sockets are closed.
    var isEnding: Bool { state.withLock { $0.isEnding } }

    /// Ends the sockets' work.
    package func end() {
        state.withLock { state in
            state.isEnding = true
            state.due = .now()
        }
        ring()
    }

    private func ring() {
        var one: UInt64 = 1
        // If it is full or interrupted, the descriptor is readable anyway.
        _ = cubby_write_some(descriptor, &one, 8)
    }

    /// Makes the descriptor unreadable until the queue changes.
    func acknowledge() {
        var count: UInt64 = 0
        _ = read(descriptor, &count, 8)
    }
}
