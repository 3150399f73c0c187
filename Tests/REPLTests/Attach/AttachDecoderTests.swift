import Testing

@testable import REPL

@Suite("Messages of attached prompts")
struct AttachDecoderTests {
    static let messages = [
        AttachMessage(.hello, "80 24"), AttachMessage(.entry, "return 1"), AttachMessage(.interrupt),
        AttachMessage(.output, [UInt8](repeating: 7, count: 100_000)), AttachMessage(.done),
    ]

    @Test("messages come back whole, in whatever pieces their bytes come", arguments: [1, 2, 3, 5, 7, 4096, 1 << 20])
    func pieces(size: Int) throws {
        let bytes = Self.messages.flatMap(\.encoded)
        var decoder = AttachDecoder()
        var decoded: [AttachMessage] = []
        for start in stride(from: 0, to: bytes.count, by: size) {
            decoder.append(bytes[start..<min(start + size, bytes.count)])
            while let message = try decoder.next() { decoded.append(message) }
        }
        #expect(decoded == Self.messages)
    }

    @Test("a length beyond the limit is refused before its content comes")
    func long() throws {
        var decoder = AttachDecoder()
        decoder.append([AttachMessage.Kind.entry.rawValue, 0, 0, 0, 1])
        #expect(try decoder.next() == nil)
        var beyond = AttachDecoder()
        beyond.append([AttachMessage.Kind.entry.rawValue, 1, 0, 0, 1])
        #expect(throws: AttachDecoder.Problem.tooLong) { try beyond.next() }
    }

    @Test("bytes at random are messages, refused, or wait for more")
    func random() {
        var generator = SystemRandomNumberGenerator()
        for _ in 0..<2000 {
            var decoder = AttachDecoder()
            decoder.append((0..<Int.random(in: 0..<40)).map { _ in UInt8.random(in: 0...255, using: &generator) })
            while let message = try? decoder.next() { #expect(message.bytes.count < 40) }
        }
    }
}
