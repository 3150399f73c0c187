import Files
import Foundation
import TestSupport
import Testing

@testable import Application

@Suite("PathFence")
struct PathFenceTests {
    let scratch: TemporaryDirectory
    let container: ApplicationContainer

    init() throws {
        scratch = try TemporaryDirectory()
        container = ApplicationContainer(path: scratch.file("box"))
        try container.create()
        try FileManager.default.createDirectory(atPath: scratch.file("outside"), withIntermediateDirectories: true)
        try put("secret", "outside/secret")
        try put("inside", "box/Documents/file")
    }

    func put(_ text: String, _ name: String) throws {
        try Data(text.utf8).write(to: URL(fileURLWithPath: scratch.file(name)))
    }

    func link(_ name: String, to destination: String) throws {
        try FileManager.default.createSymbolicLink(atPath: scratch.file(name), withDestinationPath: destination)
    }

    func fence(_ method: BeneathOpener.Method) throws -> PathFence {
        let fence = PathFence(base: container.documents, opener: BeneathOpener(method: method))
        try fence.grant(container.path, .readWrite)
        fence.close(container.lockFile)
        return fence
    }

    static let methods: [BeneathOpener.Method] =
        BeneathOpener.system.method == .openat2 ? [.openat2, .walk] : [.walk]

    @Test("What is inside opens", arguments: methods, ["file", "./file", "sub/../file", "../Documents/file", "//file"])
    func inside(method: BeneathOpener.Method, path: String) throws {
        let path = path == "//file" ? container.documents + "//file" : path
        #expect(try fence(method).layer.contents(of: path) == Array("inside".utf8))
        #expect(try fence(method).verdict(path, .readWrite) == .granted)
    }

    @Test(
        "No name leads out", arguments: methods,
        [
            "../../outside/secret", "/etc/passwd", "sub/../../../outside/secret", "/proc/self/root/etc/passwd",
            "../../box-of-another/file", "..", "../..", "/", "",
        ])
    func hardNames(method: BeneathOpener.Method, path: String) throws {
        let fence = try fence(method)
        #expect(throws: FileError.self) { try fence.layer.contents(of: path) }
        #expect(throws: FileError.self) { try AtomicFile.write([1], to: path, using: fence.layer) }
        #expect(throws: FileError.self) { try fence.layer.remove(path) }
        #expect(throws: FileError.self) { try fence.layer.makeDirectory(path, permissions: 0o700) }
        #expect(throws: FileError.self) { try fence.layer.rename("file", to: path) }
        #expect(scratch.names("outside") == ["secret"])
        #expect(scratch.names("box/Documents") == ["file"])
    }

