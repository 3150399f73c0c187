import Files
import Glibc
import TestSupport
import Testing

@testable import Application

@Suite("Keys")
struct AccessKeyTests {
    let scratch: TemporaryDirectory

    init() throws { scratch = try TemporaryDirectory() }

    @Test("a key is shown whole or not at all, and no two are equal")
    func shown() {
        let key = AccessKey.random()
        #expect(key.text.count == 64 && key.text != AccessKey.random().text)
        #expect(key.isShown(by: key.text))
        for wrong in [
            nil, "", String(key.text.dropLast()), key.text + "0", AccessKey.random().text, "é" + key.text.dropFirst(2),
        ] {
            #expect(!key.isShown(by: wrong))
        }
    }

    @Test("the user's key is made once, by whoever comes first, and only the user can read it")
    func user() async throws {
        let folder = scratch.file("config/cubby")
        let keys = try await withThrowingTaskGroup(of: AccessKey.self) { group in
            for _ in 0..<8 { group.addTask { try AccessKey.ofUser(in: folder) } }
            return try await group.reduce(into: Set<AccessKey>()) { $0.insert($1) }
        }
        #expect(keys.count == 1)
        #expect(try PosixFileLayer().list(folder) == [AccessKey.fileName])
        var raw = stat()
        #expect(lstat(folder + "/" + AccessKey.fileName, &raw) == 0 && raw.st_mode & 0o777 == 0o600)
        #expect(try AccessKey.ofUser(in: folder) == keys.first)
    }

    @Test(
        "a key that others could have read, a link, a pipe, and other bytes are refused",
        arguments: ["mode", "link", "pipe", "bytes", "empty"])
    func foreign(_ kind: String) throws {
        let path = scratch.file(AccessKey.fileName)
        switch kind {
        case "mode":
            _ = try AccessKey.ofUser(in: scratch.path)
            chmod(path, 0o644)
        case "link":
            try scratch.write(AccessKey.random().text, to: "elsewhere")
            chmod(scratch.file("elsewhere"), 0o600)
            symlink("elsewhere", path)
        case "pipe": mkfifo(path, 0o600)
        default:
            try scratch.write(kind == "empty" ? "" : String(repeating: "x", count: 64), to: AccessKey.fileName)
            chmod(path, 0o600)
        }
        #expect(throws: FileError.self) { try AccessKey.ofUser(in: scratch.path) }
    }

    @Test("without a home folder none is made")
    func homeless() { #expect(throws: FileError.self) { try AccessKey.ofUser(in: nil) } }
}
