import Application
import CNetwork
import Files
import Glibc
import Synchronization

/// What became of one exchange with a server.
struct HTTPOutcome: Sendable {
    enum Failure: Sendable {
        /// The library's code, its text, and the system's error number.
        case library(Int32, String, system: Int32)
        case denied(NetworkDenial)
        case file(FileError)
        case tooLarge
        /// A line of the header, or all of it, is longer than the library or this program reads.
        case headerTooLong
        /// The compressed body cannot be decompressed, and why.
        case body(HTTPDecompression.Failure)
    }

    var status = 0
    var headers: [HTTPField] = []
    var body: [UInt8] = []
    /// The absolute address to which the answer redirects.
    var redirect: String?
    var failure: Failure?
}

/// One exchange with a server: a request, and the answer up to its end.
///
/// The client's thread makes it and does not touch it, except `progress`, until it has ended; the transfers' thread performs
/// it. Each hands it over through a lock.
final class HTTPTransfer: @unchecked Sendable {
    /// What it needs.
    struct Order: Sendable {
        var request: HTTPRequest
        var address: HTTPAddress
        var proxy: HTTPProxy?
        var fence: NetworkFence
        var agent: String
        var seconds: Double
    }

    private let order: Order
    /// The new version of the file that the body of a success goes to.
    private let writer: AtomicFileWriter?
    private let memory: HTTPMemory
    private let done: @Sendable (HTTPOutcome) -> Void
    /// The number of bytes of the body that have arrived, and its size if the server has said it.
    let progress = Mutex<(done: Int, total: Int?)>((0, nil))

    private var outcome = HTTPOutcome()
    private var denial: NetworkDenial?
    private var received = 0
    private var headerSize = 0
    private var offset = 0
    private var sinceSync = 0
    /// What decompresses the body; nil for one that is taken as it is.
    private var decompression: HTTPDecompression?
    private var easy: UnsafeMutableRawPointer?
    private var fields: OpaquePointer?
    /// Where the library reports errors, and calls back: both stay in place.
    private let errors = UnsafeMutablePointer<CChar>.allocate(capacity: 256)
    private let callbacks = UnsafeMutablePointer<cnetwork_callbacks>.allocate(capacity: 1)

    init(
        _ order: Order, writer: AtomicFileWriter?, memory: HTTPMemory,
        done: @escaping @Sendable (HTTPOutcome) -> Void
    ) {
        (self.order, self.writer, self.memory, self.done) = (order, writer, memory, done)
        errors.initialize(repeating: 0, count: 256)
    }

    deinit {
        errors.deallocate()
        callbacks.deallocate()
    }

    // MARK: On the transfers' thread

    /// Makes the library's handle.
    ///
    /// - Returns: nil if it cannot be made; the transfer has ended then.
    func begin(_ library: CurlLibrary) -> UnsafeMutableRawPointer? {
        guard let easy = library.table.pointee.curl_easy_init() else {
            outcome.failure = .library(27, "out of memory", system: ENOMEM)
            done(outcome)
            return nil
        }
        self.easy = easy
        let code = setUp(easy, library)
        guard code == 0 else {
            end(code, library)
            return nil
        }
        return easy
    }

