import Scripting
import TestSupport
import Testing

@Suite("Bytes that were read and not yet taken") struct InputBufferTests {
    private static func text(_ taken: InputBuffer.Taken) -> String {
        switch taken {
        case .needsMore: "more"
        case .nothing: "nil"
        case .bytes(let bytes): "'" + String(decoding: bytes, as: UTF8.self) + "'"
        case .numeral(let text): String(decoding: text, as: UTF8.self)
        }
    }

    /// What reads by formats take of an input that comes in pieces; each asks again until it has all.
    private static func take(_ formats: [InputBuffer.Format], of pieces: [ArraySlice<UInt8>]) -> [String] {
        var buffer = InputBuffer()
        var rest = pieces[...]
        return formats.map { format in
            while true {
                let taken = buffer.take(format, isAtEnd: rest.isEmpty)
                guard taken == .needsMore else { return text(taken) }
                buffer.append(rest.removeFirst())
            }
        } + ["'" + String(decoding: buffer.takeRest() + rest.joined(), as: UTF8.self) + "'"]
    }

    private static let line = InputBuffer.Format.line(keepsEnd: false)
    private static let whole = InputBuffer.Format.line(keepsEnd: true)

    /// The results are those of lua5.4.
    static let rows: [(String, [InputBuffer.Format], [String])] = [
        ("one\ntwo\n\nthree", [line, whole, line, line, line], ["'one'", "'two\n'", "''", "'three'", "nil", "''"]),
        ("", [line, .all, .all, .count(0), .count(1), .number], ["nil", "''", "''", "nil", "nil", "nil", "''"]),
        (
            "abc\ndef", [.count(0), .count(2), .count(3), .all, .count(0)],
            ["''", "'ab'", "'c\nd'", "'ef'", "nil", "''"]
        ),
        ("abc", [.count(10), .count(10)], ["'abc'", "nil", "''"]),
        ("12 0x1p4\t-.5e+1x", [.number, .number, .number], ["12", "0x1p4", "-.5e+1", "'x'"]),
        ("  \n 0x", [.number], ["0x", "''"]), ("x1", [.number], ["nil", "'x1'"]),
        ("-", [.number], ["-", "''"]), ("1e5.3", [.number, .number], ["1e5", ".3", "''"]),
        ("12ab", [.number], ["12", "'ab'"]), ("0xfg", [.number], ["0xf", "'g'"]),
        ("1.2.3", [.number], ["1.2", "'.3'"]),
        ("7 rest\nsecond\n", [.number, line, whole], ["7", "' rest'", "'second\n'", "''"]),
        (String(repeating: "1", count: 300), [.number], ["nil", "'\(String(repeating: "1", count: 100))'"]),
    ]

    @Test("are taken as Lua takes them, however they come", arguments: rows)
    func table(input: String, formats: [InputBuffer.Format], expected: [String]) {
        let bytes = Array(input.utf8)
        for size in 1...max(bytes.count, 1) {
            let pieces = stride(from: 0, to: bytes.count, by: size).map { bytes[$0..<min($0 + size, bytes.count)] }
            #expect(Self.take(formats, of: pieces) == expected, "\(input.debugDescription) by \(size)")
        }
    }

    @Test func aLongLineIsSearchedOnce() {
        var buffer = InputBuffer()
        let piece = [UInt8](repeating: 0x61, count: 1 << 12)
        for _ in 0..<1 << 10 {
            buffer.append(piece)
            #expect(buffer.take(Self.line, isAtEnd: false) == .needsMore)
        }
        buffer.append([0x0A])
        guard case .bytes(let line) = buffer.take(Self.line, isAtEnd: false) else {
            Issue.record("no line")
            return
        }
        #expect(line.count == 1 << 22)
    }
}
