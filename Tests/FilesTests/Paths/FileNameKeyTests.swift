import Files
import Testing

@Suite("FileNameKey")
struct FileNameKeyTests {
    @Test(arguments: [
        "a", "1A2B3C4D-0000", " ", "...", ".hidden", "ä\u{301}", "a\nb", String(repeating: "k", count: 255),
    ])
    func good(key: String) throws {
        try FileNameKey.validate(key)
        #expect(try FileNameKey.validate(bytes: Array(key.utf8)) == key)
    }

    @Test(
        arguments: [
            ("", .empty), (".", .dots), ("..", .dots), ("/", .separator), ("../x", .separator), ("a/", .separator),
            ("a\0", .nul), (String(repeating: "ä", count: 128), .tooLong(bytes: 256)),
            ("items.archive", .reserved("items.archive")), (".cubby-1-a-2.tmp", .reserved(".cubby-1-a-2.tmp")),
        ] as [(String, FileNameKey.Problem)])
    func bad(key: String, problem: FileNameKey.Problem) {
        #expect(throws: problem) { try FileNameKey.validate(key, reserved: ["items.archive", "items.journal"]) }
        #expect(!problem.message.isEmpty)
    }

    @Test func bytesThatAreNoText() {
        #expect(throws: FileNameKey.Problem.notText) { try FileNameKey.validate(bytes: [0x61, 0xFF]) }
    }
}
