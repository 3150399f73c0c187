import Testing

@testable import Files

@Suite("SHA-256")
struct SHA256Tests {
    @Test(
        "the digests of the standard's examples",
        arguments: [
            ("", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
            ("abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
            (
                "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
                "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"
            ),
            (
                String(repeating: "a", count: 1_000_000),
                "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0"
            ),
        ])
    func examples(text: String, digest: String) {
        #expect(SHA256.digest(Array(text.utf8)).hexadecimal == digest)
        #expect([UInt8](hexadecimal: digest, count: SHA256.byteCount) == SHA256.digest(Array(text.utf8)))
        #expect([UInt8](hexadecimal: String(digest.dropLast()), count: SHA256.byteCount) == nil)
        for text in ["+" + digest.dropFirst(), digest.uppercased(), "é" + digest.dropFirst(2), digest + "00"] {
            #expect([UInt8](hexadecimal: text, count: SHA256.byteCount) == nil, "\(text)")
        }
    }

    @Test(
        "the codes of RFC 4231's examples, in pieces",
        arguments: [
            (
                [UInt8](repeating: 0x0B, count: 20), "Hi There",
                "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7"
            ),
            (
                Array("Jefe".utf8), "what do ya want for nothing?",
                "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"
            ),
            (
                [UInt8](repeating: 0xAA, count: 131), "Test Using Larger Than Block-Size Key - Hash Key First",
                "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54"
            ),
        ])
    func codes(key: [UInt8], text: String, code: String) {
        let bytes = Array(text.utf8)
        #expect(SHA256.code(of: [bytes], key: key).hexadecimal == code)
        #expect(SHA256.code(of: [Array(bytes[..<3]), [], Array(bytes[3...])], key: key).hexadecimal == code)
    }

    @Test("every length about the ends of blocks has a digest of its own, of 32 bytes")
    func lengths() {
        let digests = (0..<200).map { SHA256.digest([UInt8](repeating: 0, count: $0)) }
        #expect(Set(digests).count == 200)
        #expect(digests.allSatisfy { $0.count == SHA256.byteCount })
    }

    @Test("pieces of any size give the digest of the whole", arguments: [1, 3, 63, 64, 65, 127, 1000])
    func pieces(size: Int) {
        let bytes = (0..<1000).map { UInt8(truncatingIfNeeded: $0 &* 31) }
        var digest = SHA256()
        bytes.withUnsafeBytes { all in
            for start in stride(from: 0, to: all.count, by: size) {
                digest.update(UnsafeRawBufferPointer(rebasing: all[start..<min(start + size, all.count)]))
            }
        }
        #expect(digest.finish() == SHA256.digest(bytes))
    }
}
