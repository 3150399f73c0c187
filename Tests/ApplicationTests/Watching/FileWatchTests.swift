import Files
import Foundation
import Glibc
import TestSupport
import Testing

@testable import Application

/// A watch of a folder, with what it has reported.
private final class Watched {
    let loop: EventLoop
    let folder: String
    private(set) var changes: [FileChange] = []
    private(set) var watch: FileWatch?

    init(
        _ folder: String, fence: PathFence, _ change: (inout FileWatch.Options) -> Void = { _ in }
    ) throws {
        var options = FileWatch.Options()
        options.delay = 0.01
        change(&options)
        self.folder = folder
        loop = try EventLoop()
        watch = try FileWatch(folder, options, fence: fence, loop: loop) { [unowned self] in changes += $0 }
    }

    /// The changes as texts, with paths beneath the folder.
    var texts: [String] {
        changes.map { change in
            let from = change.from.map { short($0) + " → " } ?? ""
            return "\(change.kind.rawValue) \(from)\(short(change.path))"
        }
    }

    private func short(_ path: String) -> String {
        path == folder ? "." : path.hasPrefix(folder + "/") ? String(path.dropFirst(folder.utf8.count + 1)) : path
    }

    /// Serves the loop until a condition holds.
    func serve(_ what: String = #function, until condition: (Watched) -> Bool) {
        let watchdog = Watchdog("watch: \(what)")
        defer { watchdog.done() }
        loop.run { condition(self) }
    }

    /// Makes a file that is reported last, and waits for that.
    func flush(_ name: String = "end") throws {
        try Data().write(to: URL(fileURLWithPath: "\(folder)/\(name)"))
        serve { $0.changes.contains { $0.path == "\(self.folder)/\(name)" } }
        changes.removeAll { $0.path == "\(folder)/\(name)" }
    }
}

@Suite("Watches")
struct FileWatchTests {
    let scratch: TemporaryDirectory
    let fence: PathFence
    private var inbox: String { scratch.file("inbox") }

    init() throws {
        scratch = try TemporaryDirectory()
        try FileManager.default.createDirectory(atPath: scratch.file("inbox"), withIntermediateDirectories: true)
        try FileManager.default.createDirectory(atPath: scratch.file("outside"), withIntermediateDirectories: true)
        fence = PathFence(base: scratch.path)
        try fence.grant(scratch.file("inbox"), .read)
    }

    private func put(_ text: String, _ name: String) throws { try scratch.write(text, to: name) }

    private func move(_ from: String, _ to: String) throws {
        guard rename(scratch.file(from), scratch.file(to)) == 0 else { throw FileError(.rename, from, code: errno) }
    }

    @Test("a file is created, changed, moved and removed, each told once")
    func kinds() throws {
        try put("there", "inbox/old")
        let watched = try Watched(inbox, fence: fence)
        try put("1", "inbox/a")
        watched.serve { !$0.changes.isEmpty }
        // Open for writing, not replaced.
        let file = open(scratch.file("inbox/a"), O_WRONLY | O_APPEND)
        write(file, "2", 1)
        close(file)
        watched.serve { $0.changes.count == 2 }
        try move("inbox/a", "inbox/b")
        watched.serve { $0.changes.count == 3 }
        unlink(scratch.file("inbox/b"))
        unlink(scratch.file("inbox/old"))
        watched.serve { $0.changes.count == 5 }
        #expect(watched.texts == ["created a", "changed a", "moved a → b", "removed b", "removed old"])
        #expect(watched.changes.allSatisfy { $0.isClosed && !$0.isDirectory })
    }

    @Test("of an atomic write the final name is told, not the temporary one, whatever that is")
    func atomicWrite() throws {
        try put("there", "inbox/old")
        let watched = try Watched(inbox, fence: fence) { $0.delay = 0.5 }
        for temporary in [".new.tmp", "plain-name", "new~", "#new#", "new.part"] {
            try put("1", "inbox/\(temporary)")
            try move("inbox/\(temporary)", "inbox/new-\(temporary.utf8.count)")
        }
        try put("2", "inbox/other")
        try move("inbox/other", "inbox/old")
        watched.serve { $0.changes.count >= 5 }
        #expect(watched.texts == ["created new-8", "created new-10", "created new-4", "created new-5", "changed old"])
    }