    private func setUp(_ easy: UnsafeMutableRawPointer, _ library: CurlLibrary) -> Int32 {
        let curl = library.table
        var code: Int32 = 0
        func set(_ option: Int, _ value: Int) {
            if code == 0 { code = cnetwork_set_long(curl, easy, Int32(option), value) }
        }
        func set(_ option: Int, size: Int) {
            if code == 0 { code = cnetwork_set_size(curl, easy, Int32(option), Int64(size)) }
        }
        func set(_ option: Int, _ text: String) {
            if code == 0 { code = text.withCString { cnetwork_set_pointer(curl, easy, Int32(option), $0) } }
        }
        set(CNETWORK_URL, order.address.text)
        // An empty text: no proxy, whatever the environment says.
        set(CNETWORK_PROXY, order.proxy?.text ?? "")
        set(CNETWORK_PROTOCOLS, 3)
        set(CNETWORK_FOLLOW_LOCATION, 0)
        set(CNETWORK_NETRC, 0)
        set(CNETWORK_NO_SIGNAL, 1)
        set(CNETWORK_NO_PROGRESS, 1)
        set(CNETWORK_VERIFY_PEER, 1)
        set(CNETWORK_VERIFY_HOST, 2)
        set(CNETWORK_HTTP09_ALLOWED, 0)
        set(CNETWORK_SUPPRESS_CONNECT_HEADERS, 1)
        set(CNETWORK_USER_AGENT, order.agent)
        let milliseconds = Int(min(max(order.seconds * 1000, 1), 86_400_000))
        set(CNETWORK_TIMEOUT_MS, milliseconds)
        set(CNETWORK_CONNECT_TIMEOUT_MS, milliseconds)
        set(CNETWORK_MAX_FILE_SIZE, size: order.request.sizeLimit)
        // Decompressed here: the library takes a stream that is cut for a whole one.
        if decompresses { set(CNETWORK_ACCEPT_ENCODING, HTTPDecompression.accepted) }
        set(CNETWORK_CONTENT_DECODING, 0)
        if let count = order.request.body.count ?? (["POST", "PUT", "PATCH"].contains(order.request.method) ? 0 : nil) {
            set(CNETWORK_UPLOAD, 1)
            set(CNETWORK_IN_FILE_SIZE, size: count)
        } else {
            set(CNETWORK_HTTP_GET, 1)
        }
        set(CNETWORK_CUSTOM_REQUEST, order.request.method)
        // Servers of HTTP 1.0 do not answer to it, and the library would wait.
        var lines = ["Expect:"]
        for field in order.request.headers {
            lines.append(field.value.utf8.isEmpty ? "\(field.name);" : "\(field.name): \(field.value)")
        }
        for line in lines {
            guard let longer = curl.pointee.curl_slist_append(fields, line) else { return 27 }
            fields = longer
        }
        if code == 0 {
            code = cnetwork_set_pointer(curl, easy, Int32(CNETWORK_HTTP_HEADER), fields.map { UnsafeRawPointer($0) })
        }
        if code == 0 { code = cnetwork_set_pointer(curl, easy, Int32(CNETWORK_ERROR_BUFFER), errors) }
        callbacks.initialize(to: makeCallbacks())
        if code == 0 { code = cnetwork_set_callbacks(curl, easy, callbacks) }
        // Young options, without which it goes as well.
        _ = cnetwork_set_long(curl, easy, Int32(CNETWORK_QUICK_EXIT), 1)
        return code
    }

    /// Whether the body is decompressed: not one that goes to a file, which is kept as the server has it, nor a range.
    private var decompresses: Bool {
        writer == nil && HTTPDecompression.isAvailable && !order.request.headers.contains { $0.isNamed("range") }
    }

    /// The library's calls, all on the transfers' thread, which retains this object meanwhile.
    private func makeCallbacks() -> cnetwork_callbacks {
        cnetwork_callbacks(
            context: Unmanaged.passUnretained(self).toOpaque(),
            body: { context, bytes, count in
                HTTPTransfer.of(context)?.take(UnsafeRawBufferPointer(start: bytes, count: count)) == true ? 1 : 0
            },
            header: { context, bytes, count in
                HTTPTransfer.of(context)?.takeHeader(UnsafeRawBufferPointer(start: bytes, count: count)) == true ? 1 : 0
            },
            more: { context, buffer, capacity in
                HTTPTransfer.of(context)?.more(UnsafeMutableRawBufferPointer(start: buffer, count: capacity)) ?? -1
            },
            seek: { context, offset in
                HTTPTransfer.of(context)?.offset = Int(clamping: offset)
                return 1
            },
            permits: { context, address, count in
                HTTPTransfer.of(context)?.permits(address, count) == true ? 1 : 0
            })
    }

