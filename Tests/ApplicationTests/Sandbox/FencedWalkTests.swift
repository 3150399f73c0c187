import Files
import Foundation
import Glibc
import TestSupport
import Testing

@testable import Application

@Suite("FencedWalk")
struct FencedWalkTests {
    let scratch: TemporaryDirectory

    init() throws {
        scratch = try TemporaryDirectory()
        for name in ["box/a", "box/.hidden", "box/sub/b", "box/sub/deep/c", "outside/secret"] {
            try scratch.write("text", to: name)
        }
    }

    private func link(_ name: String, to target: String) throws {
        try FileManager.default.createSymbolicLink(atPath: scratch.file(name), withDestinationPath: target)
    }

    private func fence(_ method: BeneathOpener.Method = BeneathOpener.system.method) throws -> PathFence {
        let fence = PathFence(base: scratch.path, opener: BeneathOpener(method: method))
        try fence.grant(scratch.file("box"), .read)
        return fence
    }

    /// The paths beneath `box`, each with the error's number where there is one.
    private func walk(
        _ change: (inout FencedWalk.Options) -> Void = { _ in },
        method: BeneathOpener.Method = BeneathOpener.system.method
    ) throws -> [String] {
        var options = FencedWalk.Options()
        change(&options)
        let walk = try FencedWalk("box", options, fence: try fence(method))
        var found: [String] = []
        while let entry = try walk.next() {
            found.append(entry.path.dropFirst(4) + (entry.problem.map { " \($0.code)" } ?? ""))
        }
        return found.sorted()
    }

    static let all = [".hidden", "a", "sub", "sub/b", "sub/deep", "sub/deep/c"]

    @Test("all that is beneath, by options", arguments: PathFenceTests.methods)
    func options(method: BeneathOpener.Method) throws {
        #expect(try walk(method: method) == Self.all)
        #expect(try walk({ $0.hidden = false }, method: method) == Array(Self.all.dropFirst()))
        #expect(try walk({ $0.depth = 1 }, method: method) == [".hidden", "a", "sub"])
        #expect(try walk({ $0.depth = 2 }, method: method) == Array(Self.all.dropLast()))
    }

    @Test("links are not followed, unless they are to be")
    func links() throws {
        try link("box/again", to: "sub/deep")
        try link("box/broken", to: "nowhere")
        #expect(try walk() == (Self.all + ["again", "broken"]).sorted())
        #expect(try walk { $0.followsLinks = true } == (Self.all + ["again", "again/c", "broken \(ENOENT)"]).sorted())
    }

    @Test("links in a circle are told, and not entered", arguments: ["..", "../..", "../../sub", "."])
    func circles(target: String) throws {
        try link("box/sub/deep/circle", to: target)
        let found = try walk { $0.followsLinks = true }
        #expect(found == (Self.all + ["sub/deep/circle \(ELOOP)"]).sorted())
    }

    @Test("two links that lead to each other end")
    func crossed() throws {
        try link("box/sub/one", to: "deep")
        try link("box/sub/deep/two", to: "..")
        let found = try walk { $0.followsLinks = true }
        #expect(found.filter { $0.hasSuffix(" \(ELOOP)") } == ["sub/deep/two \(ELOOP)", "sub/one/two \(ELOOP)"])
    }

    @Test("no link leads out", arguments: ["../outside", "/etc", "/proc/self/root/etc"])
    func out(target: String) throws {
        try link("box/out", to: target)
        #expect(try walk { $0.followsLinks = true } == (Self.all + ["out \(EACCES)"]).sorted())
        #expect(try walk() == (Self.all + ["out"]).sorted())
    }

    @Test("a folder that becomes a link out while it waits is not entered", arguments: [true, false])
    func swapped(followsLinks: Bool) throws {
        var options = FencedWalk.Options()
        options.followsLinks = followsLinks
        let walk = try FencedWalk("box", options, fence: try fence())
        var found: [String] = []
        while let entry = try walk.next() {
            found.append(entry.path + (entry.problem == nil ? "" : " !"))
            if entry.path == "box/sub", entry.problem == nil {
                try FileManager.default.moveItem(atPath: scratch.file("box/sub"), toPath: scratch.file("moved"))
                try link("box/sub", to: "../outside")
            }
        }
        #expect(found.sorted() == ["box/.hidden", "box/a", "box/sub", "box/sub !"])
    }

    @Test("a name that is not UTF-8 is told")
    func names() throws {
        let path = Array(scratch.file("box/").utf8CString.dropLast()) + [-1, 0x41, 0]
        let descriptor = Glibc.open(path, O_CREAT | O_WRONLY, 0o600)
        guard descriptor >= 0 else { try Test.cancel("the file system takes UTF-8 alone") }
        close(descriptor)
        #expect(try walk().filter { $0.hasSuffix(" \(EILSEQ)") }.count == 1)
    }

    @Test(
        "what is not a folder, absent or not granted is an error",
        arguments: ["box/a", "box/absent", "outside", "box/../outside"])
    func refused(path: String) throws {
        #expect(throws: FileError.self) { try FencedWalk(path, fence: try fence()) }
    }

    @Test("a folder with many files is held by no more than one descriptor")
    func descriptors() throws {
        for index in 0..<300 { try scratch.write("", to: "box/many/\(index)/file") }
        let walk = try FencedWalk("box", fence: try fence())
        var count = 0
        var most = 0
        let before = try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").count
        while try walk.next() != nil {
            count += 1
            if count % 50 == 0 {
                most = max(most, try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").count)
            }
        }
        #expect(count == Self.all.count + 601)
        // Other tests have descriptors, too; a walk that kept its folders open would have 300.
        #expect(most < before + 150)
    }
}
