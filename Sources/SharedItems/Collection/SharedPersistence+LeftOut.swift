import ColumnEngine
import Files
import ItemArchive

/// An item of the server's table that is left out, since its rank and record cannot be read.
struct LeftOutItem {
    let rank: [UInt8]
    let record: [UInt8]
    let reason: String
}

/// What is left out of a collection: bytes that somebody with rights on the tables wrote, or that a disk damaged. It keeps
/// nobody from the other items.
extension SharedPersistence {
    /// The number of items that are named.
    private static let namedItems = 10

    /// What the user has to know of items that are left out; empty if none are.
    func notices(of items: [LeftOutItem]) -> [String] {
        if items.isEmpty { return [] }
        let named = Array(items.prefix(Self.namedItems))
        let found = (try? find(named)) ?? [:]
        var notices = named.enumerated().map { place, item in
            let (name, revision) = found[place] ?? ("that cannot be named", "")
            return
                "the item \(name) of the collection \(address.collection) is damaged on the server\(revision), and left "
                + "out (\(item.reason)): the collection's owner restores it from a backup, or removes it"
        }
        let rest = items.count - named.count
        if rest > 0 {
            notices.append(
                "\(rest.counted("further item")) of the collection \(address.collection) \(rest == 1 ? "is" : "are") damaged "
                    + "on the server, and left out")
        }
        return notices
    }

    /// The keys of items, as texts, and what to say of their revisions, by their places. Without an index the server reads the
    /// whole table.
    private func find(_ items: [LeftOutItem]) throws(StoreError) -> [Int: (name: String, revision: String)] {
        let (connection, collection) = try server.reached()
        return try server.asking { () throws(PostgresError) in
            let rows = try connection.run(
                "select n.place, i.key, i.version from unnest($2, $3) with ordinality as n (rank, record, place) "
                    + "join cubby.item i on i.collection = $1 and i.rank = n.rank and i.record = n.record "
                    + "order by position(i.key in i.record) desc",
                [.int4(collection.number), .byteArrays(items.map(\.rank)), .byteArrays(items.map(\.record))])
            var found: [Int: (String, String)] = [:]
            for row in 0..<rows.rowCount {
                let key = try rows.bytes(row, 1) ?? []
                let text = key.withUnsafeBytes { try? RecordChange.key($0) }
                let name = text ?? "with the bytes \(Array(key.prefix(40)).hexadecimal) as its key"
                found[Int(try rows.number(row, 0)) - 1] = (name, " (as of revision \(try rows.number(row, 2)))")
            }
            return found
        }
    }

    /// Records whether the copy lacks items of the server. It says so before such a copy is written, and no longer when one is
    /// that does not.
    func setIncomplete(_ isIncomplete: Bool) {
        guard !opensReadOnly, let folders = local.folders, var changed = folder, changed.isIncomplete != isIncomplete
        else {
            return
        }
        changed.isIncomplete = isIncomplete
        local.folder = changed
        do throws(FileError) { try changed.write(using: folders.layer) } catch {
            onNotice(
                "the copy of the collection \(address.collection) cannot be marked as lacking items (\(error.message)): a start "
                    + "from it does not look for them")
        }
    }
}
