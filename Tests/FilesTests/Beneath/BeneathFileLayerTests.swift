import Foundation
import TestSupport
import Testing

@testable import Files

@Suite("BeneathFileLayer")
struct BeneathFileLayerTests {
    let scratch: TemporaryDirectory

    init() throws {
        scratch = try TemporaryDirectory()
        try scratch.write("inside", to: "box/sub/file")
        try scratch.write("outside", to: "outside/file")
    }

    static let methods: [BeneathOpener.Method] =
        BeneathOpener.system.method == .openat2 ? [.openat2, .walk] : [.walk]

    private func layer(_ method: BeneathOpener.Method) throws -> BeneathFileLayer {
        try BeneathFileLayer(scratch.file("box"), opener: BeneathOpener(method: method))
    }

    private func link(_ name: String, to target: String) throws {
        try FileManager.default.createSymbolicLink(atPath: scratch.file(name), withDestinationPath: target)
    }

    @Test("what is inside is read, written, moved, listed and removed", arguments: methods)
    func works(method: BeneathOpener.Method) throws {
        let layer = try layer(method)
        let box = scratch.file("box")
        #expect(try layer.contents(of: box + "/sub/file") == Array("inside".utf8))
        try layer.makeDirectories(box + "/a/b/c")
        try layer.makeDirectories(box + "/a/b/c")
        try AtomicFile.write([1, 2], to: box + "/a/b/c/new", using: layer)
        #expect(try layer.list(box + "/a/b/c") == ["new"])
        #expect(try layer.status(box + "/a/b/c/new")?.size == 2)
        #expect(try layer.status(box + "/a/none") == nil)
        #expect(try layer.status(box + "/none") == nil)
        #expect(try layer.status(box)?.kind == .directory)
        try layer.link(box + "/a/b/c/new", to: box + "/second")
        try layer.rename(box + "/a/b/c/new", to: box + "/sub/moved")
        try layer.remove(box + "/second")
        FolderRemover.remove(box + "/a", using: layer)
        try layer.syncDirectory(box)
        #expect(try layer.list(box) == ["sub"])
        #expect(try layer.list(box + "/sub") == ["file", "moved"])
    }

    @Test("no call leaves the folder by a link", arguments: methods, ["../outside", "sub"])
    func links(method: BeneathOpener.Method, target: String) throws {
        try link("box/link", to: target)
        let layer = try layer(method)
        let box = scratch.file("box")
        let calls: [(String, () throws -> Void)] = [
            ("open", { _ = try layer.contents(of: box + "/link/file") }),
            ("create", { _ = try layer.open(box + "/link/new", .createNew) }),
            ("update", { _ = try layer.open(box + "/link/new", .update) }),
            ("append", { _ = try layer.open(box + "/link/new", .append) }),
            ("rename", { try layer.rename(box + "/link/file", to: box + "/taken") }),
            ("rename into", { try layer.rename(box + "/sub/file", to: box + "/link/taken") }),
            ("link", { try layer.link(box + "/link/file", to: box + "/taken") }),
            ("remove", { try layer.remove(box + "/link/file") }),
            ("list", { _ = try layer.list(box + "/link") }),
            ("status", { _ = try layer.status(box + "/link/file") }),
            ("make", { try layer.makeDirectory(box + "/link/made", permissions: 0o700) }),
            ("make all", { try layer.makeDirectories(box + "/link") }),
            ("sync", { try layer.syncDirectory(box + "/link") }),
        ]
        for (name, call) in calls {
            let error = #expect(throws: FileError.self, "\(name)") { try call() }
            #expect(error?.isMisplaced == true, "\(name): \(String(describing: error))")
            #expect(error?.message.contains("symbolic link to \(target)") == true, "\(name): \(error?.message ?? "")")
        }
        #expect(try layer.status(box + "/link")?.kind == .symbolicLink)
        FolderRemover.remove(box + "/link", using: layer)
        #expect(scratch.names("box") == ["sub"])
        #expect(scratch.names("box/sub") == ["file"])
        #expect(scratch.names("outside") == ["file"])
    }

    @Test("only regular files open, and nothing waits", arguments: methods)
    func others(method: BeneathOpener.Method) throws {
        let layer = try layer(method)
        let box = scratch.file("box")
        #expect(mkfifo(box + "/pipe", 0o600) == 0)
        try link("box/dangling", to: scratch.file("nowhere"))
        for (name, word) in [("pipe", "a pipe"), ("sub", "a folder"), ("dangling", "a symbolic link")] {
            for access in [FileAccess.read, .update, .append] {
                let error = #expect(throws: FileError.self) { try layer.open("\(box)/\(name)", access) }
                #expect(error?.isMisplaced == true && error?.reason.contains(word) == true, "\(name): \(access)")
            }
        }
        #expect(throws: FileError.self) { try layer.makeDirectories(box + "/pipe/x") }
        #expect(!FileManager.default.fileExists(atPath: scratch.file("nowhere")))
    }

    @Test("paths that are not beneath are refused", arguments: methods)
    func outside(method: BeneathOpener.Method) throws {
        let layer = try layer(method)
        for path in [
            scratch.file("outside/file"), scratch.file("boxes"), scratch.file("box/../outside/file"), "sub/file", "/",
        ] {
            #expect(throws: FileError.self, "\(path)") { try layer.contents(of: path) }
        }
    }

    @Test func staysWithItsFolder() throws {
        let layer = try layer(.walk)
        try FileManager.default.moveItem(atPath: scratch.file("box"), toPath: scratch.file("moved"))
        try link("box", to: "outside")
        #expect(try layer.contents(of: scratch.file("box/sub/file")) == Array("inside".utf8))
    }

    @Test func changesNothingWhenReadOnly() throws {
        var layer = try layer(BeneathOpener.system.method)
        layer.isReadOnly = true
        let box = scratch.file("box")
        #expect(throws: FileError.self) { try layer.open(box + "/new", .createNew) }
        #expect(throws: FileError.self) { try layer.remove(box + "/sub/file") }
        #expect(throws: FileError.self) { try layer.rename(box + "/sub/file", to: box + "/x") }
        #expect(throws: FileError.self) { try layer.makeDirectory(box + "/x", permissions: 0o700) }
        #expect(try layer.contents(of: box + "/sub/file") == Array("inside".utf8))
    }
}