    @Test("The folder of a library's files is beneath its grant, and no name in it is a closed one", arguments: methods)
    func folderOfLibrary(method: BeneathOpener.Method) throws {
        let fence = try fence(method)
        fence.close(container.documents + "/a-wal")
        try link("box/Documents/link", to: "../../outside")
        for path in ["link/secret", "../../outside/secret", container.lockFile, "none/a", "a"] {
            #expect(throws: FileError.self, "\(path)") {
                close(try fence.layer.folder(of: path, suffixes: ["-wal"], .readWrite).descriptor)
            }
        }
        let (folder, status) = try fence.layer.folder(of: "file", suffixes: ["-wal"], .readWrite)
        defer { close(folder) }
        #expect(status?.kind == .regular)
        // The folder stays the one that was opened.
        try FileManager.default.moveItem(atPath: container.documents, toPath: scratch.file("box/moved"))
        try link("box/Documents", to: "../outside")
        #expect(faccessat(folder, "file", F_OK, 0) == 0 && faccessat(folder, "secret", F_OK, 0) != 0)
    }

    @Test(
        "No link leads out", arguments: methods,
        [
            ("absolute", "/etc"), ("relative", "../../outside"), ("magic", "/proc/self/root/etc"), ("root", "/"),
        ])
    func links(method: BeneathOpener.Method, link: (name: String, to: String)) throws {
        try self.link("box/Documents/" + link.name, to: link.to)
        let layer = try fence(method).layer
        for below in ["secret", "passwd", "new"] {
            let path = link.name + "/" + below
            let error = #expect(throws: FileError.self) { try layer.open(path, .read) }
            #expect(error?.code == EACCES)
            #expect(throws: FileError.self) { try AtomicFile.write([1], to: path, using: layer) }
            #expect(throws: FileError.self) { try layer.remove(path) }
            #expect(throws: FileError.self) { try layer.makeDirectory(path, permissions: 0o700) }
            #expect(throws: FileError.self) { try layer.rename("file", to: path) }
            #expect(throws: FileError.self) { try layer.status(path) }
        }
        #expect(throws: FileError.self) { try layer.list(link.name) }
        #expect(throws: FileError.self) { try layer.syncDirectory(link.name) }
        #expect(scratch.names("outside") == ["secret"])
        // The link itself may be looked at, and removed.
        #expect(try layer.status(link.name)?.kind == .symbolicLink)
        try layer.remove(link.name)
    }

    @Test("A path of megabytes is an error that shows its beginning", arguments: methods)
    func longPath(method: BeneathOpener.Method) throws {
        let path = container.tmp + "/" + String(repeating: "x/../", count: 1_000_000) + "file"
        let fence = try fence(method)
        for read in [true, false] {
            let error = try #require(
                throws: FileError.self,
                performing: {
                    if read {
                        _ = try fence.layer.contents(of: path)
                    } else {
                        try fence.layer.makeDirectories(path)
                    }
                })
            #expect(error.code == ENAMETOOLONG && "\(error)".utf8.count < 300, "\(error)")
        }
        #expect(try fence.layer.contents(of: String(repeating: "x/../", count: 2000) + "file") == Array("inside".utf8))
    }

    @Test("A link to a file outside is not followed", arguments: methods)
    func fileLink(method: BeneathOpener.Method) throws {
        try link("box/Documents/link", to: "../../outside/secret")
        let layer = try fence(method).layer
        #expect(throws: FileError.self) { try layer.open("link", .read) }
        #expect(throws: FileError.self) { try layer.open("link", .update) }
        #expect(throws: FileError.self) { try layer.open("link", .append) }
        // An atomic write replaces the link.
        try AtomicFile.write(Array("mine".utf8), to: "link", using: layer)
        #expect(try layer.contents(of: "link") == Array("mine".utf8))
        #expect(try String(contentsOfFile: scratch.file("outside/secret"), encoding: .utf8) == "secret")
    }

    @Test func aLinkThatStaysInsideIsFollowedWhereTheKernelChecks() throws {
        try link("box/Documents/link", to: "file")
        if BeneathOpener.system.method == .openat2 {
            #expect(try fence(.openat2).layer.contents(of: "link") == Array("inside".utf8))
        }
        #expect(throws: FileError.self) { try fence(.walk).layer.contents(of: "link") }
    }

    @Test("The whole layer works inside", arguments: methods)
    func layer(method: BeneathOpener.Method) throws {
        let layer = try fence(method).layer
        try layer.makeDirectories("a/b")
        try AtomicFile.write([1, 2, 3], to: "a/b/f", using: layer)
        #expect(try layer.list("a/b") == ["f"])
        #expect(try layer.status("a/b/f")?.size == 3)
        #expect(try layer.status("a/b")?.kind == .directory)
        #expect(try layer.status(container.path)?.kind == .directory)
        #expect(try layer.status("absent") == nil)
        #expect(try layer.status("absent/below") == nil)
        try layer.rename("a/b/f", to: "g")
        #expect(try layer.contents(of: "g") == [1, 2, 3])
        try layer.remove("g")
        try layer.removeDirectory("a/b")
        #expect(throws: FileError.self) { try layer.remove("a") }
        try layer.removeDirectory("a")
        #expect(try layer.list(".") == ["file"])
        #expect(throws: FileError(.open, "a\0b", code: EINVAL, reason: "the path holds a NUL")) {
            try layer.open("a\0b", .read)
        }
    }

    @Test("who agreed to reading is asked about writing; a grant for reading is not")
    func consents() throws {
        let fence = try fence(.walk)
        let secret = scratch.file("outside/secret")
        try fence.grantConsent(scratch.file("outside"), .read)
        #expect(fence.verdict(secret, .read) == .granted)
        #expect(fence.verdict(secret, .readWrite) == .notGranted(path: secret))
        #expect(throws: FileError.self) { try fence.layer.open(secret, .append) }
        try fence.grantConsent(scratch.file("outside"), .readWrite)
        #expect(fence.verdict(secret, .readWrite) == .granted)
        try fence.grant(scratch.file("outside"), .read)
        #expect(fence.verdict(secret, .readWrite) == .granted)
    }

    @Test func grantsForReadingAreForReading() throws {
        let fence = try fence(.walk)
        let secret = scratch.file("outside/secret")
        #expect(fence.verdict(secret, .read) == .notGranted(path: secret))
        try fence.grant(scratch.file("outside"), .read)
        #expect(fence.verdict(secret, .read) == .granted)
        #expect(fence.verdict(secret, .readWrite) == .readOnly(path: secret))
        #expect(try fence.layer.contents(of: secret) == Array("secret".utf8))
        #expect(throws: FileError.self) { try fence.layer.open(secret, .append) }
        let error = #expect(throws: FileError.self) { try fence.layer.remove(secret) }
        #expect(error?.message.contains("--allow-write") == true)
        try fence.grant(scratch.file("outside"), .readWrite)
        try fence.layer.remove(secret)
    }

    @Test func oneFileIsOneFile() throws {
        let fence = try fence(.walk)
        try put("other", "outside/other")
        try link("outside/link", to: scratch.file("outside/secret"))
        try fence.grant(scratch.file("outside/link"), .read)
        #expect(try fence.layer.contents(of: scratch.file("outside/link")) == Array("secret".utf8))
        #expect(try fence.layer.contents(of: scratch.file("outside/secret")) == Array("secret".utf8))
        #expect(throws: FileError.self) { try fence.layer.contents(of: scratch.file("outside/other")) }
        #expect(throws: FileError.self) { try fence.layer.list(scratch.file("outside")) }
        let error = #expect(throws: FileError.self) { try fence.grant(scratch.file("outside/other"), .readWrite) }
        #expect(error?.reason.hasPrefix("only a folder") == true)
        #expect(throws: FileError.self) { try fence.grant(scratch.file("absent"), .read) }
    }

    @Test("The host's own files are closed under every name", arguments: methods)
    func closed(method: BeneathOpener.Method) throws {
        try put("the archive", "box/Documents/items.archive")
        let fence = try fence(method)
        let archive = container.documents + "/items.archive"
        fence.close(archive)
        fence.close(container.documents + "/items.journal")
        try link("box/Documents/here", to: ".")
        try link("box/Documents/alias", to: "items.archive")
        #expect(Glibc.link(archive, scratch.file("box/Documents/hard")) == 0)
        #expect(fence.verdict(archive, .read) == .closed(path: archive))
        for path in ["items.archive", "here/items.archive", "alias", "hard", "./items.archive"] {
            #expect(throws: FileError.self, "\(path)") { try fence.layer.open(path, .read) }
        }
        for path in ["items.archive", "here/items.archive", "items.journal", "here/items.journal"] {
            #expect(throws: FileError.self, "\(path)") { try fence.layer.remove(path) }
            #expect(throws: FileError.self, "\(path)") { try AtomicFile.write([1], to: path, using: fence.layer) }
            #expect(throws: FileError.self, "\(path)") { try fence.layer.makeDirectory(path, permissions: 0o700) }
        }
        // Nor do they go with their folder.
        #expect(throws: FileError.self) { try fence.layer.rename("../Documents", to: "../Elsewhere") }
        #expect(try String(contentsOfFile: archive, encoding: .utf8) == "the archive")
        #expect(!FileManager.default.fileExists(atPath: container.documents + "/items.journal"))
        #expect(throws: FileError.self) { try fence.layer.open("../.lock", .update) }
    }

    @Test("A pipe does not block the host", arguments: methods)
    func pipes(method: BeneathOpener.Method) throws {
        mkfifo(container.documents + "/pipe", 0o600)
        let error = #expect(throws: FileError.self) { try fence(method).layer.open("pipe", .read) }
        #expect(error?.reason == "it is not a regular file")
        #expect(throws: FileError.self) { try fence(method).layer.open(".", .read) }
    }

    @Test func aGrantFollowsItsFolderAndNotItsName() throws {
        let fence = try fence(.walk)
        try fence.grant(scratch.file("outside"), .read)
        try FileManager.default.moveItem(atPath: scratch.file("outside"), toPath: scratch.file("moved"))
        try link("outside", to: "/etc")
        #expect(throws: FileError.self) { try fence.layer.contents(of: scratch.file("outside/passwd")) }
        #expect(try fence.layer.contents(of: scratch.file("outside/secret")) == Array("secret".utf8))
    }

    @Test func aContainerBehindALink() throws {
        try link("alias", to: "box")
        let behind = ApplicationContainer(path: scratch.file("alias"))
        let fence = try PathFence(behind, base: behind.documents)
        #expect(try fence.layer.contents(of: "file") == Array("inside".utf8))
        #expect(try fence.layer.contents(of: container.documents + "/file") == Array("inside".utf8))
        #expect(throws: FileError.self) { try fence.layer.open(container.lockFile, .update) }
        let readOnly = try PathFence(behind, access: .read, base: behind.documents)
        #expect(throws: FileError.self) { try readOnly.layer.open("file", .append) }
    }

    @Test("A container's layout stays as it is, whatever a script tries", arguments: methods)
    func layout(method: BeneathOpener.Method) throws {
        try put("1", "box/Library/format")
        try put("settings", "box/Library/Preferences/cubby.plist")
        let temporary = "Documents/" + TemporaryName.next()
        try put("a save", "box/" + temporary)
        let fence = try fence(method)
        fence.closeLayout(of: container)
        let layer = fence.layer
        let before = try FileManager.default.subpathsOfDirectory(atPath: container.path).sorted()
        let files =
            ContainerLayout.files + [
                ".socket", "Library/FORMAT", "Library/Preferences/cubby.plist", "Library/Preferences/new.plist",
                ".cubby-restore", ".cubby-restore/new", temporary, temporary.uppercased(),
            ]
        let folders = container.folders.dropFirst().map { String($0.dropFirst(container.path.count + 1)) }
        for name in files + folders + ContainerLayout.optionalFolders {
            let path = PathText.join(container.path, name)
            let isFolder = !files.contains(name)
            #expect(throws: FileError.self, "\(name)") { try AtomicFile.write([1], to: path, using: layer) }
            #expect(throws: FileError.self, "\(name)") { try layer.remove(path) }
            #expect(throws: FileError.self, "\(name)") { try layer.removeDirectory(path) }
            #expect(throws: FileError.self, "\(name)") { try layer.removeAll(path) }
            #expect(throws: FileError.self, "\(name)") { try layer.rename(path, to: container.tmp + "/x") }
            #expect(throws: FileError.self, "\(name)") { try layer.rename("file", to: path) }
            #expect(throws: FileError.self, "\(name)") { try layer.rename("file", toNew: path) }
            #expect(throws: FileError.self, "\(name)") { try layer.link("file", to: path) }
            #expect(throws: FileError.self, "\(name)") { try layer.open(path, .createNew) }
            #expect(throws: FileError.self, "\(name)") { try layer.open(path, .update) }
            if !isFolder {
                #expect(throws: FileError.self, "\(name)") { try layer.makeDirectory(path, permissions: 0o700) }
                #expect(throws: FileError.self, "\(name)") { try layer.makeDirectories(path + "/x") }
            }
        }
        #expect(try FileManager.default.subpathsOfDirectory(atPath: container.path).sorted() == before)
        // What is in the folders is the script's, and it may read the preferences and the store's files.
        for name in ContainerLayout.readableFiles.sorted() {
            try put("a store's", "box/" + name)
            let path = PathText.join(container.path, name)
            #expect(try layer.contents(of: path) == Array("a store's".utf8))
            for access in [FileAccess.update, .append, .createNew] {
                #expect(throws: FileError.self, "\(name)") { try layer.open(path, access) }
            }
            #expect(throws: FileError.self, "\(name)") { try layer.remove(path) }
            try FileManager.default.removeItem(atPath: path)
        }
        try AtomicFile.write([1], to: container.tmp + "/mine", using: layer)
        try layer.removeAll(container.tmp + "/mine")
        #expect(
            try layer.contents(of: container.preferences + "/cubby.plist") == Array("settings".utf8))
        #expect(try layer.list(container.preferences) == ["cubby.plist"])
        #expect(throws: FileError.self) { try layer.contents(of: container.path + "/Library/format") }
        // A folder that has gone may be made again, as a folder.
        rmdir(container.tmp)
        #expect(throws: FileError.self) { try layer.open(container.tmp, .update) }
        try layer.makeDirectory(container.tmp, permissions: 0o700)
    }

    @Test("A link that leads nowhere creates nothing, neither the host's own nor outside", arguments: methods)
    func danglingLinks(method: BeneathOpener.Method) throws {
        let fence = try fence(method)
        fence.closeLayout(of: container)
        try link("box/Documents/dangling", to: "../Library/format")
        #expect(throws: FileError.self) { try fence.layer.open("dangling", .update) }
        #expect(!FileManager.default.fileExists(atPath: container.path + "/Library/format"))
    }
}
