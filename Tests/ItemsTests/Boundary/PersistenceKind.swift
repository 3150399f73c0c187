import Files
import ItemsTestSupport
import TestSupport
import Testing

@testable import ColumnEngine
@testable import ItemArchive
@testable import Items

/// A persistence that the conformance suite runs over: to add one is to name it in ``all``.
struct PersistenceKind: Sendable, CustomTestStringConvertible {
    let name: String
    /// Makes a new, empty place.
    let makePlace: @Sendable () throws -> any PersistencePlace

    var testDescription: String { name }

    static let all = [
        PersistenceKind(name: "in memory") { MemoryPlace() },
        PersistenceKind(name: "embedded") { try EmbeddedPlace(isMapped: false) },
        PersistenceKind(name: "embedded, mapped") { try EmbeddedPlace(isMapped: true) },
    ]
}

/// Where items are kept.
protocol PersistencePlace {
    /// A persistence as another launch of the program would make it. The one before is not used any more.
    func persistence(isReadOnly: Bool) throws -> any ItemPersistence

    /// Has every write fail, or none.
    func setFailing(_ fails: Bool)
}

extension PersistencePlace {
    func open(isReadOnly: Bool = false, durability: Durability = .process) throws -> ItemStore {
        try ItemStore.open(persistence(isReadOnly: isReadOnly), durability: durability)
    }

    /// The items that another launch would find.
    var kept: [ItemFields] { get throws { try open(isReadOnly: true).records } }
}

private struct MemoryPlace: PersistencePlace {
    let writer = MemoryPersistence(keepsCommits: true)

    func persistence(isReadOnly: Bool) -> any ItemPersistence {
        isReadOnly ? MemoryPersistence(isReadOnly: true, commits: writer.commits) : writer
    }

    func setFailing(_ fails: Bool) { writer.failure = fails ? StoreError(.inputOutput, "no space") : nil }
}

private struct EmbeddedPlace: PersistencePlace {
    let folder: StoreFolder
    let layer = FaultyFileLayer()
    let isMapped: Bool

    init(isMapped: Bool) throws {
        folder = try StoreFolder()
        self.isMapped = isMapped
        if isMapped { try PosixFileLayer().makeDirectories(folder.caches, permissions: 0o700) }
    }

    func persistence(isReadOnly: Bool) -> any ItemPersistence {
        // What is asked for beside a place that fails is no part of the failure.
        let persistence = ArchivePersistence(
            folder: folder.path, using: isReadOnly ? PosixFileLayer() : layer, isReadOnly: isReadOnly,
            indexFolder: isMapped ? folder.caches : nil, mappedFrom: 1)
        persistence.takesLock = false
        return persistence
    }

    func setFailing(_ fails: Bool) { layer.arm(failAt: fails ? 1 : .max, keepsFailing: fails) }
}

/// Passes a store's calls on, and notes them.
final class WatchedPersistence: ItemPersistence {
    private let inner: any ItemPersistence
    /// Whether each append was to be durable.
    private(set) var appends: [Bool] = []
    private(set) var synchronizations = 0

    init(_ inner: any ItemPersistence) { self.inner = inner }

    var isReadOnly: Bool { inner.isReadOnly }

    func load(into loader: ItemLoader) throws(StoreError) -> ItemLoadReport { try inner.load(into: loader) }

    func append(_ commit: borrowing ItemCommit, durable: Bool) throws(StoreError) -> ItemRevision {
        appends.append(durable)
        return try inner.append(commit, durable: durable)
    }

    func synchronize() throws(StoreError) {
        synchronizations += 1
        try inner.synchronize()
    }
}