    @Test("what was seen in one go is reported in its order, however long reading it takes")
    func order() throws {
        let watched = try Watched(inbox, fence: fence) { $0.delay = 0.000_1 }
        for number in 0..<1000 { try put("1", "inbox/\(number)") }
        try put("2", "inbox/0")
        watched.serve { $0.changes.count >= 1000 }
        #expect(watched.texts == (0..<1000).map { "created \($0)" })
    }

    @Test("a backup beside an editor's new file is no move of it")
    func editor() throws {
        try put("old", "inbox/text")
        let watched = try Watched(inbox, fence: fence)
        try move("inbox/text", "inbox/text~")
        try put("new", "inbox/text")
        watched.serve { !$0.changes.isEmpty }
        unlink(scratch.file("inbox/text~"))
        try watched.flush()
        #expect(watched.texts == ["changed text"])
    }

    @Test("a file is told when it is closed, however long it is written")
    func closed() throws {
        let watched = try Watched(inbox, fence: fence)
        let file = open(scratch.file("inbox/slow"), O_WRONLY | O_CREAT, 0o600)
        write(file, "first", 5)
        try watched.flush("between")
        #expect(watched.texts.isEmpty)
        write(file, "second", 6)
        close(file)
        watched.serve { !$0.changes.isEmpty }
        #expect(watched.texts == ["created slow"])
    }

    @Test("with closed = false a growing file is told, as one that is not closed")
    func growing() throws {
        let watched = try Watched(inbox, fence: fence) { $0.closed = false }
        let file = open(scratch.file("inbox/log"), O_WRONLY | O_CREAT, 0o600)
        write(file, "first", 5)
        watched.serve { !$0.changes.isEmpty }
        #expect(watched.texts == ["created log"] && watched.changes.first?.isClosed == false)
        close(file)
        watched.serve { $0.changes.count == 2 }
        #expect(watched.texts.last == "changed log" && watched.changes.last?.isClosed == true)
    }

    @Test("links, folders and pipes are told at once; a hard link is a file")
    func others() throws {
        try put("x", "inbox/file")
        let watched = try Watched(inbox, fence: fence)
        symlink("/etc/passwd", scratch.file("inbox/link"))
        mkdir(scratch.file("inbox/folder"), 0o700)
        mkfifo(scratch.file("inbox/pipe"), 0o600)
        link(scratch.file("inbox/file"), scratch.file("inbox/hard"))
        watched.serve { $0.changes.count == 4 }
        #expect(watched.texts.sorted() == ["created folder", "created hard", "created link", "created pipe"])
        try put("in it", "inbox/folder/inner")
        try watched.flush()
        #expect(watched.changes.count == 4)
    }

