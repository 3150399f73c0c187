import TestSupport
import Testing

@testable import DebugAdapter

@Suite("The framing of the Debug Adapter Protocol")
struct MessageDecoderTests {
    /// The contents decoded from some bytes, or the problem.
    private func decode(_ bytes: [UInt8], step: Int) -> Result<[String], MessageDecoder.Problem> {
        var decoder = MessageDecoder()
        var contents: [String] = []
        var rest = bytes[...]
        while !rest.isEmpty {
            decoder.append(rest.prefix(step))
            rest = rest.dropFirst(step)
            do throws(MessageDecoder.Problem) {
                while let content = try decoder.next() { contents.append(String(decoding: content, as: UTF8.self)) }
            } catch {
                return .failure(error)
            }
        }
        return .success(contents)
    }

    @Test(
        "whole messages, split anywhere",
        arguments: [
            ("", []),
            ("Content-Length: 2\r\n\r\n{}", ["{}"]),
            ("content-length:2\r\n\r\n{}Content-Length: 0002\r\n\r\n[]", ["{}", "[]"]),
            ("Content-Type: 1\r\nCONTENT-LENGTH: 3\r\ncontent-type:\r\n\r\n\r\n1", ["\r\n1"]),
            ("Content-Length: 0\r\n\r\nContent-Length: 1\r\n\r\nx", ["", "x"]),
            ("Content-Length: 9\r\n\r\n{}", []),
        ] as [(String, [String])])
    func whole(_ text: String, _ contents: [String]) {
        for step in [1, 2, 7, 1000] { #expect(decode(Array(text.utf8), step: step) == .success(contents)) }
    }

    @Test(
        "bytes that are not a message",
        arguments: [
            ("GET / HTTP/1.1\r\n\r\n", .badHeader),
            ("P", .badHeader), ("Content-Length\r\n", .badHeader), ("Content-Types: 1", .badHeader),
            ("POST / HTTP/1.1\r\nContent-Length: 2\r\n\r\n{}", .badHeader),
            ("Content-Length: 2\r\nHost: 127.0.0.1\r\n\r\n{}", .badHeader), ("X-Other: 1\r\n", .badHeader),
            ("\u{16}\u{3}\u{1}", .badHeader), ("\n\n", .badHeader),
            ("\r\n\r\n", .badHeader),
            ("Content-Type: x\r\n\r\n", .badHeader),
            ("Content-Length: \r\n\r\n", .badHeader),
            ("Content-Length: -1\r\n\r\n", .badHeader),
            ("Content-Length: +1\r\n\r\n", .badHeader),
            ("Content-Length: 1x\r\n\r\n", .badHeader),
            ("Content-Length: ٣\r\n\r\n", .badHeader),
            ("Content-Length: 1\r\nContent-Length: 2\r\n\r\nxx", .badHeader),
            ("Content-Length: 8388609\r\n\r\n", .longContent(limit: 8 << 20)),
            ("Content-Length: 99999999999999999999999999\r\n\r\n", .longContent(limit: 8 << 20)),
            ("\u{0}\u{1}\u{2}\r\n\r\n", .badHeader),
        ] as [(String, MessageDecoder.Problem)])
    func malformed(_ text: String, _ problem: MessageDecoder.Problem) {
        for step in [1, 1000] { #expect(decode(Array(text.utf8), step: step) == .failure(problem)) }
    }

    @Test("a header without an end, and one of the greatest length")
    func headers() {
        let start = Array("Content-Type:".utf8)
        let endless = start + [UInt8](repeating: 0x41, count: MessageDecoder.headerLimit)
        #expect(decode(endless, step: 1000) == .failure(.longHeader))
        let rest = Array("\r\nContent-Length: 1\r\n\r\nx".utf8)
        let longest = endless.dropLast(start.count + rest.count - 1) + rest
        #expect(decode(longest, step: 4096) == .success(["x"]))
    }

    @Test("any bytes end in messages or in a problem")
    func fuzz() {
        var random = TestGenerator(seed: 23)
        let seeds = [
            "Content-Length: 2\r\n\r\n{}", "Content-Length: 30\r\nContent-Type: y\r\n\r\n",
            "{\"seq\":1,\"type\":\"request\"}",
            "\r\n\r\n",
        ].map { Array($0.utf8) }
        for _ in 0..<2000 {
            var bytes: [UInt8] = []
            for _ in 0..<random.number(6) { bytes += seeds[random.number(seeds.count)] }
            for _ in 0..<random.number(4) where !bytes.isEmpty {
                bytes[random.number(bytes.count)] = UInt8(truncatingIfNeeded: random.next())
            }
            let whole = decode(bytes, step: 1 << 20)
            #expect(decode(bytes, step: 1 + random.number(5)) == whole)
        }
    }
}
