import Files
import Glibc
import TestSupport
import Testing

@Suite("AtomicFile")
struct AtomicFileTests {
    let scratch: TemporaryDirectory
    let real = PosixFileLayer()
    let old = Array("the old contents".utf8)
    let new = Array("the new contents, which are longer".utf8)

    init() throws { scratch = try TemporaryDirectory() }

    @Test func writesInTheOrderThatLasts() throws {
        let layer = FaultyFileLayer()
        try AtomicFile.write(new, to: scratch.file("f"), using: layer, durable: true)
        #expect(
            layer.calls == [
                "status", "open", "write", "sync", "status", "status", "rename", "status", "syncDirectory",
            ])
        #expect(try real.contents(of: scratch.file("f")) == new)
        #expect(layer.openFiles == 0)
    }

    @Test func leavesOutTheSyncsWhenNotDurable() throws {
        let layer = FaultyFileLayer()
        try AtomicFile.write(new, to: scratch.file("f"), using: layer, durable: false)
        #expect(layer.calls == ["status", "open", "write", "status", "status", "rename", "status"])
    }

    // After the rename, the ninth step looks at what is in place: that it cannot is no failure.
    @Test("A failure of any step leaves one whole file", arguments: [1, 2, 3, 4, 5, 6, 7, 8, 10])
    func failsAtEachStep(step: Int) throws {
        let path = scratch.file("f")
        try AtomicFile.write(old, to: path)
        let layer = FaultyFileLayer(failAt: step)
        let error = #expect(throws: FileError.self) {
            try AtomicFile.write(new, to: path, using: layer, durable: true)
        }
        #expect(error?.code == ENOSPC)
        let inPlace = layer.failedCall == "syncDirectory"
        #expect(try real.contents(of: path) == (inPlace ? new : old))
        #expect(scratch.names() == ["f"])
        #expect(layer.openFiles == 0)
        #expect(error?.path == (inPlace ? scratch.path : path))
    }

    @Test func thereAreTenSteps() throws {
        let path = scratch.file("f")
        try AtomicFile.write(old, to: path)
        let layer = FaultyFileLayer()
        try AtomicFile.write(new, to: path, using: layer)
        #expect(layer.count == 10)
    }

    @Test("Written in pieces, failing at each", arguments: 3...5)
    func streams(step: Int) throws {
        let path = scratch.file("f")
        let layer = FaultyFileLayer(failAt: step)
        do {
            let writer = try AtomicFileWriter(path, using: layer)
            for piece in ["one ", "two ", "three"] { try writer.append(Array(piece.utf8)) }
            #expect(writer.count == 13)
            Issue.record("no failure")
        } catch {
            #expect(error.operation == .write)
        }
        #expect(scratch.names() == [])
    }

    @Test func commitsPieces() throws {
        let writer = try AtomicFileWriter(scratch.file("f"), using: real)
        for piece in ["one ", "two ", "three"] { try writer.append(Array(piece.utf8)) }
        try writer.commit(durable: false)
        writer.abandon()
        #expect(try real.contents(of: scratch.file("f")) == Array("one two three".utf8))
        #expect(throws: FileError.self) { try writer.append([1]) }
        #expect(throws: FileError.self) { try writer.commit(durable: false) }
    }

    @Test func aWriterThatIsDroppedLeavesNothing() throws {
        do {
            let writer = try AtomicFileWriter(scratch.file("f"), using: real)
            try writer.append(old)
        }
        #expect(scratch.names() == [])
    }

    @Test func keepsPermissions() throws {
        let path = scratch.file("f")
        try AtomicFile.write(old, to: path, permissions: 0o600)
        try AtomicFile.write(new, to: path)
        #expect(try real.status(path)?.permissions == 0o600)
    }

    @Test func replacesALinkInsteadOfWritingThroughIt() throws {
        try AtomicFile.write(old, to: scratch.file("outside"))
        symlink(scratch.file("outside"), scratch.file("link"))
        try AtomicFile.write(new, to: scratch.file("link"))
        #expect(try real.contents(of: scratch.file("outside")) == old)
        #expect(try real.status(scratch.file("link"))?.kind == .regular)
    }

    @Test func writesNamesOfTheGreatestLength() throws {
        let path = scratch.file(String(repeating: "n", count: 255))
        try AtomicFile.write(new, to: path)
        #expect(try real.contents(of: path) == new)
    }

    @Test func saysWhatCouldNotBeWritten() {
        let error = FileError(.write, "/home/bob/x/items.archive", code: ENOSPC)
        #expect(error.message == "cannot write /home/bob/x/items.archive: No space left on device")
        #expect(DisplayPath.abbreviate("/home/bob/x/items.archive", home: "/home/bob/") == "~/x/items.archive")
        #expect(DisplayPath.abbreviate("/home/bobby", home: "/home/bob") == "/home/bobby")
        #expect(DisplayPath.abbreviate("/home/bob", home: "/home/bob") == "~")
        #expect(DisplayPath.abbreviate("/etc", home: "/") == "/etc")
    }

    @Test func removesLeftoversOfOthersOnly() throws {
        let leftover = scratch.file(".cubby-\(getpid())-abc-1.tmp")
        try AtomicFile.write(old, to: leftover)
        try AtomicFile.write(old, to: scratch.file("kept.tmp"))
        let writer = try AtomicFileWriter(scratch.file("f"), using: real)
        try writer.append(new)
        #expect(try AtomicFile.removeLeftovers(in: scratch.path) == [".cubby-\(getpid())-abc-1.tmp"])
        try writer.commit(durable: false)
        #expect(scratch.names() == ["f", "kept.tmp"])
    }

    @Test(
        "what takes the old file's place is the file that was written, or it is an error",
        arguments: ["exchanged", "changed", "linked", "removed"])
    func exchanged(how: String) throws {
        let path = scratch.file("f")
        try AtomicFile.write(old, to: path)
        let writer = try AtomicFileWriter(path, using: real)
        try writer.append(new)
        let temporary = scratch.file(try #require(scratch.names().first { TemporaryName.matches($0) }))
        try scratch.write("EVIL", to: "evil")
        switch how {
        case "exchanged": try real.rename(scratch.file("evil"), to: temporary)
        case "changed":
            let file = try real.open(temporary, .append)
            try real.writeAll(([1] as [UInt8]).span.bytes, to: file)
            real.close(file)
        case "linked":
            try real.remove(temporary)
            symlink(scratch.file("evil"), temporary)
        default: try real.remove(temporary)
        }
        let error = #expect(throws: FileError.self) { try writer.commit(durable: true) }
        #expect(error?.reason.contains("another program") == true && error?.path == path)
        #expect(try real.contents(of: path) == old)
        #expect(scratch.names().filter(TemporaryName.matches) == [])
    }

    @Test("names of temporary files are closed to scripts, in any case, but for those of their own writes")
    func closedNames() {
        for name in [TemporaryName.next(), ".cubby-1-x-1.tmp", ".CUBBY-1-x-1.TMP"] {
            #expect(TemporaryName.isClosed(in: "/a/b/" + name) && TemporaryName.isClosed(in: "/a/\(name)/b"), "\(name)")
        }
        for path in ["/a/.cubby-1.txt", "/a/cubby-1.tmp", "/.tmp", "/a/" + TemporaryName.next(forScript: true)] {
            #expect(!TemporaryName.isClosed(in: path), "\(path)")
        }
    }
}
