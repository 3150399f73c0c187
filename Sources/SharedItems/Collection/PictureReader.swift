package import ColumnEngine
import Files
import ItemArchive
import PropertyList
import Synchronization

/// Reads pictures from the server over its own connection: a large one delays no commit, and any thread may read.
final class PictureReader: AttachmentReader {
    private struct Link {
        var connection: PostgresConnection?
        /// The server is not queried again until then after it did not answer: each picture of a page would wait.
        var silence: (error: PostgresError, end: Deadline)?
    }

    private let address: SharedAddress
    private let timeLimit: Double
    private let link = Mutex(Link())
    private static let silence = 5.0

    init(_ address: SharedAddress, timeLimit: Double) {
        self.address = address
        self.timeLimit = timeLimit
    }

    func bytes(ofItem key: String, digest: [UInt8], limit: Int) throws(StoreError) -> [UInt8] {
        let found: (bytes: [UInt8]?, count: Int64)?
        do throws(PostgresError) {
            found = try link.withLock { (link) throws(PostgresError) in
                if let silence = link.silence, !silence.end.hasPassed { throw silence.error }
                do throws(PostgresError) { return try ask(&link, key, digest, limit) } catch {
                    if error.isInDoubt, error.kind != .cancelled {
                        link.silence = (error, Deadline(seconds: Self.silence))
                    }
                    throw error
                }
            }
        } catch {
            let shown = SharedError(error, address)
            guard shown.code == .disconnected else { throw StoreError(.inputOutput, shown.message, cause: error) }
            throw StoreError(
                .disconnected,
                "the picture of the item \(key) is on the collection's server alone, which does not answer "
                    + "(\(shown.message)): it can be seen when the server is back",
                cause: error)
        }
        guard let found else {
            throw StoreError(
                .inputOutput,
                "the picture of the item \(key) is not on the server any more: it was changed or removed meanwhile")
        }
        guard let bytes = found.bytes else {
            throw StoreError(
                .inputOutput,
                "the picture of the item \(key) has \(found.count) bytes, more than the limit of \(limit)")
        }
        return bytes
    }

    /// Queries over the open connection, and over a new one if that turns out to be broken.
    private func ask(
        _ link: inout Link, _ key: String, _ digest: [UInt8], _ limit: Int
    ) throws(PostgresError) -> (bytes: [UInt8]?, count: Int64)? {
        if let current = link.connection, current.isOpen {
            do throws(PostgresError) { return try read(current, key, digest, limit) } catch {
                guard error.isInDoubt, error.kind != .timedOut, error.kind != .cancelled else { throw error }
            }
        }
        let connection = try PostgresConnection(address, waiter: InterruptibleWaiter(), timeLimit: timeLimit)
        link = Link(connection: connection)
        return try read(connection, key, digest, limit)
    }

    /// The bytes, unless they exceed the limit, and their number; nil if there are none.
    private func read(
        _ connection: PostgresConnection, _ key: String, _ digest: [UInt8], _ limit: Int
    ) throws(PostgresError) -> (bytes: [UInt8]?, count: Int64)? {
        var writer = RecordWriter()
        writer.key(key)
        let rows = try connection.run(
            "select octet_length(p.bytes), case when octet_length(p.bytes) <= $4 then p.bytes end "
                + "from cubby.picture p join cubby.collection c on c.id = p.collection "
                + "where c.name = $1 and p.key = $2 and p.sha256 = $3 limit 1",
            [.text(address.collection), .bytes(writer.bytes), .bytes(digest), .int8(Int64(limit))])
        guard rows.rowCount == 1 else { return nil }
        return (try rows.bytes(0, 1), try rows.number(0, 0))
    }
}

/// Blocks until the socket is ready or the thread's work is cancelled.
private final class InterruptibleWaiter: PostgresWaiter {
    private let blocking = BlockingWaiter()
    /// Polling interval for cancellation in seconds.
    private static let slice = 0.1

    func wait(for descriptor: Int32, isWriting: Bool, seconds: Double) throws(PostgresError) -> Bool {
        if Interruption.isDue { throw PostgresError(.cancelled, Interruption.message) }
        return try blocking.wait(for: descriptor, isWriting: isWriting, seconds: min(seconds, Self.slice))
    }
}

