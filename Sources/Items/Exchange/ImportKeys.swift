import ColumnEngine
import Files
import PropertyList

/// Maps the values of key fields to a store's rows, and records which rows a file had.
///
/// A hash table of rows and partial hashes, with at most 16 bytes per item. Values match by their texts.
struct ImportKeys {
    private let columns: ColumnStore
    private let fields: [ItemField]
    private let seed = UInt64.random(in: .min ... .max)
    /// A row plus one, and a part of its hash; 0 for a free slot.
    private var slots: [UInt64] = []
    private var used = 0
    /// Rows that share their key with another row.
    private var ambiguous: Set<UInt32> = []
    private var seen: [UInt64] = []
    /// The likely next row: a file's rows often have the order of an earlier import.
    private var guess: UInt32 = 0
    private var scratch: [UInt8] = []
    private var other: [UInt8] = []

    /// - Throws: `WorkStopped` after an interruption.
    init(_ store: ItemStore, _ fields: [ItemField]) throws {
        columns = store.columns
        self.fields = fields
        columns.prepareColumns(fields)
        reserveCapacity(for: columns.count)
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
        return record(row) ? .row(row) : .seenBefore
    }

    /// Adds a new row under the key that was looked up.
    mutating func add(_ row: UInt32, _ key: [UInt8]) {
        insert(row, hash(key))
        guess = row &+ 1
        _ = record(row)
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
        var slot = Int(truncatingIfNeeded: hash) & (slots.count - 1)
        while slots[slot] != 0 {
            let row = UInt32(truncatingIfNeeded: slots[slot]) &- 1
            if slots[slot] >> 32 == hash >> 32, columns.isLive(row),
                Self.makeKey(row, columns, fields, &other), other == key
            {
                return row
            }
            slot = (slot + 1) & (slots.count - 1)
        }
        return nil
    }

    private mutating func insert(_ row: UInt32, _ hash: UInt64) {
        if used * 2 >= slots.count { reserveCapacity(for: used + 1) }
        var slot = Int(truncatingIfNeeded: hash) & (slots.count - 1)
        while slots[slot] != 0 {
            let present = UInt32(truncatingIfNeeded: slots[slot]) &- 1
            if slots[slot] >> 32 == hash >> 32, Self.makeKey(present, columns, fields, &other),
                Self.makeKey(row, columns, fields, &scratch), other == scratch
            {
                ambiguous.insert(present)
                return
            }
            slot = (slot + 1) & (slots.count - 1)
        }
        slots[slot] = hash & ~0xFFFF_FFFF | UInt64(row &+ 1)
        used += 1
    }

    private mutating func reserveCapacity(for count: Int) {
        var capacity = 64
        while capacity < count * 2 { capacity *= 2 }
        if capacity <= slots.count { capacity = slots.count * 2 }
        let old = slots
        slots = [UInt64](repeating: 0, count: capacity)
        for entry in old where entry != 0 {
            // A slot holds half of the hash: recompute the rest.
            let row = UInt32(truncatingIfNeeded: entry) &- 1
            guard Self.makeKey(row, columns, fields, &other) else { continue }
            var slot = Int(truncatingIfNeeded: hash(other)) & (capacity - 1)
            while slots[slot] != 0 { slot = (slot + 1) & (capacity - 1) }
            slots[slot] = entry
        }
    }

    /// Marks a row as seen; false if it was already.
    private mutating func record(_ row: UInt32) -> Bool {
        let word = Int(row >> 6)
        while seen.count <= word { seen.append(contentsOf: repeatElement(0, count: max(64, seen.count))) }
        let bit = UInt64(1) << UInt64(row & 63)
        if seen[word] & bit != 0 { return false }
        seen[word] |= bit
        return true
    }
}
