import Files
import Foundation
import TestSupport
import Testing

@testable import Application

/// Backups and restores that fail, or whose process is killed, at each step.
@Suite("Backups and restores, step by step")
struct ContainerBackupTests {
    let scratch: TemporaryDirectory
    let container: ApplicationContainer

    init() throws {
        scratch = try TemporaryDirectory()
        container = ApplicationContainer(path: scratch.file("box"))
        try fill("old")
    }

    private func fill(_ text: String, in name: String = "box") throws {
        let container = ApplicationContainer(path: scratch.file(name))
        try container.create()
        try scratch.write(text, to: "\(name)/Documents/items.archive")
        try scratch.write(text, to: "\(name)/Library/Preferences/cubby.plist")
        try scratch.write(text, to: "\(name)/Library/Scripts/init.lua")
        try scratch.write(text, to: "\(name)/Library/Caches/thumbnail")
    }

    /// The texts of a container's files; more than one if it is a mixture.
    private func texts(of folder: String) -> Set<String> {
        Set(
            ["Documents/items.archive", "Library/Preferences/cubby.plist", "Library/Scripts/init.lua"].map {
                (try? String(contentsOfFile: "\(folder)/\($0)", encoding: .utf8)) ?? "absent"
            })
    }

    /// The state before each change, and after the last: all that a killed process can leave.
    private func states(
        of layer: FaultyFileLayer, _ body: () throws -> Void
    ) throws -> [TemporaryDirectory] {
        final class Taken: @unchecked Sendable { var all: [TemporaryDirectory] = [] }
        let taken = Taken()
        let take: @Sendable () -> Void = { [scratch] in
            guard let copy = try? TemporaryDirectory() else { return }
            for name in scratch.names() {
                try? FileManager.default.copyItem(atPath: scratch.file(name), toPath: copy.file(name))
            }
            taken.all.append(copy)
        }
        layer.beforeChange(take)
        try body()
        layer.beforeChange {}
        take()
        return taken.all
    }

    private func restore(_ layer: any FileLayer, keeps: Bool = true) throws -> ContainerRestore.Result {
        try ContainerRestore.restore(to: container, keeps: keeps, using: layer) { _ in
            (scratch.file("copy"), try BeneathFileLayer(scratch.file("copy")))
        }
    }

