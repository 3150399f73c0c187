package import Files
import Glibc
import Wording

/// A request of a script, with its limits.
package struct HTTPRequest: Sendable {
    /// In capital letters.
    package var method: String
    package var url: String
    /// The names and values of its header, in order.
    package var headers: [HTTPField] = []
    package var body = HTTPBody.none
    /// The time for an attempt, with its redirects.
    package var timeout = Duration.seconds(30)
    /// The number of further attempts after a failure that may pass.
    package var retries = 0
    /// Maximum number of bytes of the answer's body.
    package var sizeLimit = HTTPRequest.standardSizeLimit

    /// The limit of a body in memory.
    package static let standardSizeLimit = 64 << 20
    /// The limit of a body that is written to a file.
    package static let standardFileLimit = 1 << 30
    /// Maximum number of redirects that are followed.
    static let redirectLimit = 10

    package init(method: String, url: String) { (self.method, self.url) = (method, url) }
}

/// A line of a header.
package struct HTTPField: Sendable, Hashable {
    package let name: String
    package let value: String

    package init(_ name: String, _ value: String) { (self.name, self.value) = (name, value) }

    /// Whether it has a name, in any case.
    package func isNamed(_ other: String) -> Bool { Self.small(name) == Self.small(other) }

    /// A name in small letters.
    package static func small(_ name: String) -> String {
        String(decoding: name.utf8.map { (0x41...0x5A).contains($0) ? $0 | 0x20 : $0 }, as: UTF8.self)
    }

    /// Why a script may not send it; nil if it may.
    package var objection: String? {
        if name.utf8.count > Self.longestName {
            let most = Self.longestName.grouped
            return "the name of a header has at most \(most) bytes, got \(name.shortened(to: 100).quoted())"
        }
        let isToken =
            !name.utf8.isEmpty
            && name.utf8.allSatisfy {
                (0x21...0x7E).contains($0) && !"\"(),/:;<=>?@[\\]{}".utf8.contains($0)
            }
        if !isToken { return "the name of a header is letters, digits and hyphens, got \(name.quoted())" }
        if value.utf8.contains(where: { $0 < 0x20 && $0 != 0x09 || $0 == 0x7F }) {
            return "the header \(name) holds a line break or another control character"
        }
        return Self.reserved.contains(Self.small(name)) ? "the header \(name) is the client's own" : nil
    }

    private static let longestName = 1000
    private static let reserved: Set<String> = [
        "host", "content-length", "transfer-encoding", "connection", "expect", "upgrade", "te", "trailer",
        "proxy-authorization", "proxy-connection",
    ]
    /// What is meant for one server, and not for another one to which it redirects.
    static let personal: Set<String> = ["authorization", "cookie"]
}

/// The body of a request.
package enum HTTPBody: Sendable {
    case none
    case bytes([UInt8])
    case file(HTTPUpload)

    var count: Int? {
        switch self {
        case .none: nil
        case .bytes(let bytes): bytes.count
        case .file(let file): file.count
        }
    }
}

/// An open file that is sent.
package final class HTTPUpload: Sendable {
    let descriptor: Int32
    package let count: Int
    private let close: @Sendable () -> Void

    /// - Parameters:
    ///   - file: an open file.
    ///   - count: the number of its bytes.
    ///   - close: closes it, when it is not needed any more.
    package init(_ file: OpenFile, count: Int, close: @escaping @Sendable () -> Void) {
        (descriptor, self.count, self.close) = (file.descriptor, count, close)
    }

    deinit { close() }

    /// All of its bytes, for a replaced server.
    package var contents: [UInt8] {
        var bytes = [UInt8](repeating: 0, count: count)
        let read = bytes.withUnsafeMutableBytes { pread(descriptor, $0.baseAddress, $0.count, 0) }
        return Array(bytes.prefix(max(read, 0)))
    }
}

/// The answer to a request.
package struct HTTPResponse: Sendable {
    package var status: Int
    package var headers: [HTTPField] = []
    package var body: [UInt8] = []
    /// The address that answered, after redirects.
    package var url: String

    package init(status: Int, headers: [HTTPField] = [], body: [UInt8] = [], url: String) {
        (self.status, self.headers, self.body, self.url) = (status, headers, body, url)
    }

    package var isSuccess: Bool { (200...299).contains(status) }

    func header(_ name: String) -> String? { headers.first { $0.isNamed(name) }?.value }

    /// Whether another attempt may succeed: the server is busy or restarts.
    var mayPass: Bool { [408, 429, 500, 502, 503, 504].contains(status) }

    /// The seconds that the server wants to have left in peace, if it says so in seconds.
    var retryAfter: Double? {
        header("retry-after").flatMap { Int($0.filter { $0 != " " }) }.map { Double(min(max($0, 0), 3600)) }
    }
}

/// The reason why a request has no answer.
package struct HTTPError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The codes of Cocoa's `NSURLErrorDomain`.
    package enum Code: Int, Sendable {
        case badURL = -1000
        case timedOut = -1001
        case unsupportedURL = -1002
        case cannotFindHost = -1003
        case cannotConnectToHost = -1004
        case networkConnectionLost = -1005
        case httpTooManyRedirects = -1007
        case badServerResponse = -1011
        case dataLengthExceedsMaximum = -1103
        case secureConnectionFailed = -1200
        case serverCertificateUntrusted = -1202
        case unknown = -1
        case libraryMissing = -2
    }

    package let code: Code
    package let description: String

    package init(_ code: Code, _ description: String) { (self.code, self.description) = (code, description) }

    /// Whether the request cannot have reached the server.
    var isBeforeRequest: Bool { code == .cannotFindHost || code == .cannotConnectToHost }

    /// Whether another attempt may succeed.
    var mayPass: Bool { isBeforeRequest || code == .timedOut || code == .networkConnectionLost }
}
