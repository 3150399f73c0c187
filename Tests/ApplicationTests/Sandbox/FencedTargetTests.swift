import Files
import Glibc
import TestSupport
import Testing

@testable import Application

@Suite("Files that a script names to be written")
struct FencedTargetTests {
    let directory: TemporaryDirectory
    let layer: FencedFileLayer

    init() throws {
        directory = try TemporaryDirectory()
        try directory.write("old", to: "granted/file")
        try directory.write("mine", to: "outside/file")
        let fence = PathFence(base: directory.file("granted"))
        try fence.grant(directory.file("granted"), .readWrite)
        layer = fence.layer
    }

    private func text(_ name: String) throws -> String { String(decoding: try directory.read(name), as: UTF8.self) }

    @Test("a link within what is granted stays, and its target is replaced")
    func inside() throws {
        symlink("file", directory.file("granted/link"))
        symlink(directory.file("granted/file"), directory.file("granted/absolute"))
        for name in ["link", "absolute"] {
            try FileTarget.write(Array(name.utf8), to: name, using: layer)
            #expect(try text("granted/file") == name)
            #expect(try layer.status(name)?.kind == .symbolicLink)
        }
    }

    @Test(
        "a link out of it is refused, and so are streams and devices that are not granted",
        arguments: ["../outside/file", "../outside/new", "/dev/stdout", "/dev/null", "/proc/self/fd/1"])
    func outside(target: String) throws {
        symlink(target, directory.file("granted/link"))
        for name in ["link", target] {
            let error = #expect(throws: FileError.self) { try FileTarget.write([1], to: name, using: layer) }
            #expect(error?.code == EACCES)
        }
        #expect(try text("outside/file") == "mine")
        #expect(try directory.contents(of: "outside") == ["file"])
        #expect(try layer.status("link")?.kind == .symbolicLink)
    }

    @Test("a pipe without a reader is an error and not a wait; with one it gets the bytes")
    func pipe() throws {
        let path = directory.file("granted/pipe")
        mkfifo(path, 0o600)
        let error = #expect(throws: FileError.self) { try FileTarget.write([1], to: "pipe", using: layer) }
        #expect(error?.code == ENXIO)
        let reader = open(path, O_RDONLY | O_NONBLOCK)
        defer { close(reader) }
        try FileTarget.write(Array("text".utf8), to: "pipe", using: layer)
        var bytes = [UInt8](repeating: 0, count: 8)
        #expect(read(reader, &bytes, bytes.count) == 4)
        // For reading it stays closed, and for what is not a file of this kind there is no such way.
        #expect(throws: FileError.self) { try layer.open("pipe", .read) }
        #expect(throws: FileError.self) { try layer.open("file", .special) }
    }
}
