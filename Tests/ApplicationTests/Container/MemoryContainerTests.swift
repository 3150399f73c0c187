import Application
import Files
import TestSupport
import Testing

@Suite("Container in memory")
struct MemoryContainerTests {
    let scratch: TemporaryDirectory

    init() throws { scratch = try TemporaryDirectory() }

    @Test func isRemovedWithItsOwner() throws {
        let memory = try MemoryContainer(in: scratch.path)
        let container = memory.container
        #expect(container.isTemporary)
        #expect(MemoryContainer.isFolder(container.path))
        try container.create()
        try AtomicFile.write([1], to: container.tmp + "/file", durable: false)
        memory.remove()
        memory.remove()
        #expect(scratch.names() == [])
        do { _ = try MemoryContainer(in: scratch.path) }
        #expect(scratch.names() == [])
    }

    @Test("the next one removes what has no owner, and nothing else")
    func ownerless() throws {
        let layer = PosixFileLayer()
        let living = try MemoryContainer(in: scratch.path)
        try layer.makeDirectories(scratch.file("cubby-memory-killed/Documents"), permissions: 0o700)
        try layer.makeDirectories(scratch.file("other"), permissions: 0o700)
        try scratch.write([1], to: "cubby-memory-file")
        let next = try MemoryContainer(in: scratch.path)
        let expected = [living, next].map { PathText.name(of: $0.container.path) } + ["cubby-memory-file", "other"]
        #expect(scratch.names() == expected.sorted())
    }

    @Test func isWhereTemporaryFilesAreWithoutATmpfs() throws {
        #expect(MemoryContainer.parent(environment: { _ in "relative" }).hasPrefix("/"))
        #expect(throws: FileError.self) { try MemoryContainer(in: scratch.file("none")) }
    }
}