    @Test("recursive: what comes with a folder, is moved with it, and goes with it")
    func recursive() throws {
        try put("there", "inbox/deep/down/old")
        let watched = try Watched(inbox, fence: fence) { $0.recursive = true }
        #expect(watched.watch?.folderCount == 3)
        try put("2", "inbox/deep/down/new")
        watched.serve { !$0.changes.isEmpty }
        // Made outside, moved in whole.
        try put("3", "outside/tree/branch/leaf")
        try move("outside/tree", "inbox/tree")
        watched.serve { $0.changes.count >= 4 }
        // Made inside, faster than it can be watched.
        for number in 1...3 { try put("4", "inbox/fast/\(number)/file") }
        watched.serve { $0.changes.count >= 11 }
        try move("inbox/deep", "inbox/flat")
        watched.serve { $0.changes.count >= 12 }
        try put("5", "inbox/flat/down/newer")
        watched.serve { $0.changes.count >= 13 }
        try move("inbox/tree", "outside/tree")
        watched.serve { $0.changes.count >= 16 }
        try put("6", "outside/tree/branch/more")
        try watched.flush()
        #expect(watched.texts[0] == "created deep/down/new")
        #expect(watched.texts[1..<4].sorted() == ["created tree", "created tree/branch", "created tree/branch/leaf"])
        #expect(
            watched.texts[4..<11].sorted() == [
                "created fast", "created fast/1", "created fast/1/file", "created fast/2", "created fast/2/file",
                "created fast/3", "created fast/3/file",
            ])
        #expect(
            watched.texts[11...].map { $0 } == [
                "moved deep → flat", "created flat/down/newer", "removed tree/branch/leaf", "removed tree/branch",
                "removed tree",
            ])
    }

    @Test("10,000 files moved in are told, each once")
    func many() throws {
        let watched = try Watched(inbox, fence: fence)
        for number in 0..<10_000 {
            let file = open(scratch.file("outside/\(number)"), O_WRONLY | O_CREAT, 0o600)
            try #require(file >= 0)
            close(file)
            try move("outside/\(number)", "inbox/\(number)")
        }
        watched.serve { $0.changes.count >= 10_000 }
        try watched.flush()
        #expect(watched.changes.count == 10_000)
        #expect(Set(watched.changes.map(\.path)).count == 10_000 && watched.changes.allSatisfy { $0.kind == .created })
    }

    @Test("when the kernel's queue overflows, this is told, and a scan finds what was lost")
    func overflow() throws {
        let text = try String(contentsOfFile: "/proc/sys/fs/inotify/max_queued_events", encoding: .utf8)
        let limit = try #require(Int(text.trimmingCharacters(in: .whitespacesAndNewlines)))
        guard limit <= 1 << 16 else { try Test.cancel("the queue has \(limit) places") }
        try put("gone", "inbox/lost")
        try put("old", "inbox/kept")
        let watched = try Watched(inbox, fence: fence)
        for number in 0...limit / 2 {
            let file = open(scratch.file("inbox/\(number)"), O_WRONLY | O_CREAT, 0o600)
            try #require(file >= 0)
            close(file)
        }
        unlink(scratch.file("inbox/lost"))
        try put("new contents", "inbox/kept")
        watched.serve { $0.texts.contains("changed kept") && $0.texts.contains("removed lost") }
        #expect(watched.texts.first == "overflow .")
        watched.serve { $0.changes.count >= limit / 2 + 4 }
        try watched.flush()
        #expect(watched.changes.count { $0.kind == .created } == limit / 2 + 1)
        #expect(watched.changes.count == limit / 2 + 4)
    }

    @Test("a folder removed under the watch ends it, after what was in it", arguments: [false, true])
    func rootRemoved(isMoved: Bool) throws {
        try put("x", "inbox/a")
        try put("x", "inbox/sub/b")
        let watched = try Watched(inbox, fence: fence) { $0.recursive = true }
        if isMoved {
            try move("inbox", "elsewhere")
        } else {
            try FileManager.default.removeItem(atPath: inbox)
        }
        watched.serve { $0.watch?.isEnded == true && $0.texts.contains("removed .") }
        #expect(watched.texts.sorted() == ["removed .", "removed a", "removed sub", "removed sub/b"])
        #expect(watched.texts.last == "removed .")
    }

    @Test("a single file: its replacement and removal, and nothing of its neighbours")
    func file() throws {
        try put("1", "inbox/.settings")
        let watched = try Watched(scratch.file("inbox/.settings"), fence: fence)
        try put("x", "inbox/neighbour")
        try put("2", "inbox/new")
        try move("inbox/new", "inbox/.settings")
        watched.serve { !$0.changes.isEmpty }
        unlink(scratch.file("inbox/.settings"))
        watched.serve { $0.changes.count == 2 }
        #expect(watched.texts == ["changed .", "removed ."])
        let alone = PathFence(base: scratch.path)
        try put("3", "inbox/.settings")
        try alone.grant(scratch.file("inbox/.settings"), .read)
        let granted = try Watched(scratch.file("inbox/.settings"), fence: alone)
        try put("4", "inbox/.settings")
        granted.serve { !$0.changes.isEmpty }
        #expect(granted.texts == ["changed ."])
    }

    @Test("the fence: outside needs a grant, links do not lead out, closed files are not told")
    func fenced() throws {
        #expect(throws: FileError.self) { try Watched(scratch.file("outside"), fence: fence) }
        #expect(throws: FileError.self) { try Watched(scratch.file("inbox/nothing"), fence: fence) }
        symlink(scratch.file("outside"), scratch.file("inbox/out"))
        #expect(throws: FileError.self) { try Watched(scratch.file("inbox/out"), fence: fence) }
        try put("x", "outside/sub/file")
        fence.close(scratch.file("inbox/secret"))
        let watched = try Watched(inbox, fence: fence) { ($0.recursive, $0.hidden) = (true, true) }
        symlink(scratch.file("outside/sub"), scratch.file("inbox/link"))
        try put("x", "inbox/secret")
        try put("y", "outside/sub/file")
        try put("x", "inbox/.hidden")
        watched.serve { $0.changes.count >= 2 }
        try watched.flush()
        #expect(watched.texts.sorted() == ["created .hidden", "created link"])
    }

    @Test("what is there can be told first; a name that is not UTF-8 is told as unwatched")
    func existing() throws {
        try put("x", "inbox/a")
        let bytes = Array("\(inbox)/x".utf8CString.dropLast()) + [-1, 0]
        let file = open(bytes, O_WRONLY | O_CREAT, 0o600)
        try #require(file >= 0)
        close(file)
        let watched = try Watched(inbox, fence: fence) { $0.existing = true }
        watched.serve { $0.changes.count >= 2 }
        #expect(watched.texts.sorted() == ["created a", "unwatched ."])
        #expect(watched.changes.contains { $0.reason?.contains("not UTF-8") == true })
    }

    @Test("names that differ in their bytes alone are different files")
    func names() throws {
        let watched = try Watched(inbox, fence: fence)
        for name in ["e\u{301}", "\u{e9}"] {
            let file = open(scratch.file("inbox/\(name)"), O_WRONLY | O_CREAT, 0o600)
            close(file)
        }
        watched.serve { $0.changes.count >= 2 }
        try watched.flush()
        #expect(watched.changes.count == 2)
    }

    // MARK: Accounting

    /// What a watch of all has reported, applied one after another.
    private struct Account {
        private(set) var paths: Set<String> = []
        private(set) var mistakes: [String] = []

        mutating func apply(_ change: FileChange) {
            let path = change.path
            switch change.kind {
            case .created:
                if !paths.insert(path).inserted { mistakes.append("created again: \(path)") }
            case .changed:
                if !paths.contains(path) { mistakes.append("changed before it was created: \(path)") }
            case .removed:
                if paths.remove(path) == nil { mistakes.append("removed without being there: \(path)") }
            case .moved:
                guard let from = change.from, paths.remove(from) != nil else {
                    return mistakes.append("moved from nowhere: \(change.from ?? "-") → \(path)")
                }
                let moved = paths.filter { $0.hasPrefix(from + "/") }
                paths.subtract(moved)
                paths.insert(path)
                paths.formUnion(moved.map { path + $0.dropFirst(from.utf8.count) })
            case .overflow, .unwatched: mistakes.append("\(change.kind): \(change.reason ?? path)")
            }
        }
    }

    @Test("whatever is done in a tree, the changes told add up to what is there", arguments: 1...12)
    func accounting(seed: UInt64) throws {
        var random = TestGenerator(seed: seed)
        for name in ["a", "b", "a/d"] { try put("x", "inbox/\(name)/f") }
        let watched = try Watched(inbox, fence: fence) { ($0.recursive, $0.existing, $0.delay) = (true, true, 0.002) }
        let names = ["a", "b", "c", "d"]
        func place(_ depth: Int) -> String {
            "inbox/" + (0..<depth).map { _ in names.randomElement(using: &random) ?? "" }.joined(separator: "/")
        }
        for step in 0..<150 {
            let path = place(Int.random(in: 1...3, using: &random))
            let other = place(Int.random(in: 1...3, using: &random))
            switch Int.random(in: 0..<8, using: &random) {
            case 0, 1:
                let file = open(scratch.file(path + ".txt"), O_WRONLY | O_CREAT | O_TRUNC, 0o600)
                if file >= 0 {
                    write(file, "\(step)", 1)
                    close(file)
                }
            case 2: mkdir(scratch.file(path), 0o700)
            case 3: rename(scratch.file(path), scratch.file(other))
            case 4: rename(scratch.file(path + ".txt"), scratch.file(other + ".txt"))
            case 5: try? FileManager.default.removeItem(atPath: scratch.file(path))
            case 6:
                if rename(scratch.file(path), scratch.file("outside/kept")) == 0 {
                    rename(scratch.file("outside/kept"), scratch.file(other))
                    try? FileManager.default.removeItem(atPath: scratch.file("outside/kept"))
                }
            default: unlink(scratch.file(path + ".txt"))
            }
            if Int.random(in: 0..<4, using: &random) == 0 { watched.loop.runOnce(timeout: 0.003) }
        }
        try watched.flush("end.txt")
        // What the last step has touched may settle after that.
        try watched.flush("end-of-all.txt")
        var account = Account()
        for change in watched.changes { account.apply(change) }
        let there = FileManager.default.subpaths(atPath: inbox)?.filter { !$0.hasPrefix("end") } ?? []
        #expect(account.mistakes.isEmpty, "\(account.mistakes) in \(watched.texts)")
        let told = Set(account.paths.map { String($0.dropFirst(inbox.utf8.count + 1)) })
        let difference = told.symmetricDifference(there).sorted()
        #expect(difference.isEmpty, "\(difference) in \(watched.texts)")
    }
}
