import Files
import Platform
import PropertyList
import Testing

@testable import Jupyter

@Suite("Messages of notebooks' front ends")
struct JupyterMessageTests {
    static let key = Array("a key".utf8)

    /// The frames of a front end's message.
    static func frames(
        _ type: String = "execute_request", _ content: String = #"{"code":"1"}"#, key: [UInt8] = key
    ) -> [[UInt8]] {
        let parts = [#"{"msg_type":"\#(type)","msg_id":"7"}"#, "{}", "{}", content].map { Array($0.utf8) }
        return [[1, 2], JupyterFrames.delimiter, JupyterFrames.signature(parts[...], key: key)] + parts
    }

    @Test("a signed message is taken: its type, its content, its header as it came")
    func taken() throws {
        let frames = Self.frames()
        let message = try JupyterMessage(.shell, frames, key: Self.key)
        #expect(message.type == "execute_request" && message.identities == [[1, 2]] && message.header == frames[3])
        #expect(message.content.fields?["code"] == .string("1"))
    }

    @Test("any frame that another wrote is refused, and so is a message without its frames", arguments: 2..<7)
    func refused(place: Int) {
        var frames = Self.frames()
        frames[place].append(0x20)
        #expect(throws: JupyterError.self) { try JupyterMessage(.shell, frames, key: Self.key) }
        #expect(throws: JupyterError.self) { try JupyterMessage(.shell, Array(frames.prefix(place)), key: Self.key) }
        #expect(throws: JupyterError.self) {
            try JupyterMessage(.shell, Self.frames(key: Array("another".utf8)), key: Self.key)
        }
    }

    @Test("without a key nothing is signed")
    func unsigned() throws {
        #expect(Self.frames(key: [])[2] == [])
        #expect(
            try JupyterMessage(.control, Self.frames("interrupt_request", "{}", key: []), key: []).content
                == .fields([:]))
    }

    @Test("signed nonsense is refused", arguments: ["", "[", "{\"code\":", "\u{0}"])
    func nonsense(content: String) {
        #expect(throws: JupyterError.self) {
            try JupyterMessage(.shell, Self.frames("execute_request", content), key: Self.key)
        }
    }

    @Test("an answer has the request's header as its parent, and a signature that a front end accepts")
    func answered() throws {
        let request = try JupyterMessage(.shell, Self.frames(), key: Self.key)
        var maker = JupyterFrames(key: Self.key)
        let frames = maker.frames(of: JupyterAnswer("execute_reply", ["status": .string("ok")], to: request))
        #expect(frames[0] == [1, 2] && frames[4] == request.header)
        let read = try JupyterMessage(.shell, frames, key: Self.key)
        #expect(read.type == "execute_reply" && read.content == .fields(["status": .string("ok")]))
        let header = try PropertyListValue(json: read.header).fields
        #expect(header?["version"] == .string("5.4"))
        let other = maker.frames(of: JupyterAnswer("status", [:], parent: nil))
        #expect(other[0] == Array("status".utf8) && other[3] != frames[3] && other[4] == Array("{}".utf8))
    }

    static let connection = """
        {"shell_port": 1, "iopub_port": 2, "stdin_port": 3, "control_port": 4, "hb_port": 5, "ip": "127.0.0.1",
         "key": "k", "transport": "tcp", "signature_scheme": "hmac-sha256", "kernel_name": ""}
        """

    @Test("a connection file has the addresses and the key")
    func connection() throws {
        let connection = try JupyterConnection(json: Array(Self.connection.utf8))
        #expect(connection.endpoint(.heartbeat) == "tcp://127.0.0.1:5" && connection.key == Array("k".utf8))
        #expect(connection.listenedPorts == [1, 2, 3, 4, 5])
        let text = Self.connection.replacing("\"tcp\"", with: "\"ipc\"").replacing("127.0.0.1", with: "/tmp/k")
        let ipc = try JupyterConnection(json: Array(text.utf8))
        #expect(ipc.endpoint(.shell) == "ipc:///tmp/k-1" && ipc.listenedPorts.isEmpty)
    }

    @Test(
        "what is not understood of a connection file is named",
        arguments: [
            ("hmac-sha256", "hmac-md5", "hmac-md5"), ("\"shell_port\": 1", "\"shell_port\": 70000", "shell_port"),
            ("\"key\": \"k\",", "", "key"), ("tcp", "pgm", "pgm"), ("{", "", "JSON"),
        ])
    func misunderstood(part: String, other: String, word: String) {
        let text = Self.connection.replacing(part, with: other)
        let error = #expect(throws: JupyterError.self) { try JupyterConnection(json: Array(text.utf8)) }
        #expect(error?.message.contains(word) == true, "\(error?.message ?? "")")
    }
}

@Suite("The queue between a kernel and its sockets")
struct JupyterQueueTests {
    /// What is due, texts as they would be sent.
    private func taken(_ queue: JupyterQueue) -> [String] {
        queue.takeDue(.now().advanced(by: 1)).map { departure in
            switch departure {
            case .answer(let answer): answer.type
            case .text(let bytes, let isError, _): (isError ? "!" : "") + String(decoding: bytes, as: UTF8.self)
            }
        }
    }

    @Test("texts become one message until another message, or the other stream, comes between")
    func gathered() throws {
        let queue = try JupyterQueue()
        for text in ["a", "b"] { queue.send(Array(text.utf8), isError: false, parent: [1]) }
        queue.send(Array("c".utf8), isError: true, parent: [1])
        queue.send(JupyterAnswer("status", [:], parent: nil))
        queue.send(Array("d".utf8), isError: false, parent: [1])
        queue.send(Array("e".utf8), isError: false, parent: [2])
        #expect(taken(queue) == ["ab", "!c", "status", "d", "e"])
        #expect(taken(queue).isEmpty && queue.due == nil)
    }

    @Test("texts wait a moment, messages do not")
    func due() throws {
        let queue = try JupyterQueue()
        queue.send(Array("a".utf8), isError: false, parent: nil)
        let due = try #require(queue.due)
        queue.send(JupyterAnswer("status", [:], parent: nil))
        #expect(try #require(queue.due) < due)
    }

    @Test("a character in two pieces is sent whole; one that never ends is sent at the end")
    func characters() throws {
        let queue = try JupyterQueue()
        let bytes = Array("x😀".utf8)
        queue.send(Array(bytes[..<3]), isError: false, parent: nil)
        #expect(taken(queue) == ["x"])
        queue.send(Array(bytes[3...]), isError: false, parent: nil)
        #expect(taken(queue) == ["😀"])
        queue.send([0xE2, 0x82], isError: false, parent: nil)
        #expect(taken(queue).isEmpty)
        queue.end()
        #expect(taken(queue) == ["\u{FFFD}"])
    }

    @Test("requests are taken in their order, socket by socket")
    func order() throws {
        let queue = try JupyterQueue()
        for channel in [JupyterConnection.Channel.shell, .control, .shell] {
            queue.deliver(try JupyterMessage(channel, JupyterMessageTests.frames(key: []), key: []))
        }
        #expect(queue.next(.stdin) == nil && queue.next(.control)?.number == 2 && queue.lastNumber == 3)
        #expect(queue.next(.shell)?.number == 1 && queue.next(.shell)?.number == 3 && queue.next(.shell) == nil)
    }
}
