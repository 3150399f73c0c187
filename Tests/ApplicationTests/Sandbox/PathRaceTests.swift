import Files
import Foundation
import Glibc
import Synchronization
import TestSupport
import Testing

@testable import Application

/// Every operation on paths behind the path fence alone, while another thread exchanges a folder on the way for a link
/// that leads out of the grant: nothing outside is read or changed. `scripts/soak races` does it for longer.
@Suite("Races of paths")
struct PathRaceTests {
    private static let rounds = ProcessInfo.processInfo.environment["CUBBY_RACES"].flatMap { Int($0) } ?? 25

    let scratch: TemporaryDirectory

    init() throws {
        scratch = try TemporaryDirectory()
        for (folder, text) in [("grant/d", "fine"), ("out", "SECRET")] {
            for name in ["file", "other", "sub/file"] { try scratch.write(text, to: "\(folder)/\(name)") }
        }
        symlink(scratch.file("out"), scratch.file("grant/link"))
    }

    private typealias Operation = @Sendable (FencedFileLayer, String) throws -> [UInt8]

    /// Each with a folder that is a link half of the time; what it reads is its result.
    private static let operations: [(name: String, run: Operation)] = [
        ("read", { try $0.contents(of: $1 + "/file") }),
        ("list", { Array(try $0.list($1).joined().utf8) }),
        ("status", { layer, folder in try layer.status(folder + "/file").map { [UInt8($0.size)] } ?? [] }),
        ("follow", { [UInt8(try $0.status($1 + "/file", followsLinks: true).status.size)] }),
        (
            "write",
            {
                try AtomicFile.write([1], to: $1 + "/file", using: $0, durable: false); return []
            }
        ),
        (
            "write through",
            {
                try FileTarget.write([1], to: $1 + "/file", using: $0, durable: false); return []
            }
        ),
        (
            "create",
            { layer, folder in
                // A round whose removal met the link has left it.
                try? layer.remove(folder + "/new")
                layer.close(try layer.open(folder + "/new", .createNew))
                try layer.remove(folder + "/new")
                return []
            }
        ),
        (
            "append",
            { layer, folder in
                let file = try layer.open(folder + "/other", .append)
                defer { layer.close(file) }
                try layer.writeAll(([1] as [UInt8]).span.bytes, to: file)
                return []
            }
        ),
        (
            "truncate",
            { layer, folder in
                let file = try layer.open(folder + "/other", .update)
                defer { layer.close(file) }
                try layer.truncate(file, to: 0)
                return []
            }
        ),
        (
            "folder",
            { layer, folder in
                try layer.makeDirectory(folder + "/made", permissions: 0o700)
                try layer.removeDirectory(folder + "/made")
                return []
            }
        ),
        (
            "folders",
            {
                try $0.makeDirectories($1 + "/x/y"); try $0.removeAll($1 + "/x"); return []
            }
        ),
        (
            "remove",
            {
                try $0.remove($1 + "/other"); return []
            }
        ),
        (
            "remove all",
            {
                try $0.removeAll($1 + "/sub"); return []
            }
        ),
        (
            "rename out",
            {
                try $0.rename($1 + "/other", to: $1 + "/../taken"); return []
            }
        ),
        (
            "rename in",
            { layer, folder in
                try AtomicFile.write([1], to: folder + "/../mine", using: layer, durable: false)
                try layer.rename(folder + "/../mine", to: folder + "/file")
                return []
            }
        ),
        (
            "link",
            {
                try $0.link($1 + "/file", to: $1 + "/../hard"); return []
            }
        ),
        (
            "copy",
            { layer, folder in
                try FileTransfer.copy(folder + "/file", to: folder + "/../copied", using: layer)
                return try layer.contents(of: folder + "/../copied")
            }
        ),
        (
            "copy in",
            { layer, folder in
                try FileTransfer.copy(folder + "/../plain", to: folder + "/file", using: layer)
                return []
            }
        ),
        (
            "copy folder",
            { layer, folder in
                defer { try? layer.removeAll(folder + "/../tree") }
                try FolderCopier.copy(folder, to: folder + "/../tree", using: layer)
                return try layer.contents(of: folder + "/../tree/file")
            }
        ),
        (
            "move",
            {
                try FileTransfer.move($1 + "/other", to: $1 + "/../moved", using: $0); return []
            }
        ),
        (
            "walk",
            { layer, folder in
                let walk = try FencedWalk(folder, fence: layer.fence)
                var found: [UInt8] = []
                while let entry = try walk.next() {
                    if let bytes = try? layer.contents(of: entry.path) { found += bytes }
                }
                return found
            }
        ),
        (
            "work",
            { layer, folder in
                let work = try WorkFolder(beside: folder + "/result", using: layer)
                try AtomicFile.write([1], to: work.file("copy"), using: work.layer, durable: false)
                try work.put("copy", at: folder + "/result")
                try layer.remove(folder + "/result")
                return []
            }
        ),
    ]