    @Test("a backup is complete or absent after each step, and the next run removes what is left")
    func killedBackups() throws {
        let layer = FaultyFileLayer(try BeneathFileLayer(scratch.path))
        try scratch.write("precious", to: "copy.partial/file")
        let all = try states(of: layer) {
            _ = try ContainerBackup.make(container, at: scratch.file("copy"), using: layer)
        }
        #expect(all.count > 30)
        for (number, state) in all.enumerated() {
            let isThere = state.names().contains("copy")
            if isThere { #expect(texts(of: state.file("copy")) == ["old"], "\(number)") }
            #expect(isThere || number < all.count - 1)
            let again = try ContainerBackup.make(
                ApplicationContainer(path: state.file("box")), at: state.file("again"),
                using: BeneathFileLayer(state.path))
            #expect(again.files == 3)
            #expect(state.names() == ["again", "box"] + (isThere ? ["copy"] : []) + ["copy.partial"], "\(number)")
            #expect(try state.read("copy.partial/file") == Data("precious".utf8))
        }
    }

    @Test("a backup that fails at a step leaves nothing")
    func failingBackups() throws {
        let whole = FaultyFileLayer(try BeneathFileLayer(scratch.path))
        _ = try ContainerBackup.make(container, at: scratch.file("copy"), using: whole)
        try FileManager.default.removeItem(atPath: scratch.file("copy"))
        for step in 1...whole.count {
            let layer = FaultyFileLayer(try BeneathFileLayer(scratch.path), failAt: step)
            let isMade = (try? ContainerBackup.make(container, at: scratch.file("copy"), using: layer)) != nil
            let isThere = scratch.names().contains("copy")
            // The last steps look at what is in place, and sync it.
            #expect(isThere == isMade || step >= whole.count - 3, "\(step): \(layer.failedCall ?? "")")
            if isThere { #expect(texts(of: scratch.file("copy")) == ["old"]) }
            try? FileManager.default.removeItem(atPath: scratch.file("copy"))
            #expect(scratch.names().filter { $0.hasPrefix(".cubby-work") }.count <= 1)
        }
        _ = try ContainerBackup.make(container, at: scratch.file("copy"), using: BeneathFileLayer(scratch.path))
        #expect(scratch.names() == ["box", "copy"])
    }

    @Test("a backup beside a host has the pictures of every commit that it has")
    func besideHost() throws {
        let layer = FaultyFileLayer(try BeneathFileLayer(scratch.path))
        let documents = container.documents
        try scratch.write("", to: "box/Documents/items.journal")
        // A commit before each step: the picture is there first, as a host has it.
        layer.beforeChange {
            let journal = documents + "/items.journal"
            guard let old = try? String(contentsOfFile: journal, encoding: .utf8) else { return }
            let name = "picture\(old.count)"
            _ = FileManager.default.createFile(atPath: "\(documents)/\(name)", contents: Data("p".utf8))
            try? (old + name + "\n").write(toFile: journal, atomically: false, encoding: .utf8)
        }
        let report = try ContainerBackup.make(container, at: scratch.file("copy"), using: layer)
        let text = try String(contentsOfFile: scratch.file("copy/Documents/items.journal"), encoding: .utf8)
        let commits = text.split(separator: "\n").map(String.init)
        #expect(commits.count > 5)
        #expect(Set(commits).isSubset(of: scratch.names("copy/Documents")))
        // Nothing is counted twice.
        #expect(report.files == scratch.names("copy/Documents").count + 2)
    }

    @Test("what is examined before it is put into place is the new data, and a refusal keeps the old")
    func refusedRestores() throws {
        struct Refusal: Error {}
        try fill("new", in: "copy")
        let layer = try BeneathFileLayer(container.path)
        #expect(throws: Refusal.self) {
            _ = try ContainerRestore.restore(to: container, keeps: true, using: layer) { _ in
                (scratch.file("copy"), try BeneathFileLayer(scratch.file("copy")))
            } checking: { data in
                #expect(texts(of: data.path) == ["new"])
                throw Refusal()
            }
        }
        #expect(texts(of: container.path) == ["old"] && scratch.names() == ["box", "copy"])
        #expect(scratch.names("box/.cubby-restore") == [])
    }

    @Test("the launch after a restore that was killed finds all of the old data or all of the new, and says which")
    func killedRestores() throws {
        try fill("new", in: "copy")
        let layer = FaultyFileLayer(try BeneathFileLayer(container.path))
        let all = try states(of: layer) { _ = try restore(layer) }
        var (kept, completed) = (0, 0)
        for (number, state) in all.enumerated() {
            let container = ApplicationContainer(path: state.file("box"))
            let isDecided = !texts(of: container.path).isSubset(of: ["old"])
            let left = state.names("box/.cubby-restore")
            if isDecided, left.contains("ready") {
                // Whoever may not complete it must not take what is there for the data.
                #expect(throws: FileError.self, "\(number)") { _ = try OpenedContainer(container, isReadOnly: true) }
                #expect(throws: FileError.self, "\(number)") { try container.openExisting() }
            }
            let opened = try OpenedContainer(container)
            let found = texts(of: container.path)
            #expect(found == ["old"] || found == ["new"], "\(number): \(found)")
            #expect(!isDecided || found == ["new"], "\(number)")
            if found == ["new"], left.contains("ready") {
                #expect(opened.notice?.contains("is complete now") == true, "\(number)")
                completed += 1
            } else {
                #expect(opened.notice == nil)
                kept += left.contains("mark") ? 1 : 0
            }
            if found == ["new"] {
                #expect(texts(of: state.file("box.before-restore-1")) == ["old"], "\(number)")
            } else {
                #expect(!state.names().contains("box.before-restore-1"), "\(number)")
            }
            // Of one that was killed before it had marked its folder.
            #expect(state.names("box/.cubby-restore") == [], "\(number)")
            #expect(try OpenedContainer(container, isReadOnly: true).notice == nil)
        }
        #expect(kept > 10 && completed > 10, "\(kept) and \(completed) of \(all.count)")
        #expect(texts(of: container.path) == ["new"])
    }

    @Test("a restore that fails at a step keeps the data, or the next launch completes it", arguments: [false, true])
    func failingRestores(keepsFailing: Bool) throws {
        try fill("new", in: "copy")
        let whole = FaultyFileLayer(try BeneathFileLayer(container.path))
        _ = try restore(whole)
        for step in 1...whole.count {
            try? FileManager.default.removeItem(atPath: container.path)
            try fill("old")
            let layer = FaultyFileLayer(try BeneathFileLayer(container.path))
            layer.arm(failAt: step, keepsFailing: keepsFailing)
            let isDone = (try? restore(layer)) != nil
            _ = try OpenedContainer(container)
            let found = texts(of: container.path)
            #expect(found == ["old"] || found == ["new"], "\(step): \(found)")
            #expect(!isDone || found == ["new"], "\(step)")
        }
    }

    @Test("folders of others stay: of earlier versions' names, and one in the restore's own place")
    func neighbours() throws {
        try fill("new", in: "copy")
        for name in ["box.restoring", "box.unpacked", "box.before-restore-1", "copy.partial"] {
            try scratch.write("precious", to: "\(name)/file")
        }
        let result = try restore(BeneathFileLayer(container.path))
        #expect(result.former == scratch.file("box.before-restore-2"))
        for name in ["box.restoring", "box.unpacked", "box.before-restore-1", "copy.partial"] {
            #expect(try scratch.contents(of: name) == ["file"])
        }
        try scratch.write("precious", to: "box/.cubby-restore/file")
        let error = #expect(throws: FileError.self) { _ = try restore(BeneathFileLayer(container.path)) }
        #expect(error?.message.contains("move it away") == true)
        #expect(try scratch.contents(of: "box/.cubby-restore") == ["file"])
        #expect(try OpenedContainer(container).notice == nil)
    }

    @Test("data that is not to be kept goes; a link in a backup is passed over, and leads nowhere")
    func drops() throws {
        try fill("new", in: "copy")
        try scratch.write("theirs", to: "theirs/file")
        symlink(scratch.file("theirs"), scratch.file("copy/Documents/link"))
        let result = try restore(BeneathFileLayer(container.path), keeps: false)
        #expect(result.former == nil && result.report.skipped == [scratch.file("copy/Documents/link")])
        #expect(texts(of: container.path) == ["new"])
        #expect(scratch.names("box/Documents") == ["items.archive"] && scratch.names() == ["box", "copy", "theirs"])
    }

    @Test("a new container's entries wait for the first sync; one that is there has none")
    func newEntries() throws {
        let new = ApplicationContainer(path: scratch.file("a/b"))
        do {
            let opened = try OpenedContainer(new)
            #expect(
                opened.newEntries.paths
                    == ["", "/a", "/a/b", "/a/b/Library"].map { scratch.path + $0 })
            try opened.newEntries.sync()
            #expect(opened.newEntries.paths == [])
        }
        #expect(try OpenedContainer(new).newEntries.paths == [])
    }
}
