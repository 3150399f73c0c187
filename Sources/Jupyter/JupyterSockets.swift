import CMessaging
import Files
import Glibc
import Platform
import PropertyList

/// libzmq, loaded.
package struct MessagingLibrary: @unchecked Sendable {
    // The table is static, and filled once before anybody gets it.
    let table: UnsafePointer<cmessaging_library>

    /// Loads the library.
    ///
    /// - Throws: `JupyterError` with the package that is missing.
    package init() throws(JupyterError) {
        var reason: UnsafePointer<CChar>?
        guard let table = cmessaging_library(&reason) else {
            let text = reason.map { String(cString: $0) } ?? ""
            throw JupyterError("cubby kernel needs libzmq (apt-get install libzmq5): \(text)")
        }
        self.table = table
    }
}

/// The sockets of a kernel, served by a thread of their own, which sends heartbeats back and never waits for the kernel.
///
/// Unchecked: the library's sockets are made on one thread, and used by the serving thread only from its start on.
package final class JupyterSockets: @unchecked Sendable {
    /// Bytes of a frame; the library closes the connection of a peer that sends a longer one.
    private static let frameLimit: Int64 = 64 << 20
    /// Messages of a socket that are taken before the others are looked at.
    private static let greed = 100
    /// Milliseconds for what is not sent yet when the kernel ends.
    private static let linger: Int32 = 1000

    private let queue: JupyterQueue
    private let connection: JupyterConnection
    private let table: cmessaging_library
    private let context: UnsafeMutableRawPointer
    private var sockets: [JupyterConnection.Channel: UnsafeMutableRawPointer] = [:]
    /// A question whose front end has not connected its channel for questions yet.
    private var question: [[UInt8]]?
    private let end = Monitor(false)

    /// Opens the sockets.
    ///
    /// - Parameters:
    ///   - connection: the addresses and the key.
    ///   - queue: the messages.
    /// - Throws: `JupyterError` with the address that is taken.
    package init(_ connection: JupyterConnection, _ queue: JupyterQueue) throws(JupyterError) {
        table = try MessagingLibrary().table.pointee
        guard let context = table.zmq_ctx_new() else { throw JupyterError("out of memory") }
        (self.connection, self.queue, self.context) = (connection, queue, context)
        do throws(JupyterError) {
            for channel in JupyterConnection.Channel.allCases { try open(channel) }
        } catch {
            close(linger: 0)
            throw error
        }
    }

    private func open(_ channel: JupyterConnection.Channel) throws(JupyterError) {
        let kind =
            switch channel {
            case .shell, .control, .stdin: CMESSAGING_ROUTER
            case .iopub: CMESSAGING_XPUB
            case .heartbeat: CMESSAGING_REP
            }
        guard let socket = table.zmq_socket(context, Int32(kind)) else {
            throw JupyterError("a socket: \(problem)")
        }
        sockets[channel] = socket
        set(CMESSAGING_MAX_MESSAGE_SIZE, Self.frameLimit, socket)
        // Nothing is dropped for a front end that reads slowly: what is printed is bounded before.
        set(CMESSAGING_SEND_LIMIT, Int32(0), socket)
        if kind == CMESSAGING_XPUB { set(CMESSAGING_XPUB_VERBOSE, Int32(1), socket) }
        // A front end that connects again may take its name before its first connection is given up.
        if kind == CMESSAGING_ROUTER { set(CMESSAGING_ROUTER_HANDOVER, Int32(1), socket) }
        // A cell waits for the answer to a question: one that cannot be delivered yet is not dropped.
        if channel == .stdin { set(CMESSAGING_ROUTER_MANDATORY, Int32(1), socket) }
        let endpoint = connection.endpoint(channel)
        guard table.zmq_bind(socket, endpoint) == 0 else {
            throw JupyterError("\(VisibleText.line(endpoint)) cannot be listened on: \(problem)")
        }
    }

    /// The library's last error on this thread.
    private var problem: String { String(cString: table.zmq_strerror(table.zmq_errno())) }

    private func set(_ option: Int, _ value: some FixedWidthInteger, _ socket: UnsafeMutableRawPointer) {
        withUnsafeBytes(of: value) { bytes in
            if let start = bytes.baseAddress { _ = table.zmq_setsockopt(socket, Int32(option), start, bytes.count) }
        }
    }

    private func close(linger: Int32) {
        for socket in sockets.values {
            set(CMESSAGING_LINGER, linger, socket)
            _ = table.zmq_close(socket)
        }
        sockets = [:]
        while table.zmq_ctx_term(context) != 0, table.zmq_errno() == EINTR {}
    }

    /// Starts the thread.
    ///
    /// - Throws: `JupyterError` when no thread can be created.
    package func start() throws(JupyterError) {
        let isStarted = DetachedThread.start { [self] in
            serve()
            close(linger: Self.linger)
            end.change { $0 = true }
        }
        if !isStarted { throw .noThread }
    }

    /// Waits until what is queued has been sent, and the sockets are closed.
    package func waitForEnd() { end.wait(until: { $0 }) { _ in } }

    // MARK: The thread

    private func serve() {
        var frames = JupyterFrames(key: connection.key)
        while true {
            wait()
            queue.acknowledge()
            forEachMessage(.heartbeat) { send($0, through: .heartbeat) }
            for channel in [JupyterConnection.Channel.control, .stdin, .shell] {
                forEachMessage(channel) { take($0, from: channel) }
            }
            forEachMessage(.iopub) { welcome($0, &frames) }
            // Read before the queue is: what was sent before the end is sent still.
            let isLast = queue.isEnding
            for departure in queue.takeDue(.now()) { send(departure, &frames) }
            if isLast { return }
            if let question, send(question, through: .stdin) { self.question = nil }
        }
    }

    /// Waits for messages, until the queue changes or something in it is due, and no longer than a second.
    private func wait() {
        var items = sockets.values.map {
            cmessaging_item(socket: $0, descriptor: 0, events: Int16(CMESSAGING_POLL_IN), returned: 0)
        }
        items.append(
            cmessaging_item(socket: nil, descriptor: queue.descriptor, events: Int16(CMESSAGING_POLL_IN), returned: 0))
        let limit = question == nil ? 1 : 0.05
        let seconds = queue.due.map { $0.seconds(since: .now()) } ?? limit
        _ = table.zmq_poll(&items, Int32(items.count), Int((min(max(seconds, 0), limit) * 1000).rounded(.up)))
    }

    private func take(_ frames: [[UInt8]], from channel: JupyterConnection.Channel) {
        do throws(JupyterError) {
            queue.deliver(try JupyterMessage(channel, frames, key: connection.key))
        } catch { queue.reject() }
    }

    /// Receives the messages that wait on a channel, but not so many that other channels starve.
    private func forEachMessage(_ channel: JupyterConnection.Channel, _ body: ([[UInt8]]) -> Void) {
        for _ in 0..<Self.greed {
            guard let frames = receive(from: channel) else { return }
            body(frames)
        }
    }

    /// Receives the frames of a message; nil if none is there.
    private func receive(from channel: JupyterConnection.Channel) -> [[UInt8]]? {
        guard let socket = sockets[channel] else { return nil }
        var frames: [[UInt8]] = []
        while true {
            var message = cmessaging_message()
            _ = table.zmq_msg_init(&message)
            defer { _ = table.zmq_msg_close(&message) }
            // The parts of a message arrive together.
            guard table.zmq_msg_recv(&message, socket, Int32(CMESSAGING_DONT_WAIT)) >= 0 else { return nil }
            let count = table.zmq_msg_size(&message)
            frames.append(Array(UnsafeRawBufferPointer(start: table.zmq_msg_data(&message), count: count)))
            if table.zmq_msg_more(&message) == 0 { return frames }
        }
    }

    /// Tells a front end that its subscription has arrived: from now on it misses nothing.
    private func welcome(_ subscription: [[UInt8]], _ frames: inout JupyterFrames) {
        guard let bytes = subscription.first, bytes.first == 1 else { return }
        let topic = Array(bytes.dropFirst())
        let content: PropertyListFields = ["subscription": .string(String(decoding: topic, as: UTF8.self))]
        send(.answer(JupyterAnswer("iopub_welcome", content, parent: nil, topic: topic)), &frames)
    }

    private func send(_ departure: JupyterQueue.Departure, _ frames: inout JupyterFrames) {
        let answer: JupyterAnswer
        switch departure {
        case .answer(let whole): answer = whole
        case .text(let bytes, let isError, let parent):
            answer = JupyterAnswer(
                "stream", ["name": .string(isError ? "stderr" : "stdout"), "text": .string(String(escaping: bytes))],
                parent: parent)
        }
        let message = frames.frames(of: answer)
        let isSent = send(message, through: answer.channel)
        // With the end of its cell a question is over.
        switch answer.channel {
        case .stdin: question = isSent ? nil : message
        case .shell where answer.type == "execute_reply": question = nil
        default: break
        }
    }

    /// Sends the frames of a message. A front end that is gone gets nothing.
    ///
    /// - Returns: false if it could not be sent; of channels other than that of questions that is not known.
    @discardableResult
    private func send(_ frames: [[UInt8]], through channel: JupyterConnection.Channel) -> Bool {
        guard let socket = sockets[channel] else { return false }
        for (place, frame) in frames.enumerated() {
            let more = place < frames.count - 1 ? CMESSAGING_MORE : 0
            let flags = Int32(CMESSAGING_DONT_WAIT | more)
            guard table.zmq_send(socket, frame, frame.count, flags) >= 0 else { return false }
        }
        return true
    }
}
