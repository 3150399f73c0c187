import Files
import ItemsTestSupport
import TestSupport
import Testing

@testable import ColumnEngine
@testable import ItemArchive
@testable import Items
@testable import SharedItems

/// A persistence that the conformance suite runs over: to add one is to name it in ``all``.
struct PersistenceKind: Sendable, CustomTestStringConvertible {
    let name: String
    /// Makes a new, empty place.
    let makePlace: @Sendable () throws -> any PersistencePlace

    var testDescription: String { name }

    static let all =
        [
            PersistenceKind(name: "in memory") { MemoryPlace() },
            PersistenceKind(name: "embedded") { try EmbeddedPlace(isMapped: false) },
            PersistenceKind(name: "embedded, mapped") { try EmbeddedPlace(isMapped: true) },
        ]
        + (PostgresServer.missing == nil
            ? [
                PersistenceKind(name: "PostgreSQL") { try SharedPlace(.ofSuite) },
                PersistenceKind(name: "PostgreSQL, cached") { try SharedPlace(.ofSuite, cache: TemporaryDirectory()) },
            ] : [])
}

/// Where items are kept.
protocol PersistencePlace {
    /// A persistence as another launch of the program would make it. The one before is not used any more.
    func persistence(isReadOnly: Bool) throws -> any ItemPersistence

    /// Has every write fail, or none.
    func setFailing(_ fails: Bool) throws

    /// Whether a commit may follow others that its store has not seen, if they changed something else.
    var mergesCommits: Bool { get }
}

extension PersistencePlace {
    var mergesCommits: Bool { false }

    func open(isReadOnly: Bool = false, durability: CommitDurability = .process) throws -> ItemStore {
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
        // What is asked for beside a place that fails is not part of the failure.
        let persistence = ArchivePersistence(
            folder: folder.path, using: isReadOnly ? PosixFileLayer() : layer, isReadOnly: isReadOnly,
            indexFolder: isMapped ? folder.caches : nil, mappedFrom: 1)
        persistence.takesLock = false
        return persistence
    }

    func setFailing(_ fails: Bool) { layer.arm(failAt: fails ? 1 : .max, keepsFailing: fails) }
}

/// A collection of its own on the suite's server.
private struct SharedPlace: PersistencePlace {
    let address: SharedAddress
    let owner: PostgresConnection
    let cache: TemporaryDirectory?

    init(_ cluster: PostgresServer, cache: TemporaryDirectory? = nil) throws {
        self.cache = cache
        address = try cluster.newCollection("place-\(UInt64.random(in: 0...UInt64.max))")
        owner = try cluster.connect()
    }

    // What comes after others' commits is merged, where it can be: `SharedStoreTests`.
    var mergesCommits: Bool { true }

    func persistence(isReadOnly: Bool) throws -> any ItemPersistence {
        SharedPersistence(address, hostName: "host", isReadOnly: isReadOnly, folder: cache?.path)
    }

    /// The server refuses the collection's commits.
    func setFailing(_ fails: Bool) throws {
        let number = try owner.run("select id::text from cubby.collection where name = $1", [.text(address.collection)])
            .text(0, 0)
        guard fails else { return try owner.runScript("drop trigger refuse_\(number) on cubby.log") }
        try owner.runScript(
            "create or replace function public.refuse_\(number)() returns trigger language plpgsql as "
                + "$$ begin raise exception 'no room' using errcode = 'disk_full'; end $$; "
                + "create trigger refuse_\(number) before insert on cubby.log for each row "
                + "when (new.collection = \(number)) execute function public.refuse_\(number)()")
    }
}
