import Files
import Foundation
import TestSupport
import Testing

@testable import ColumnEngine
@testable import ItemArchive
@testable import Items

@Suite("Who owns a store's folder")
struct FolderOwnershipTests {
    let scratch: TemporaryDirectory

    init() throws {
        scratch = try TemporaryDirectory()
        for folder in ["bare", "box/Documents", "box/Library", "lone/Documents"] {
            try FileManager.default.createDirectory(atPath: scratch.file(folder), withIntermediateDirectories: true)
        }
    }

    private func open(_ folder: String, isReadOnly: Bool = false) throws -> ItemStore {
        try ItemStore.open(ArchivePersistence(folder: scratch.file(folder), isReadOnly: isReadOnly))
    }

    /// A folder, and where its lock is.
    static let folders = [("bare", "bare"), ("box/Documents", "box"), ("lone/Documents", "lone/Documents")]

    @Test("a second store there is refused, names the first, and takes none of its commits", arguments: folders)
    func oneProcess(folder: String, locked: String) throws {
        func first() throws {
            let store = try open(folder)
            try store.createItem(ItemFields(name: "kept"))
            try store.commit()
            let error = #expect(throws: StoreError.self) { try open(folder) }
            #expect(error?.code == .inUse)
            #expect(error?.message.contains("process \(getpid()), since 20") == true, "\(String(describing: error))")
            #expect(FolderLock.holder(of: scratch.file(locked))?.processIdentifier == getpid())
            #expect(try open(folder, isReadOnly: true).count == 1)
            try store.createItem(ItemFields(name: "later"))
            try store.commit()
        }
        try first()
        #expect(FolderLock.holder(of: scratch.file(locked)) == nil)
        #expect(try open(folder).count == 2)
    }

    @Test("without its lock's file a store writes nothing more: another may have its own", arguments: folders)
    func removedLock(folder: String, locked: String) throws {
        let store = try open(folder)
        try store.createItem(ItemFields(name: "kept"))
        try store.commit()
        try FileManager.default.removeItem(atPath: FolderLock.file(in: scratch.file(locked)))
        let second = try open(folder)
        try second.createItem(ItemFields(name: "theirs"))
        try second.commit()
        try store.createItem(ItemFields(name: "lost"))
        let error = #expect(throws: StoreError.self) { try store.commit() }
        #expect(error?.code == .inUse && error?.message.contains("was removed or replaced") == true)
        #expect(throws: StoreError.self) { try store.saveChanges() }
        try second.saveChanges()
        #expect(try open(folder, isReadOnly: true).allItems.map { try $0.name } == ["kept", "theirs"])
    }

    @Test("another process keeps the store away for as long as it lives", arguments: folders)
    func twoProcesses(folder: String, locked: String) throws {
        let other = Process()
        other.executableURL = URL(fileURLWithPath: "/usr/bin/flock")
        other.arguments = [FolderLock.file(in: scratch.file(locked)), "/bin/sh", "-c", "echo held; read line"]
        let (output, input) = (Pipe(), Pipe())
        other.standardOutput = output
        other.standardInput = input
        try other.run()
        #expect(String(decoding: output.fileHandleForReading.availableData, as: UTF8.self) == "held\n")
        #expect(throws: StoreError.self) { try open(folder) }
        #expect(try open(folder, isReadOnly: true).count == 0)
        try input.fileHandleForWriting.close()
        other.waitUntilExit()
        #expect(try open(folder).count == 0)
    }

    @Test("a store's files that are links or pipes are refused at once", arguments: ["items.archive", "items.journal"])
    func parts(name: String) throws {
        try FileManager.default.createSymbolicLink(
            atPath: scratch.file("bare/\(name)"), withDestinationPath: scratch.write("theirs", to: "theirs"))
        #expect(mkfifo(scratch.file("box/Documents/\(name)"), 0o600) == 0)
        for folder in ["bare", "box/Documents"] {
            let error = #expect(throws: StoreError.self) { try open(folder) }
            #expect((error?.cause as? FileError)?.isMisplaced == true, "\(String(describing: error))")
        }
        #expect(try scratch.read("theirs") == Data("theirs".utf8))
    }
}
