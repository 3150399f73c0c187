import Files
import Foundation
import Glibc
import TestSupport
import Testing

@testable import Application

@Suite("A folder that is closed whatever is granted")
struct ClosedFolderTests {
    let scratch: TemporaryDirectory
    let fence: PathFence

    init() throws {
        scratch = try TemporaryDirectory()
        try scratch.write("secret", to: "home/.config/cubby/file")
        try scratch.write("mine", to: "home/mine")
        try scratch.write("forged", to: "home/prepared/cubby/file")
        for (name, target) in [("way", ".config/cubby"), ("above", ".config"), ("alias", ".config/cubby/file")] {
            symlink(target, scratch.file("home/" + name))
        }
        symlink(".config/cubby/new", scratch.file("home/dangling"))
        Glibc.link(scratch.file("home/.config/cubby/file"), scratch.file("home/hard"))
        let home = RealPath.ofExistingPart(of: scratch.file("home"))
        fence = PathFence(base: home)
        try fence.grant(home, .readWrite)
        fence.close(folder: home + "/.config/cubby")
    }

    static let names = [".config/cubby/file", "way/file", "above/cubby/file", "alias", "hard"]

    @Test("is not read or written under any name", arguments: names)
    func files(name: String) {
        for access in [FileAccess.read, .update, .append] {
            #expect(throws: FileError.self) { try fence.layer.open(name, access) }
        }
        #expect(scratch.text("home/.config/cubby/file") == "secret")
    }

    @Test(
        "gets no new file, and loses none",
        arguments: [".config/cubby/new", "way/new", "above/cubby/new"])
    func changes(name: String) {
        let layer = fence.layer
        #expect(throws: FileError.self) { try AtomicFile.write([1], to: name, using: layer) }
        #expect(throws: FileError.self) { try layer.open(name, .update) }
        #expect(throws: FileError.self) { try layer.makeDirectory(name, permissions: 0o700) }
        #expect(throws: FileError.self) { try layer.rename("mine", to: name) }
        #expect(throws: FileError.self) { try layer.link("mine", to: name) }
        let file = PathText.join(PathText.parent(of: name), "file")
        #expect(throws: FileError.self) { try layer.remove(file) }
        #expect(throws: FileError.self) { try layer.rename(file, to: "stolen") }
        #expect(throws: FileError.self) { try layer.link(file, to: "stolen") }
        #expect(scratch.names("home/.config/cubby") == ["file"])
    }

    @Test("is not listed, walked, moved or removed", arguments: [".config/cubby", "way", "above/cubby"])
    func folder(name: String) {
        #expect(throws: FileError.self) { try fence.layer.list(name) }
        #expect(throws: FileError.self) { try FencedWalk(name, fence: fence) }
        if name != "way" { #expect(throws: FileError.self) { try fence.layer.rename(name, to: "elsewhere") } }
    }

    @Test func theFoldersAboveAreNotMovedAndNoOtherTakesTheirPlace() throws {
        let layer = fence.layer
        #expect(throws: FileError.self) { try layer.rename(".config", to: "elsewhere") }
        // As before anything was configured.
        #expect(rename(scratch.file("home/.config"), scratch.file("away")) == 0)
        #expect(throws: FileError.self) { try layer.rename("prepared", to: ".config") }
        try layer.makeDirectory(".config", permissions: 0o700)
        #expect(throws: FileError.self) { try layer.rename("prepared/cubby", to: ".config/cubby") }
        #expect(throws: FileError.self) { try layer.makeDirectory(".config/cubby", permissions: 0o700) }
        #expect(scratch.names("home/.config") == [])
    }

    @Test func whatIsBesideItIsNotClosed() throws {
        let layer = fence.layer
        try AtomicFile.write([1], to: ".config/cubby-notes", using: layer)
        #expect(try layer.contents(of: "above/cubby-notes") == [1])
        try layer.rename("mine", to: ".config/mine")
        #expect(try layer.list("above").contains("mine"))
    }
}

extension TemporaryDirectory {
    fileprivate func text(_ name: String) -> String { (try? String(decoding: read(name), as: UTF8.self)) ?? "" }
}
