import Files
import Foundation
import TestSupport
import Testing

@Suite("Folders of work")
struct WorkFolderTests {
    let scratch: TemporaryDirectory
    let layer: BeneathFileLayer

    init() throws {
        scratch = try TemporaryDirectory()
        layer = try BeneathFileLayer(scratch.path)
    }

    /// What a process leaves that is killed while it works: a copy, which nobody has locked.
    private func abandoned(_ name: String) throws {
        let work = try WorkFolder(beside: scratch.file("out"), using: layer)
        try AtomicFile.write([1], to: work.file("copy"), using: work.layer)
        try FileManager.default.copyItem(atPath: work.path, toPath: scratch.file(name))
    }

    @Test("the result appears at the target, and the folder goes")
    func putsInPlace() throws {
        let work = try WorkFolder(beside: scratch.file("out"), using: layer)
        #expect(try layer.status(work.path)?.permissions == 0o700)
        try AtomicFile.write([1, 2], to: work.file("copy"), using: work.layer)
        try work.put("copy", at: scratch.file("out"))
        work.remove()
        #expect(scratch.names() == ["out"])
        #expect(try layer.contents(of: scratch.file("out")) == [1, 2])
    }

    @Test("nothing is replaced: no file, no folder, no link", arguments: ["file", "folder", "link"])
    func replacesNothing(kind: String) throws {
        let target = scratch.file("out")
        switch kind {
        case "file": try scratch.write("theirs", to: "out")
        case "folder": try FileManager.default.createDirectory(atPath: target, withIntermediateDirectories: false)
        default: symlink("nowhere", target)
        }
        let before = try layer.status(target)
        let work = try WorkFolder(beside: target, using: layer)
        try work.layer.makeDirectory(work.file("copy"), permissions: 0o700)
        #expect(throws: FileError.self) { try work.put("copy", at: target) }
        work.remove()
        #expect(try layer.status(target) == before)
        #expect(scratch.names() == ["out"])
    }

    @Test("a leftover of a killed process goes with the next work; those at work, and what others made, stay")
    func leftovers() throws {
        try abandoned(".cubby-work-dead")
        try abandoned(".cubby-work-young")
        try scratch.write("", to: ".cubby-work-young/mark")
        try FileManager.default.createDirectory(
            atPath: scratch.file(".cubby-work-empty"), withIntermediateDirectories: false)
        try scratch.write("precious", to: ".cubby-work-theirs/file")
        try scratch.write("their mark", to: ".cubby-work-marked/mark")
        try scratch.write("precious", to: "elsewhere/file")
        symlink("elsewhere", scratch.file(".cubby-work-link"))
        let one = try WorkFolder(beside: scratch.file("one"), using: layer)
        let other = try WorkFolder(beside: scratch.file("other"), using: layer)
        #expect(layer.exists(one.path) && layer.exists(other.path))
        one.remove()
        other.remove()
        #expect(
            scratch.names() == [".cubby-work-link", ".cubby-work-marked", ".cubby-work-theirs", "elsewhere"])
        #expect(scratch.names("elsewhere") == ["file"])
    }

    @Test("a folder that takes the work's name is neither filled nor emptied", arguments: [true, false])
    func exchanged(isLink: Bool) throws {
        let work = try WorkFolder(beside: scratch.file("out"), using: layer)
        try AtomicFile.write([1], to: work.file("copy"), using: work.layer)
        try scratch.write("precious", to: "elsewhere/copy")
        try layer.rename(work.path, to: scratch.file("moved"))
        if isLink {
            symlink("elsewhere", work.path)
        } else {
            try layer.rename(scratch.file("elsewhere"), to: work.path)
        }
        try AtomicFile.write([2], to: work.file("more"), using: work.layer)
        #expect(throws: FileError.self) { try work.put("copy", at: scratch.file("out")) }
        work.remove()
        let place = isLink ? "elsewhere" : PathText.name(of: work.path)
        #expect(scratch.names(place) == ["copy"])
        #expect(try scratch.read(place + "/copy") == Data("precious".utf8))
        #expect(!layer.exists(scratch.file("out")) && scratch.names("moved") == [])
    }
}