/// Pictures: the bytes attached to items, in the table `cubby.picture`.
extension SharedPersistence: AttachmentPersistence {
    /// Called after the collection was loaded, when its folder is known.
    package var attachmentFolder: String {
        PathText.name(of: folder?.path ?? CollectionFolders.formerName(of: address))
    }
    package var attachmentReader: any AttachmentReader { PictureReader(address, timeLimit: server.timeLimit) }

    /// Begins the transaction of a commit with pictures, and uploads those that the server does not have. The
    /// collection is not locked meanwhile: the commit follows.
    func sendPictures(_ pictures: [CommittedPicture], to collection: SharedCollection) throws(StoreError) {
        let connection = try server.connected()
        let missing = try server.asking { () throws(PostgresError) in
            try server.begin(connection)
            let rows = try connection.run(
                "select n.place from unnest($2, $3, $4) with ordinality as n (key, position, sha256, place) "
                    + "where n.sha256 <> '' and not exists (select from cubby.picture p where p.collection = $1 "
                    + "and p.key = n.key and p.position = n.position and p.sha256 = n.sha256 "
                    + "and sha256(p.bytes) = n.sha256)", pictures.parameters(collection))
            return try (0..<rows.rowCount).map { (row) throws(PostgresError) in
                let place = try rows.number(row, 0)
                guard place >= 1, place <= pictures.count else { throw PostgresResult.badAnswer("a picture \(place)") }
                return pictures[Int(place) - 1]
            }
        }
        for picture in missing {
            guard let bytes = try attachmentSource?(picture.digest) else {
                throw StoreError(
                    .inputOutput, "a commit has pictures, and the store no attachments where they are: nothing was sent"
                )
            }
            _ = try server.asking { () throws(PostgresError) in
                // Not prepared: the time limit for an idle transaction runs while the first message is read.
                try connection.run(
                    "select cubby.put_picture($1, $2, $3, $4, $5)",
                    [
                        .int4(collection.number), .bytes(picture.key), .int4(picture.position),
                        .bytes(picture.digest), .bytes(bytes),
                    ])
            }
            server.statistics.picturesSent += 1
        }
        try server.asking { () throws(PostgresError) in try connection.runScript(CollectionServer.limitsIdling) }
    }

    /// Sets the pictures of items after a commit, in its transaction.
    func setPictures(
        _ pictures: [CommittedPicture], of collection: SharedCollection, _ connection: PostgresConnection
    ) throws(PostgresError) {
        if pictures.isEmpty { return }
        try connection.run("select cubby.set_pictures($1, $2, $3, $4)", pictures.parameters(collection))
    }

    /// The current pictures of the items that queued commits changed.
    func pictures(of commits: [QueuedCommit]) -> [CommittedPicture] {
        guard let columns = places.columns, columns.attachmentField != nil else { return [] }
        let keys = Set(commits.flatMap { $0.keys + $0.removed })
        return keys.sorted { $0.lexicographicallyPrecedes($1) }.flatMap { key in
            CommittedPicture.all(Self.row(ofKey: key, in: columns).map(columns.digests) ?? [], of: key)
        }
    }
}

/// A picture that an item has after a commit, or no longer has.
struct CommittedPicture: Sendable {
    /// The item's key in the encoding of records.
    let key: [UInt8]
    /// Always 0: the item's record has the order, so that reordering uploads nothing.
    let position: Int32 = 0
    /// The SHA-256 of the bytes; empty for none.
    let digest: [UInt8]

    /// An item's pictures without repetitions; a single one without a digest if there are none.
    static func all(_ digests: [[UInt8]], of key: [UInt8]) -> [CommittedPicture] {
        var known: Set<[UInt8]> = []
        let different = digests.filter { known.insert($0).inserted }
        return (different.isEmpty ? [[]] : different).map { CommittedPicture(key: key, digest: $0) }
    }
}

extension [CommittedPicture] {
    func parameters(_ collection: SharedCollection) -> [PostgresValue] {
        [
            .int4(collection.number), .byteArrays(map(\.key)), .int4Arrays(map(\.position)),
            .byteArrays(map(\.digest)),
        ]
    }
}