    private static func of(_ context: UnsafeMutableRawPointer?) -> HTTPTransfer? {
        context.map { Unmanaged<HTTPTransfer>.fromOpaque($0).takeUnretainedValue() }
    }

    /// Whether the fence permits the address that is about to be connected to: that of the server or of the proxy.
    private func permits(_ address: UnsafeRawPointer, _ count: Int) -> Bool {
        guard let (address, port) = NetworkAddress.parse(address, count: count) else { return false }
        var last: NetworkDenial?
        for endpoint in [order.proxy?.endpoint, order.address.endpoint].compactMap(\.self) where endpoint.port == port {
            do throws(NetworkDenial) {
                try order.fence.check(address, of: endpoint)
                return true
            } catch {
                last = error
            }
        }
        denial = last ?? denial
        return false
    }

    private func takeHeader(_ line: UnsafeRawBufferPointer) -> Bool {
        headerSize += line.count
        guard headerSize <= 1 << 20 else {
            outcome.failure = .headerTooLong
            return false
        }
        let bytes = line.prefix { $0 != 0x0D && $0 != 0x0A }
        // What is not UTF-8 is Latin-1, as headers once were.
        let text =
            String(validating: bytes, as: UTF8.self)
            ?? String(String.UnicodeScalarView(bytes.map { Unicode.Scalar($0) }))
        if text.utf8.starts(with: "HTTP/".utf8) {
            // A further line of this kind follows an interim answer.
            let words = text.split(separator: " ", maxSplits: 2)
            outcome.status = words.count > 1 ? Int(words[1]) ?? 0 : 0
            outcome.headers = []
        } else if bytes.first == 0x20 || bytes.first == 0x09 {
            // A line that continues the one before, as headers once were folded.
            guard let last = outcome.headers.popLast() else { return true }
            let value = "\(last.value) \(Self.trimmed(text[...]))"
            outcome.headers.append(HTTPField(last.name, Self.trimmed(value[...])))
        } else if let colon = text.utf8.firstIndex(of: UInt8(ascii: ":")) {
            let field = HTTPField(
                Self.trimmed(text[..<colon]), Self.trimmed(text[text.utf8.index(after: colon)...]))
            outcome.headers.append(field)
            if field.isNamed("content-length"), let total = Int(field.value), total >= 0 {
                progress.withLock { $0.total = total }
            }
        }
        return true
    }

