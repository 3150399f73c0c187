import Glibc
import PropertyList

/// Groups of items by the first word of a text field, found by its bytes: no string is made but one a group.
struct FirstWordGroups {
    static let suffix = ".firstWord"

    private let store: ItemStore
    private let field: ItemField
    private(set) var groups: [ItemGroup] = []
    /// A hash a group, and its word.
    private var words: [(hash: UInt64, bytes: [UInt8])] = []
    /// From a hash's low bits on, the number of a group and 1; 0 where there is none.
    private var slots = [UInt32](repeating: 0, count: 64)
    private var other: Int?

    init(_ store: ItemStore, _ field: ItemField) {
        (self.store, self.field) = (store, field)
    }

    mutating func add(_ row: UInt32) {
        let number: Int
        if field == .itemKey {
            number = store.table.withKey(row) { find($0) }
        } else {
            let cell = store.table.cell(row, field)
            number = cell.isText ? cell.withText { find($0) } : withoutWord()
        }
        groups[number].rows.append(row)
    }

    /// The group of what is no text.
    private mutating func withoutWord() -> Int {
        if let other { return other }
        other = make(nil)
        return groups.count - 1
    }

    private mutating func make(_ key: PropertyListValue?) -> Int {
        groups.append(ItemGroup(store: store, key: key, rows: []))
        return groups.count - 1
    }

    private mutating func find(_ text: UnsafeBufferPointer<UInt8>) -> Int {
        var hash: UInt64 = 0xCBF2_9CE4_8422_2325
        var count = 0
        while count < text.count, text[count] != 0x20 {
            hash = (hash ^ UInt64(text[count])) &* 0x0100_0000_01B3
            count += 1
        }
        let word = UnsafeBufferPointer(rebasing: text[..<count])
        var slot = Int(hash & UInt64(slots.count - 1))
        while slots[slot] != 0 {
            let place = Int(slots[slot]) - 1
            if words[place].hash == hash, words[place].bytes.count == count, isEqual(words[place].bytes, word) {
                return place
            }
            slot = (slot + 1) & (slots.count - 1)
        }
        return insert(Array(word), hash)
    }

    private func isEqual(_ bytes: [UInt8], _ word: UnsafeBufferPointer<UInt8>) -> Bool {
        guard let start = word.baseAddress else { return true }
        return memcmp(bytes, start, word.count) == 0
    }

    private mutating func insert(_ word: [UInt8], _ hash: UInt64) -> Int {
        let number = make(.string(String(decoding: word, as: UTF8.self)))
        while words.count < number { words.append((0, [])) }
        words.append((hash, word))
        if words.count * 2 > slots.count {
            slots = [UInt32](repeating: 0, count: slots.count * 2)
        } else {
            place(number)
            return number
        }
        for number in words.indices where groups[number].key != nil { place(number) }
        return number
    }

    private mutating func place(_ number: Int) {
        var slot = Int(words[number].hash & UInt64(slots.count - 1))
        while slots[slot] != 0 { slot = (slot + 1) & (slots.count - 1) }
        slots[slot] = UInt32(number + 1)
    }
}
