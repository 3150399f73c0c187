import ColumnEngine
import Files
import PropertyList

/// Maps the values of key fields to a store's rows, and records which rows a file had.
///
/// Values match by their texts, of which the hashes are kept.
struct ImportKeys {
    private let columns: ColumnStore
    private let fields: [ItemField]
    private let seed = UInt64.random(in: .min ... .max)
    /// The first row by the hash of its key, and the rows of other keys with the same hash.
    private var rows: [UInt64: UInt32] = [:]
    private var colliding: [UInt64: [UInt32]] = [:]
    /// Rows that share their key with another row.
    private var ambiguous: Set<UInt32> = []
    private var seen: Set<UInt32> = []
    /// The likely next row: a file's rows often have the order of an earlier import.
    private var guess: UInt32 = 0
    private var scratch: [UInt8] = []
    private var other: [UInt8] = []

    /// - Throws: `WorkStopped` after an interruption.
    init(_ store: ItemStore, _ fields: [ItemField]) throws {
        columns = store.columns
        self.fields = fields
        // Whether a key is an item's depends on all of them.
        columns.recordWholeRead()
        columns.prepareColumns(fields)
        rows.reserveCapacity(columns.count)
        var pace = InterruptionPace()
        for row in columns.slots where row != ItemOrder.hole {
            if pace.isDue() { throw WorkStopped() }
            if Self.makeKey(row, columns, fields, &scratch) { insert(row, hash(scratch)) }
        }
    }

    /// The result of a key lookup.
    enum Match {
        case none
        case row(UInt32)
        case severalItems
        case seenBefore
    }

    /// Finds the row of a key, and marks it as seen.
    mutating func find(_ key: [UInt8]) -> Match {
        let row: UInt32
        if columns.rowCount > guess, columns.isLive(guess), Self.makeKey(guess, columns, fields, &other), other == key {
            row = guess
        } else if let found = lookUp(key, hash(key)) {
            row = found
        } else {
            return .none
        }
        guess = row &+ 1
        if !ambiguous.isEmpty, ambiguous.contains(row) { return .severalItems }
        return seen.insert(row).inserted ? .row(row) : .seenBefore
    }

    /// Adds a new row under the key that was looked up.
    mutating func add(_ row: UInt32, _ key: [UInt8]) {
        insert(row, hash(key))
        guess = row &+ 1
        seen.insert(row)
    }

    /// Appends a part of a key, followed by its length to keep parts apart.
    static func append(_ part: UnsafeBufferPointer<UInt8>, to key: inout [UInt8]) {
        key.append(contentsOf: part)
        withUnsafeBytes(of: UInt32(truncatingIfNeeded: part.count)) { key.append(contentsOf: $0) }
    }

    /// The text that represents a value in keys.
    static func text(_ value: PropertyListValue) -> String? {
        switch value {
        case .string(let text): text
        case .integer(let number): String(number)
        case .wideInteger(let number): String(number)
        case .real(let number): String(number)
        case .single(let number): String(Double(number))
        case .boolean(let flag): flag ? "true" : "false"
        case .date(let date): date.exchangeText
        default: nil
        }
    }

    /// Makes the key of a store's row; returns false for a row without one.
    private static func makeKey(
        _ row: UInt32, _ columns: ColumnStore, _ fields: [ItemField], _ key: inout [UInt8]
    ) -> Bool {
        key.removeAll(keepingCapacity: true)
        for field in fields {
            if field == columns.keyField {
                columns.withKey(row) { append($0, to: &key) }
                continue
            }
            let cell = columns.cell(row, field)
            if cell.isText {
                cell.withText { append($0, to: &key) }
            } else if let value = columns.value(cell), var text = text(value) {
                text.withUTF8 { append($0, to: &key) }
            } else {
                return false
            }
        }
        return true
    }

    private func hash(_ key: [UInt8]) -> UInt64 { Checksum.hash(key, seed: seed) }

    private mutating func lookUp(_ key: [UInt8], _ hash: UInt64) -> UInt32? {
        guard let first = rows[hash] else { return nil }
        return ([first] + (colliding[hash] ?? [])).first { row in
            columns.isLive(row) && Self.makeKey(row, columns, fields, &other) && other == key
        }
    }

    private mutating func insert(_ row: UInt32, _ hash: UInt64) {
        guard let first = rows[hash] else {
            rows[hash] = row
            return
        }
        let same = ([first] + (colliding[hash] ?? [])).first { present in
            Self.makeKey(present, columns, fields, &other) && Self.makeKey(row, columns, fields, &scratch)
                && other == scratch
        }
        if let same { ambiguous.insert(same) } else { colliding[hash, default: []].append(row) }
    }
}