    /// Puts a link in the place of a folder, and the folder back, again and again.
    private final class Exchanger: Sendable {
        private let isOver = Atomic(false)
        let count = Atomic(0)
        private let thread: Mutex<WorkerThread<Void>?> = Mutex(nil)

        init(_ folder: String, _ link: String) {
            let thread = WorkerThread { [self] in
                let aside = folder + ".aside"
                while !isOver.load(ordering: .relaxed) {
                    if rename(folder, aside) == 0, rename(link, folder) == 0 { count.add(1, ordering: .relaxed) }
                    rename(folder, link)
                    rename(aside, folder)
                }
            }
            self.thread.withLock { $0 = thread }
        }

        func stop() {
            isOver.store(true, ordering: .relaxed)
            _ = thread.withLock { $0 }?.join()
        }
    }

    @Test(
        "nothing outside the grant is read or changed",
        arguments: BeneathOpener.system.method == .openat2 ? [true, false] : [false])
    func races(usesOpenat2: Bool) throws {
        let fence = PathFence(
            base: scratch.file("grant"), opener: BeneathOpener(method: usesOpenat2 ? .openat2 : .walk))
        try fence.grant(scratch.file("grant"), .readWrite)
        let layer = fence.layer
        let exchanger = Exchanger(scratch.file("grant/d"), scratch.file("grant/link"))
        defer { exchanger.stop() }
        let folder = scratch.file("grant/d")
        var done: [String: Int] = [:]
        func perform(_ name: String, _ operation: Operation) {
            for file in [folder + "/other", scratch.file("grant/plain")] {
                _ = try? AtomicFile.write(Array("fine".utf8), to: file, using: layer, durable: false)
            }
            if let bytes = try? operation(layer, folder) {
                done[name, default: 0] += 1
                #expect(!String(decoding: bytes, as: UTF8.self).contains("SECRET"), "\(name)")
            }
        }
        for _ in 0..<Self.rounds {
            for (name, operation) in Self.operations { perform(name, operation) }
            try check()
        }
        #expect(exchanger.count.load(ordering: .relaxed) > 0)
        // The racer does not keep the operations from working: chance alone does in so few rounds, so they go on.
        let deadline = ContinuousClock.now + .seconds(30 * Project.patience)
        for (name, operation) in Self.operations
        where ["read", "list", "status", "write", "create", "append"].contains(name) {
            while done[name] == nil, ContinuousClock.now < deadline { perform(name, operation) }
            #expect(done[name] != nil, "\(name)")
        }
        try check()
    }

    private func check() throws {
        #expect(try scratch.contents(of: "out") == ["file", "other", "sub"])
        for name in ["out/file", "out/other", "out/sub/file"] {
            #expect(try scratch.read(name) == Data("SECRET".utf8), "\(name)")
        }
        #expect(try scratch.contents(of: "out/sub") == ["file"])
        #expect(scratch.names() == ["grant", "out"])
    }
}
