public import ColumnEngine
import Files

/// Pictures: the bytes attached to items, in the table `cubby.picture`.
extension SharedPersistence: AttachmentPersistence {
    public var attachmentFolder: String { PathText.name(of: Self.folder(of: address, in: "")) }
    public var attachmentReader: any AttachmentReader { PictureReader(address, timeLimit: timeLimit) }

    /// Begins the transaction of a commit with pictures, and uploads those that the server does not have. The
    /// collection is not locked meanwhile: the commit follows.
    func sendPictures(_ pictures: [CommittedPicture], to collection: SharedCollection) throws(StoreError) {
        let connection = try connected()
        let missing = try asking { () throws(PostgresError) in
            if !isHolding { try connection.runScript("begin") }
            isHolding = true
            let rows = try connection.run(
                "select n.place from unnest($2, $3, $4) with ordinality as n (key, position, sha256, place) "
                    + "where n.sha256 <> '' and not exists (select from cubby.picture p where p.collection = $1 "
                    + "and p.key = n.key and p.position = n.position and p.sha256 = n.sha256 "
                    + "and sha256(p.bytes) = n.sha256)", pictures.parameters(collection))
            var missing: [CommittedPicture] = []
            for row in 0..<rows.rowCount {
                let place = try rows.number(row, 0)
                guard place >= 1, place <= pictures.count else { throw PostgresResult.badAnswer("a picture \(place)") }
                missing.append(pictures[Int(place) - 1])
            }
            return missing
        }
        for picture in missing {
            guard let bytes = try attachmentSource?(picture.digest) else {
                throw StoreError(
                    .inputOutput, "a commit has pictures, and the store no attachments where they are: nothing was sent"
                )
            }
            _ = try asking { () throws(PostgresError) in
                // Not prepared: the time limit for an idle transaction runs while the first message is read.
                try connection.run(
                    "select cubby.put_picture($1, $2, $3, $4, $5)",
                    [
                        .int4(collection.number), .bytes(picture.key), .int4(picture.position),
                        .bytes(picture.digest), .bytes(bytes),
                    ], isLarge: true)
            }
            statistics.picturesSent += 1
        }
        try asking { () throws(PostgresError) in try connection.runScript(Self.limitsIdling) }
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
        guard let columns, columns.attachmentField != nil else { return [] }
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
