import Glibc
import TestSupport
import Testing

@testable import Files

@Suite("FileTransfer")
struct FileTransferTests {
    let directory: TemporaryDirectory
    let layer = PosixFileLayer()

    init() throws { directory = try TemporaryDirectory() }

    @Test(
        "a copy has the bytes and the permissions, and replaces a file", arguments: [0, 1, 1 << 20, (5 << 20) + 3],
        [true, false])
    func copy(count: Int, isThere: Bool) throws {
        let bytes = (0..<count).map { UInt8(truncatingIfNeeded: $0 ^ $0 >> 8) }
        let source = try directory.write(bytes, to: "a")
        chmod(source, 0o640)
        if isThere { try directory.write("old", to: "b") }
        try FileTransfer.copy(source, to: directory.file("b"), using: layer)
        #expect(try layer.contents(of: directory.file("b")) == bytes)
        #expect(try layer.status(directory.file("b"))?.permissions == 0o640)
        #expect(try directory.contents().sorted() == ["a", "b"])
    }

    @Test("a copy that fails at any step leaves what was there, and nothing else")
    func failures() throws {
        let faulty = FaultyFileLayer()
        let source = try directory.write([UInt8](repeating: 7, count: (1 << 20) + 1), to: "a")
        try directory.write("old", to: "b")
        var step = 1
        while true {
            try directory.write("old", to: "b")
            faulty.arm(failAt: step)
            let result = Result { () throws(FileError) in
                try FileTransfer.copy(source, to: directory.file("b"), using: faulty)
            }
            guard faulty.failedCall != nil else { break }
            // The last steps look at the copy in its place, which may fail, and force the folder to the disk.
            let isDone = (try? result.get()) != nil
            #expect(!isDone || faulty.failedCall == "status", "step \(step)")
            let left = String(decoding: try directory.read("b"), as: UTF8.self)
            #expect((left == "old") == (!isDone && faulty.failedCall != "syncDirectory"), "step \(step)")
            #expect(try directory.contents().sorted() == ["a", "b"])
            #expect(faulty.openFiles == 0)
            step += 1
        }
        #expect(step > 6)
    }

    @Test("a folder is not copied, and nothing that is not there")
    func refusals() throws {
        try layer.makeDirectory(directory.file("folder"), permissions: 0o700)
        let folder = #expect(throws: FileError.self) {
            try FileTransfer.copy(directory.file("folder"), to: directory.file("b"), using: layer)
        }
        #expect(folder?.reason.contains("folder") == true || folder?.code == EISDIR)
        let absent = #expect(throws: FileError.self) {
            try FileTransfer.copy(directory.file("absent"), to: directory.file("b"), using: layer)
        }
        #expect(absent?.code == ENOENT)
        #expect(throws: FileError.self) {
            try FileTransfer.move(directory.file("absent"), to: directory.file("b"), using: layer)
        }
        #expect(throws: FileError.self) {
            try FileTransfer.move(directory.file("folder"), to: directory.file("folder/in/itself"), using: layer)
        }
        #expect(try directory.contents() == ["folder"])
    }

    @Test("files, folders and links move", arguments: ["file", "folder", "link"])
    func move(kind: String) throws {
        switch kind {
        case "file": try directory.write("text", to: "a")
        case "folder": try directory.write("text", to: "a/inner")
        default: symlink("/nowhere", directory.file("a"))
        }
        let before = try layer.status(directory.file("a"))
        try FileTransfer.move(directory.file("a"), to: directory.file("b"), using: layer)
        #expect(try layer.status(directory.file("a")) == nil)
        #expect(try layer.status(directory.file("b"))?.inode == before?.inode)
    }

    @Test("between file systems a file is copied and removed, a folder stays")
    func otherFileSystem() throws {
        let memory = "/dev/shm/\(TemporaryName.next())"
        defer { unlink(memory) }
        let source = try directory.write("text", to: "a")
        guard try layer.status("/dev/shm")?.device != layer.status(source)?.device else {
            try Test.cancel("there is one file system")
        }
        try FileTransfer.move(source, to: memory, using: layer)
        #expect(try layer.contents(of: memory) == Array("text".utf8))
        #expect(try layer.status(source) == nil)
        try layer.makeDirectory(source, permissions: 0o700)
        let error = #expect(throws: FileError.self) { try FileTransfer.move(source, to: memory + "-", using: layer) }
        #expect(error?.code == EXDEV && error?.path == source)
    }

    @Test("a folder is copied with all beneath it, links as the files that they lead to")
    func folder() throws {
        for name in ["a/b/c/d.txt", "a/e.txt", "a/b/f.txt"] { try directory.write(name, to: name) }
        chmod(directory.file("a/e.txt"), 0o640)
        chmod(directory.file("a/b"), 0o750)
        symlink("b/f.txt", directory.file("a/link"))
        try FolderCopier.copy(directory.file("a"), to: directory.file("z"), using: layer)
        for name in ["b/c/d.txt", "e.txt", "b/f.txt"] {
            #expect(try layer.contents(of: directory.file("z/\(name)")) == Array("a/\(name)".utf8))
        }
        #expect(try layer.contents(of: directory.file("z/link")) == Array("a/b/f.txt".utf8))
        #expect(try layer.status(directory.file("z/link"))?.kind == .regular)
        #expect(try layer.status(directory.file("z/e.txt"))?.permissions == 0o640)
        #expect(try layer.status(directory.file("z/b"))?.permissions == 0o750)
    }

    @Test(
        "a folder that cannot be copied as a whole leaves nothing",
        arguments: ["pipe", "link to a folder", "link in a circle", "dangling link", "target within", "target there"])
    func folderRefused(obstacle: String) throws {
        try directory.write("x", to: "a/b/c.txt")
        var target = directory.file("z")
        switch obstacle {
        case "pipe": mkfifo(directory.file("a/b/pipe"), 0o600)
        case "link to a folder": symlink("/usr", directory.file("a/b/link"))
        case "link in a circle": symlink("link", directory.file("a/b/link"))
        case "dangling link": symlink("nowhere", directory.file("a/b/link"))
        case "target within": target = directory.file("a/b/z")
        default: try directory.write("mine", to: "z/c.txt")
        }
        let before = try directory.contents().sorted()
        #expect(throws: FileError.self) {
            try FolderCopier.copy(directory.file("a"), to: target, using: layer)
        }
        #expect(try directory.contents().sorted() == before)
        #expect(try layer.list(directory.file("a/b")).allSatisfy { !$0.hasPrefix(".") && $0 != "z" })
    }

    @Test("a removal of all stops at the first failure, and follows no link")
    func removal() throws {
        try directory.write("x", to: "kept/c.txt")
        try directory.write("x", to: "a/b/c.txt")
        symlink(directory.file("kept"), directory.file("a/link"))
        try FolderRemover.removeAll(directory.file("a"), using: layer)
        #expect(try directory.contents() == ["kept"])
        #expect(try layer.list(directory.file("kept")) == ["c.txt"])
        let error = #expect(throws: FileError.self) { try FolderRemover.removeAll(directory.file("a"), using: layer) }
        #expect(error?.code == ENOENT)
        try directory.write("x", to: "a/b/c.txt")
        let faulty = FaultyFileLayer()
        faulty.arm(failAt: 5)
        #expect(throws: FileError.self) { try FolderRemover.removeAll(directory.file("a"), using: faulty) }
        #expect(try directory.contents().sorted() == ["a", "kept"])
    }
}
