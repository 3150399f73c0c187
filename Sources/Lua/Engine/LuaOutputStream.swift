internal import Synchronization

/// The output of runs as an asynchronous sequence of chunks of bytes: while its reader is slow, the script waits.
///
/// ```swift
/// let page = LuaOutputStream()
/// async let run: Void = engine.run(script, output: page.output)
/// for await bytes in page { try await response.write(bytes) }
/// try await run
/// ```
///
/// A script that has written as many bytes as the stream holds waits in its `print` or `io.write` until the reader has
/// taken them, as for an async function: other runs of the engine continue, and deadlines and cancellation end the wait.
/// So the stream holds at most its capacity and one write. The sequence ends when the runs have ended that were given
/// its output, and no variable holds it. There is one reader; once its iterator is released, as by leaving the loop,
/// output is dropped, and no script waits.
public final class LuaOutputStream: AsyncSequence, Sendable {
    public typealias Element = [UInt8]

    private let buffer: OutputBuffer

    /// Creates a stream.
    ///
    /// - Parameter capacity: the number of bytes beyond which a script waits; 64 KB if not given.
    public init(capacity: Int = 65_536) { buffer = OutputBuffer(capacity: capacity) }

    deinit { buffer.closeUnread() }

    /// An output for one run, or for an engine. The sequence ends when the last of those that were asked for is
    /// released: by its run, and by a variable that holds it.
    public var output: LuaEngine.Output {
        let writer = OutputWriter(buffer)
        return { bytes in writer.write(bytes) }
    }

    public func makeAsyncIterator() -> Iterator { Iterator(reader: OutputReader(buffer)) }

    /// Takes the chunks of a ``LuaOutputStream``.
    public struct Iterator: AsyncIteratorProtocol {
        fileprivate let reader: OutputReader

        /// Waits for the next chunk: all that was written and not yet taken.
        ///
        /// - Returns: its bytes; nil at the end, or if the task is cancelled.
        public mutating func next() async -> [UInt8]? { await reader.buffer.take() }
    }
}

/// The reading end of a stream. Its release closes the stream.
private final class OutputReader: Sendable {
    let buffer: OutputBuffer

    init(_ buffer: OutputBuffer) {
        self.buffer = buffer
        buffer.open()
    }

    deinit { buffer.close() }
}

/// A writing end of a stream. The release of the last one ends the sequence.
private final class OutputWriter: Sendable {
    private let buffer: OutputBuffer

    init(_ buffer: OutputBuffer) {
        self.buffer = buffer
        buffer.add()
    }

    deinit { buffer.remove() }

    /// Says to the caller, by what it leaves on the thread, whether the script must wait.
    func write(_ bytes: borrowing Span<UInt8>) {
        if buffer.append(bytes) { ThreadHandover.leave(buffer) }
    }
}

/// The bytes between a script and its reader.
final class OutputBuffer: Sendable {
    private struct State {
        var bytes: [UInt8] = []
        var writers = 0
        var hasEnded = false
        var isRead = false
        var isClosed = false
        var reader: UnsafeContinuation<[UInt8]?, Never>?
        /// The scripts' tasks that wait for room.
        var waiting: [ObjectIdentifier: UnsafeContinuation<Void, Never>] = [:]

        mutating func takeBytes() -> [UInt8]? {
            guard !bytes.isEmpty else { return nil }
            defer { bytes = [] }
            return bytes
        }

        mutating func takeWaiting() -> [UnsafeContinuation<Void, Never>] {
            defer { waiting = [:] }
            return Array(waiting.values)
        }

        /// The reader, if there is one waiting, to be told of the end.
        mutating func takeReader() -> UnsafeContinuation<[UInt8]?, Never>? {
            defer { reader = nil }
            return reader
        }
    }

    /// What a reader takes, and the tasks that need not wait any more.
    private struct Taken {
        let bytes: [UInt8]?
        let waiting: [UnsafeContinuation<Void, Never>]
    }

    private let state = Mutex(State())
    private let capacity: Int

    init(capacity: Int) { self.capacity = max(capacity, 1) }

    func add() { state.withLock { $0.writers += 1 } }

    func remove() {
        let reader = state.withLock { state -> UnsafeContinuation<[UInt8]?, Never>? in
            state.writers -= 1
            guard state.writers == 0 else { return nil }
            state.hasEnded = true
            return state.takeReader()
        }
        reader?.resume(returning: nil)
    }

    func open() { state.withLock { $0.isRead = true } }

    func close() {
        let (reader, waiting) = state.withLock { state in
            state.isClosed = true
            state.bytes = []
            return (state.takeReader(), state.takeWaiting())
        }
        reader?.resume(returning: nil)
        for each in waiting { each.resume() }
    }

    /// Closes it if it has never had a reader.
    func closeUnread() {
        if state.withLock({ !$0.isRead }) { close() }
    }

    /// Appends bytes; returns whether it is full.
    func append(_ bytes: borrowing Span<UInt8>) -> Bool {
        var chunk: [UInt8]?
        let (reader, isFull) = state.withLock { state -> (UnsafeContinuation<[UInt8]?, Never>?, Bool) in
            guard !state.isClosed, !state.hasEnded else { return (nil, false) }
            for index in bytes.indices { state.bytes.append(bytes[index]) }
            guard state.reader != nil else { return (nil, state.bytes.count >= capacity) }
            chunk = state.takeBytes()
            return (chunk == nil ? nil : state.takeReader(), false)
        }
        reader?.resume(returning: chunk)
        return isFull
    }

    /// All bytes, once there are some; nil at the end, or if the task is cancelled.
    func take() async -> [UInt8]? {
        await withTaskCancellationHandler {
            await withUnsafeContinuation { (continuation: UnsafeContinuation<[UInt8]?, Never>) in
                let taken = state.withLock { state -> Taken? in
                    if let bytes = state.takeBytes() { return Taken(bytes: bytes, waiting: state.takeWaiting()) }
                    // A second reader gets nothing.
                    if state.hasEnded || state.isClosed || state.reader != nil || Task.isCancelled {
                        return Taken(bytes: nil, waiting: [])
                    }
                    state.reader = continuation
                    return nil
                }
                guard let taken else { return }
                for each in taken.waiting { each.resume() }
                continuation.resume(returning: taken.bytes)
            }
        } onCancel: {
            let reader = state.withLock { $0.takeReader() }
            reader?.resume(returning: nil)
        }
    }

    /// Waits until it is not full; less, if the task is cancelled.
    func waitForCapacity() async {
        /// Identifies the wait.
        final class Wait: Sendable {}
        let wait = Wait()
        await withTaskCancellationHandler {
            await withUnsafeContinuation { continuation in
                let mustWait = state.withLock { state in
                    guard state.bytes.count >= capacity, !state.isClosed, !Task.isCancelled else { return false }
                    state.waiting[ObjectIdentifier(wait)] = continuation
                    return true
                }
                if !mustWait { continuation.resume() }
            }
        } onCancel: {
            let continuation = state.withLock { $0.waiting.removeValue(forKey: ObjectIdentifier(wait)) }
            continuation?.resume()
        }
    }
}