    private static func trimmed(_ text: Substring) -> String {
        func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 }
        let bytes = text.utf8.drop(while: isSpace)
        let end = bytes.lastIndex { !isSpace($0) }
        return end.map { String(bytes[...$0]) ?? String(text) } ?? ""
    }

    private var isRedirect: Bool {
        HTTPClient.redirects.contains(outcome.status)
            && outcome.headers.contains { $0.isNamed("location") && !$0.value.isEmpty }
    }

    private func take(_ bytes: UnsafeRawBufferPointer) -> Bool {
        progress.withLock { $0.done += bytes.count }
        guard decompresses, !isRedirect, let first = bytes.first else { return takeContent(bytes) }
        do throws(HTTPDecompression.Failure) {
            if decompression == nil {
                let asks = order.request.headers.contains { $0.isNamed("accept-encoding") }
                decompression = try HTTPDecompression(of: outcome.headers, first: first, takesUnknown: asks)
            }
            return try decompression?.decompress(bytes, takeContent) ?? takeContent(bytes)
        } catch {
            outcome.failure = .body(error)
            return false
        }
    }

    /// Takes bytes of the body as the caller gets them.
    private func takeContent(_ bytes: UnsafeRawBufferPointer) -> Bool {
        received += bytes.count
        guard received <= order.request.sizeLimit else {
            outcome.failure = .tooLarge
            return false
        }
        // Nobody reads what a redirect says.
        if isRedirect { return true }
        if let writer, (200...299).contains(outcome.status) {
            do throws(FileError) { try writer.append(bytes) } catch {
                outcome.failure = .file(error)
                return false
            }
            sinceSync += bytes.count
            if sinceSync >= 8 << 20 {
                sinceSync = 0
                writer.beginSync()
            }
            return true
        }
        guard memory.take(bytes.count) else {
            outcome.failure = .tooLarge
            return false
        }
        outcome.body.append(contentsOf: bytes)
        return true
    }

    private func more(_ buffer: UnsafeMutableRawBufferPointer) -> Int64 {
        switch order.request.body {
        case .none: return 0
        case .bytes(let bytes):
            let part = bytes[min(max(offset, 0), bytes.count)...].prefix(buffer.count)
            buffer.copyBytes(from: part)
            offset += part.count
            return Int64(part.count)
        case .file(let file):
            // What was added to the file since its size was taken is not sent.
            let left = max(file.count - offset, 0)
            guard left > 0 else { return 0 }
            while true {
                let count = pread(file.descriptor, buffer.baseAddress, min(buffer.count, left), off_t(offset))
                if count > 0 {
                    offset += count
                    return Int64(count)
                }
                if count < 0, errno == EINTR { continue }
                let reason = count == 0 ? "it became shorter while it was sent" : nil
                outcome.failure = .file(FileError(.read, "the file", code: count == 0 ? EIO : errno, reason: reason))
                return -1
            }
        }
    }

    /// Ends the transfer and reports it.
    ///
    /// - Parameters:
    ///   - code: the library's result.
    ///   - library: the library.
    func end(_ code: Int32, _ library: CurlLibrary) {
        if let easy {
            if code != 0, outcome.failure == nil { outcome.failure = failure(code, easy, library) }
            if outcome.failure == nil, decompression?.hasEnded == false { outcome.failure = .body(.endsEarly) }
            var redirect: UnsafePointer<CChar>?
            if isRedirect,
                cnetwork_get_text(library.table, easy, Int32(CNETWORK_REDIRECT_URL), &redirect) == 0
            {
                outcome.redirect = redirect.map { String(cString: $0) }
            }
        }
        release(library)
        done(outcome)
    }

    private func failure(
        _ code: Int32, _ easy: UnsafeMutableRawPointer, _ library: CurlLibrary
    ) -> HTTPOutcome.Failure {
        if let denial { return .denied(denial) }
        if code == 63 { return .tooLarge }
        var system = 0
        _ = cnetwork_get_long(library.table, easy, Int32(CNETWORK_OS_ERROR), &system)
        let detail = String(cString: errors)
        let text = detail.utf8.isEmpty ? String(cString: library.table.pointee.curl_easy_strerror(code)) : detail
        // A long line is "out of memory" for the library, or a size beyond its limit; a long header has no code at all.
        let isInHeader = outcome.status > 0 && received == 0
        if isInHeader, code == 27 || code == 100 || text.hasPrefix("Too large response headers") {
            return .headerTooLong
        }
        return .library(code, text, system: Int32(truncatingIfNeeded: system))
    }

    /// Gives up the library's handle.
    func release(_ library: CurlLibrary) {
        if let easy { library.table.pointee.curl_easy_cleanup(easy) }
        easy = nil
        library.table.pointee.curl_slist_free_all(fields)
        fields = nil
        memory.giveBack(outcome.body.count)
    }
}

/// The bytes of answers on their way, of all transfers of a client.
final class HTTPMemory: Sendable {
    private let taken = Mutex(0)
    private let limit: Int

    init(limit: Int) { self.limit = limit }

    func take(_ count: Int) -> Bool {
        taken.withLock { taken in
            guard taken + count <= limit else { return false }
            taken += count
            return true
        }
    }

    func giveBack(_ count: Int) { taken.withLock { $0 -= count } }
}
