import ColumnEngine
import ItemArchive

/// What the server is sent of one commit: what it changed in the end, as the items of the table and as a record of the log.
struct EncodedCommit {
    /// The keys of the items that left.
    var removed: [[UInt8]] = []
    /// The keys, ranks and records of the items that came or changed.
    var keys: [[UInt8]] = []
    var ranks: [[UInt8]] = []
    var records: [[UInt8]] = []
    /// The changes, for the other hosts.
    var record: [UInt8] = []
    /// The ranks that the commit gives, by row.
    var newRanks: [(row: UInt32, rank: [UInt8])] = []

    /// What became of a row.
    private struct Effect {
        var wasThere: Bool
        var isThere: Bool
        /// Whether it left or came in between.
        var isWhole = false
        var fields: [UInt32] = []
        var isMoved = false
    }

    init(_ commit: borrowing ItemCommit, _ table: RankTable) {
        let rows = commit.rows
        let (effects, order) = Self.effects(commit.changes)
        newRanks = Self.newRanks(effects, order, rows, table)
        var changes = JournalEncoder(rows)
        for row in order {
            guard let effect = effects[row], effect.wasThere, effect.isWhole else { continue }
            changes.removal(row)
            removed.append(Self.key(row, rows))
        }
        for row in order {
            guard let effect = effects[row], effect.isThere else { continue }
            if effect.isWhole {
                changes.insertion(row, at: nil)
            } else {
                for field in effect.fields { changes.assignment(row, field) }
            }
        }
        for (row, rank) in newRanks { changes.rank(row, rank) }
        record = changes.bytes
        let given = Dictionary(newRanks, uniquingKeysWith: { $1 })
        let touched =
            order.filter { effects[$0]?.isThere ?? false } + newRanks.lazy.map(\.row).filter { effects[$0] == nil }
        for row in touched {
            guard let rank = given[row] ?? table[row] else { continue }
            keys.append(Self.key(row, rows))
            ranks.append(rank)
            var item = JournalEncoder(rows)
            item.insertion(row, at: nil)
            records.append(item.bytes)
        }
    }

    private static func effects(_ changes: [Change]) -> ([UInt32: Effect], [UInt32]) {
        var effects: [UInt32: Effect] = [:]
        var order: [UInt32] = []
        func note(_ row: UInt32, wasThere: Bool, _ change: (inout Effect) -> Void) {
            if effects[row] == nil { order.append(row) }
            change(&effects[row, default: Effect(wasThere: wasThere, isThere: wasThere)])
        }
        for change in changes {
            switch change.kind {
            case .append:
                for row in change.row..<change.row + UInt32(change.count) {
                    note(row, wasThere: false) { ($0.isThere, $0.isWhole) = (true, true) }
                }
            case .insert: note(change.row, wasThere: false) { ($0.isThere, $0.isWhole) = (true, true) }
            case .remove: note(change.row, wasThere: true) { ($0.isThere, $0.isWhole) = (false, true) }
            case .set:
                note(change.row, wasThere: true) {
                    if !$0.fields.contains(change.field) { $0.fields.append(change.field) }
                }
            case .move: note(change.row, wasThere: true) { $0.isMoved = true }
            }
        }
        return (effects, order)
    }

    // MARK: Ranks

    /// Ranks for the items that came or moved, between those of their neighbours as they are now.
    private static func newRanks(
        _ effects: [UInt32: Effect], _ order: [UInt32], _ rows: ItemRows, _ table: RankTable
    ) -> [(row: UInt32, rank: [UInt8])] {
        let placed = order.filter { row in effects[row].map { $0.isThere && ($0.isWhole || $0.isMoved) } ?? false }
        guard !placed.isEmpty else { return [] }
        let positions = placed.map { rows.position(of: $0) }.sorted()
        var ranks: [(UInt32, [UInt8])] = []
        var source = SystemRandomNumberGenerator()
        var start = 0
        while start < positions.count {
            var end = start + 1
            while end < positions.count, positions[end] == positions[end - 1] + 1 { end += 1 }
            let first = positions[start]
            let low =
                first == 0
                ? nil
                : ranks.last.flatMap { $0.0 == rows.row(at: first - 1) ? $0.1 : nil }
                    ?? table[rows.row(at: first - 1)]
            // Ranks that grew long are a reason to spread more of the neighbours.
            var last = positions[end - 1]
            var reach = 1
            while true {
                let high = last + 1 < rows.count ? table[rows.row(at: last + 1)] : nil
                let made = Rank.ranks(last - first + 1, after: low, before: high) { source.next() }
                if made.allSatisfy({ $0.count <= Rank.longLength }) || last + 1 >= rows.count {
                    for (offset, rank) in made.enumerated() { ranks.append((rows.row(at: first + offset), rank)) }
                    break
                }
                last = min(last + reach, rows.count - 1)
                reach *= 2
            }
            while end < positions.count, positions[end] <= last { end += 1 }
            start = end
        }
        return ranks
    }

    /// The bytes of a key, as records have them, from its text.
    static func key(_ text: UnsafeBufferPointer<UInt8>) -> [UInt8] {
        var writer = RecordWriter()
        writer.key(text)
        return writer.bytes
    }

    /// The bytes of an item's key, as records have them.
    private static func key(_ row: UInt32, _ rows: ItemRows) -> [UInt8] {
        var writer = RecordWriter()
        writer.key(row, rows)
        return writer.bytes
    }
}
