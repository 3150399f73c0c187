import Files
import Glibc
import TestSupport
import Testing

@Suite("FileLayer")
struct FileLayerTests {
    let scratch: TemporaryDirectory
    let layer = PosixFileLayer()

    init() throws { scratch = try TemporaryDirectory() }

    @Test("Reads files of every size to the end", arguments: [0, 1, 4095, 4096, 4097, 100_000])
    func reads(size: Int) throws {
        let bytes = (0..<size).map { UInt8(truncatingIfNeeded: $0 &* 31) }
        try AtomicFile.write(bytes, to: scratch.file("f"), durable: false)
        #expect(try layer.contents(of: scratch.file("f")) == bytes)
        let file = try layer.open(scratch.file("f"), .read)
        defer { layer.close(file) }
        let mapped = try layer.map(file)
        #expect(mapped.withUnsafeBytes { Array($0) } == bytes)
    }

    @Test func readsWhatHasNoSize() throws {
        #expect(try layer.contents(of: "/proc/self/status").starts(with: Array("Name:".utf8)))
    }

    @Test func refusesMoreThanTheLimit() throws {
        try AtomicFile.write([1, 2, 3], to: scratch.file("f"), durable: false)
        #expect(throws: FileError(.read, scratch.file("f"), code: EFBIG)) {
            try layer.contents(of: scratch.file("f"), limit: 2)
        }
        #expect(throws: FileError.self) { try layer.contents(of: "/dev/zero", limit: 10_000) }
    }

    @Test func appendsAndTruncates() throws {
        let file = try layer.open(scratch.file("journal"), .append, permissions: 0o600)
        for byte in UInt8(1)...3 {
            try layer.writeAll([byte].span.bytes, to: file)
        }
        try layer.sync(file)
        #expect(try layer.status(file).size == 3)
        #expect(try layer.status(file).permissions == 0o600)
        try layer.truncate(file, to: 2)
        layer.close(file)
        #expect(try layer.contents(of: scratch.file("journal")) == [1, 2])
    }

    @Test func writesInPlace() throws {
        let file = try layer.open(scratch.file("journal"), .update)
        try layer.writeAll([1, 2, 3, 4].span.bytes, to: file, at: 0)
        layer.beginSync(file)
        try layer.writeAll([UInt8(9)].span.bytes, to: file, at: 2)
        try layer.syncData(file)
        let bytes = try layer.contents(of: file)
        #expect(bytes.count == 4 * MemoryLayout<Int>.stride && bytes[2] == 9)
        layer.discard(file)
    }

    @Test func makesFoldersAndTheirParents() throws {
        try layer.makeDirectories(scratch.file("a/b/c"))
        try layer.makeDirectories(scratch.file("a/b/c"))
        #expect(try layer.status(scratch.file("a/b/c"))?.kind == .directory)
        try AtomicFile.write([], to: scratch.file("file"), durable: false)
        #expect(throws: FileError.self) { try layer.makeDirectories(scratch.file("file")) }
        #expect(throws: FileError.self) { try layer.makeDirectories(scratch.file("file/below")) }
    }

    @Test("threads that make the same folders at the same time all have them")
    func makesFoldersBesideOthers() throws {
        for round in 0..<100 {
            let path = scratch.file("\(round)/a/b/c")
            let makers = (0..<4).map { _ in
                WorkerThread { () -> String? in
                    do throws(FileError) {
                        try PosixFileLayer().makeDirectories(path)
                        return nil
                    } catch { return error.message }
                }
            }
            for maker in makers { #expect(maker.join() == .some(nil)) }
        }
    }

    @Test func listsInByteOrder() throws {
        for name in ["b", "a", "ä", "B"] { try AtomicFile.write([], to: scratch.file(name), durable: false) }
        #expect(try layer.list(scratch.path) == ["B", "a", "b", "ä"])
    }

    @Test func refusesANul() {
        #expect(throws: FileError(.open, "a\0b", code: EINVAL, reason: "the path holds a NUL")) {
            try layer.open("a\0b", .read)
        }
    }

    @Test(arguments: [
        ("/a/b", "/a", "b"), ("/a/b/", "/a", "b"), ("/a", "/", "a"), ("/", "/", ""), ("a", ".", "a"),
        ("a//b", "a", "b"), ("", ".", ""), ("//a", "/", "a"),
    ])
    func takesPathsApart(path: String, parent: String, name: String) {
        #expect(PathText.parent(of: path) == parent)
        #expect(PathText.name(of: path) == name)
    }

    @Test(arguments: [("a", "/r/a"), ("../x", "/x"), ("/a/./b/../c//d/", "/a/c/d"), ("/../..", "/"), (".", "/r")])
    func makesPathsAbsolute(path: String, absolute: String) {
        #expect(PathText.absolute(path, from: "/r") == absolute)
    }
}
