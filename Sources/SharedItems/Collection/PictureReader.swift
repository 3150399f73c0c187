import ColumnEngine
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

    /// Queries over the kept connection, and over a new one if that turns out to be broken.
    private func ask(
        _ link: inout Link, _ key: String, _ digest: [UInt8], _ limit: Int
    ) throws(PostgresError) -> (bytes: [UInt8]?, count: Int64)? {
        if let kept = link.connection, kept.isOpen {
            do throws(PostgresError) { return try read(kept, key, digest, limit) } catch {
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
            [.text(address.collection), .bytes(writer.bytes), .bytes(digest), .int8(Int64(limit))], isLarge: true)
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
