import Glibc
import PropertyList

/// Groups of items by the first word of a text field, found by its bytes: no string is made but one a group.
struct FirstWordGroups {
    static let suffix = ".firstWord"

    /// A group's word: its first eight bytes, with zeros behind a shorter one, and all of them.
    private struct Word {
        var start: UInt64
        var bytes: [UInt8]
    }

    private let store: ItemStore
    private let field: ItemField
    /// A group each: its key, its word (empty for the group of what is no text), and how many rows it has.
    private var keys: [PropertyListValue?] = []
    private var words: [Word] = []
    private var sizes: [UInt32] = []
    /// The rows in order, holes between them; nil when each is at its own position.
    private var rows: [UInt32]? = []
    /// The number of each row's group; anything for a hole.
    private var numbers: [UInt32] = []
    /// From a word's hash on, the number of a group and 1; 0 where there is none.
    private var slots = [UInt32](repeating: 0, count: 256)
    private var other: Int?

    init(_ store: ItemStore, _ field: ItemField) {
        (self.store, self.field) = (store, field)
    }

    /// Adds all of a store's items, in order.
    mutating func addAll() {
        let rows = store.order.snapshot
        self.rows = rows
        let count = rows?.count ?? store.count
        numbers = [UInt32](unsafeUninitializedCapacity: count) { buffer, filled in
            LargeMemory.advise(UnsafeRawBufferPointer(buffer))
            FirstWordCache.using { cache in
                if let rows {
                    for (place, row) in rows.enumerated() where row != ItemOrder.hole {
                        buffer[place] = number(of: row, &cache)
                    }
                } else {
                    for place in 0..<count { buffer[place] = number(of: UInt32(truncatingIfNeeded: place), &cache) }
                }
                cache.counts { number, count in sizes[number] += count }
            }
            filled = count
        }
    }

    mutating func add(_ row: UInt32) {
        let number = number(of: row)
        rows?.append(row)
        numbers.append(UInt32(number))
        sizes[number] += 1
    }

    /// Finds a row's group, and counts it, in the cache or here.
    @inline(__always)
    private mutating func number(of row: UInt32, _ cache: inout FirstWordCache) -> UInt32 {
        guard field == .name, let key = FirstWordCache.Key(Cell.text(at: store.table.names.pointer(row))) else {
            let number = number(of: row)
            sizes[number] += 1
            return UInt32(number)
        }
        if let number = cache.number(key) { return number }
        let number = number(of: row)
        if let (old, count) = cache.replace(key, UInt32(number)) { sizes[old] += count }
        return UInt32(number)
    }

    @inline(never)
    private mutating func number(of row: UInt32) -> Int {
        if field == .name { return find(Cell.text(at: store.table.names.pointer(row))) }
        if field == .itemKey { return store.table.withKey(row) { find($0) } }
        let cell = store.table.cell(row, field)
        return cell.isText ? cell.withText { find($0) } : withoutWord()
    }

    /// The groups, in the order of their first rows; their rows are parts of one array.
    func groups() -> [ItemGroup] {
        var ends: [Int] = []
        var end = 0
        for size in sizes {
            ends.append(end)
            end += Int(size)
        }
        let sorted = [UInt32](unsafeUninitializedCapacity: end) { buffer, count in
            LargeMemory.advise(UnsafeRawBufferPointer(buffer))
            // Each place moves on to its group's end.
            ends.withUnsafeMutableBufferPointer { places in
                func place(_ row: UInt32, _ number: UInt32) {
                    let place = places[Int(number)]
                    buffer[place] = row
                    places[Int(number)] = place + 1
                }
                guard let rows else {
                    for (row, number) in numbers.enumerated() { place(UInt32(truncatingIfNeeded: row), number) }
                    return
                }
                for (row, number) in zip(rows, numbers) where row != ItemOrder.hole { place(row, number) }
            }
            count = end
        }
        return keys.indices.map { number in
            let rows = sorted[ends[number] - Int(sizes[number])..<ends[number]]
            return ItemGroup(store: store, key: keys[number], rows: rows)
        }
    }

    /// The group of what is no text.
    private mutating func withoutWord() -> Int {
        if let other { return other }
        let number = make(nil, Word(start: 0, bytes: []))
        other = number
        return number
    }

    private mutating func make(_ key: PropertyListValue?, _ word: Word) -> Int {
        keys.append(key)
        words.append(word)
        sizes.append(0)
        return keys.count - 1
    }

    @inline(__always)
    private mutating func find(_ text: UnsafeBufferPointer<UInt8>) -> Int {
        if text.count >= 8, let base = text.baseAddress {
            let start = UInt64(littleEndian: UnsafeRawPointer(base).loadUnaligned(as: UInt64.self))
            // The lowest byte that is a space has the lowest of these bits.
            let other = start ^ 0x2020_2020_2020_2020
            let spaces = (other &- 0x0101_0101_0101_0101) & ~other & 0x8080_8080_8080_8080
            if spaces != 0 {
                let count = spaces.trailingZeroBitCount >> 3
                return find(start & ~(~0 << UInt64(count * 8)), text, count)
            }
        }
        return findLong(text)
    }

    @inline(never)
    private mutating func findLong(_ text: UnsafeBufferPointer<UInt8>) -> Int {
        let count = text.firstIndex(of: 0x20) ?? text.count
        var start: UInt64 = 0
        for index in 0..<min(count, 8) { start |= UInt64(text[index]) << UInt64(index * 8) }
        return find(start, text, count)
    }

    /// The group of the word that is the first `count` bytes of a text.
    @inline(__always)
    private mutating func find(_ start: UInt64, _ text: UnsafeBufferPointer<UInt8>, _ count: Int) -> Int {
        var slot = Self.hash(start, count) & (slots.count - 1)
        while slots[slot] != 0 {
            let number = Int(slots[slot]) - 1
            if words[number].start == start, words[number].bytes.count == count,
                count <= 8 || isEqual(words[number].bytes, text)
            {
                return number
            }
            slot = (slot + 1) & (slots.count - 1)
        }
        return insert(Word(start: start, bytes: Array(text[..<count])))
    }

    private static func hash(_ start: UInt64, _ count: Int) -> Int {
        Int(truncatingIfNeeded: ((start ^ UInt64(count)) &* 0x9E37_79B9_7F4A_7C15) >> 40)
    }

    private func isEqual(_ bytes: [UInt8], _ text: UnsafeBufferPointer<UInt8>) -> Bool {
        guard let start = text.baseAddress else { return true }
        return memcmp(bytes, start, bytes.count) == 0
    }

    private mutating func insert(_ word: Word) -> Int {
        let number = make(.string(String(decoding: word.bytes, as: UTF8.self)), word)
        // Nearly every word is at the first place that is looked at.
        if words.count * 8 > slots.count {
            slots = [UInt32](repeating: 0, count: slots.count * 4)
            for number in words.indices where number != other { place(number) }
        } else {
            place(number)
        }
        return number
    }

    private mutating func place(_ number: Int) {
        var slot = Self.hash(words[number].start, words[number].bytes.count) & (slots.count - 1)
        while slots[slot] != 0 { slot = (slot + 1) & (slots.count - 1) }
        slots[slot] = UInt32(number + 1)
    }
}
