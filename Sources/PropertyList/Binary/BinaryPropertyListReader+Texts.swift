import CPlatform
import Platform

extension BinaryPropertyListReader {
    /// The first bytes of dictionaries with the same keys (the size and the keys), and the offset of one value.
    package struct KnownBeginning {
        fileprivate let bytes: UnsafeRawBufferPointer
        /// The size including the values.
        fileprivate let byteCount: Int
        fileprivate let valueOffset: Int

        /// Takes the bytes from one of the reader's dictionaries; nil for another object and when it has no such value.
        package init?(ofDictionary number: Int, slot: Int, in reader: BinaryPropertyListReader) {
            guard let container = try? reader.container(at: number), container.kind == .dictionary,
                let offset = try? reader.offset(of: number), slot >= 0, slot < container.count
            else { return nil }
            let keys = reader.keyReferences(of: container)
            bytes = UnsafeRawBufferPointer(
                start: reader.base + offset, count: container.references - offset + keys.count)
            byteCount = bytes.count + keys.count
            valueOffset = bytes.count + slot * reader.referenceSize
        }
    }

    /// Finds one text of each of many dictionaries of a keyed archive, in place.
    ///
    /// - Parameters:
    ///   - indexes: the indexes of the elements.
    ///   - elements: an array of references to dictionaries.
    ///   - table: the array that UIDs are indexes into.
    ///   - beginning: the first bytes of the dictionaries.
    ///   - texts: receives the bytes of each text, valid as long as `storage`. A text without an address is left to the
    ///     caller: the dictionary has other keys, the value is not ASCII text, or an object is damaged.
    package func findTexts(
        of indexes: UnsafeBufferPointer<UInt32>, in elements: BinaryPropertyListContainer,
        through table: BinaryPropertyListContainer, beginning: KnownBeginning,
        into texts: UnsafeMutableBufferPointer<UnsafeRawBufferPointer>
    ) {
        precondition(texts.count >= indexes.count, "room for each text")
        TextFinder(self, elements, table, beginning).find(indexes, texts)
    }
}

/// The path from an array's element to a text of its dictionary takes nine dependent reads. Each step runs for all
/// elements before the next one, so that their cache misses overlap: the first query over the names of 100,000 items
/// takes a third of the time. Errors are left to the reader's other calls.
///
/// Offsets and numbers are the reader's; -1 marks an element that is left to the caller.
private struct TextFinder {
    private let reader: BinaryPropertyListReader
    private let elements: BinaryPropertyListContainer
    private let table: BinaryPropertyListContainer
    private let beginning: BinaryPropertyListReader.KnownBeginning
    private let base: UnsafeRawPointer
    private let tableOffset: Int
    private let objectCount: Int
    private let offsetSize: Int
    private let referenceSize: Int

    init(
        _ reader: BinaryPropertyListReader, _ elements: BinaryPropertyListContainer,
        _ table: BinaryPropertyListContainer, _ beginning: BinaryPropertyListReader.KnownBeginning
    ) {
        (self.reader, self.elements, self.table, self.beginning) = (reader, elements, table, beginning)
        (base, tableOffset, objectCount) = (reader.base, reader.tableOffset, reader.objectCount)
        (offsetSize, referenceSize) = (reader.offsetSize, reader.referenceSize)
    }

    func find(
        _ indexes: UnsafeBufferPointer<UInt32>, _ texts: UnsafeMutableBufferPointer<UnsafeRawBufferPointer>
    ) {
        withUnsafeTemporaryAllocation(of: Int.self, capacity: indexes.count) { steps in
            for (place, index) in indexes.enumerated() {
                steps[place] =
                    Int(index) < elements.count
                    ? entry(reference(elements.references &+ Int(index) &* referenceSize)) : -1
            }
            advance(steps) { object($0) }
            advance(steps) { tablePlace($0) }
            advance(steps) { entry(reference($0)) }
            advance(steps) { entry in
                let place = object(entry)
                // The keys are in one cache line, the values usually in the next.
                cubby_prefetch(base + place + 48)
                return place
            }
            advance(steps) { entry(value(ofDictionaryAt: $0)) }
            advance(steps) { object($0) }
            advance(steps) { target($0) }
            for place in 0..<indexes.count { texts[place] = text(at: steps[place]) }
        }
    }

    /// Runs one step for each remaining element.
    private func advance(_ steps: UnsafeMutableBufferPointer<Int>, _ next: (Int) -> Int) {
        for index in steps.indices where steps[index] >= 0 { steps[index] = next(steps[index]) }
    }

    private func fetched(_ place: Int) -> Int {
        cubby_prefetch(base + place)
        return place
    }

    /// Reads an unsigned number of 1 to 8 bytes, which has at least eight bytes of the file before its end.
    private func number(_ place: Int, size: Int) -> Int {
        let word = base.loadUnaligned(fromByteOffset: place &+ size &- 8, as: UInt64.self)
        return Int(truncatingIfNeeded: UInt64(bigEndian: word) & (.max &>> UInt64(truncatingIfNeeded: 64 &- size &* 8)))
    }

    private func reference(_ place: Int) -> Int { number(place, size: referenceSize) }

    /// The position of an object's offset in the offset table.
    private func entry(_ number: Int) -> Int {
        number >= 0 && number < objectCount ? fetched(tableOffset &+ number &* offsetSize) : -1
    }

    /// The offset of an object.
    private func object(_ entry: Int) -> Int {
        let offset = entry < 0 ? -1 : number(entry, size: offsetSize)
        return offset >= 8 && offset < tableOffset ? fetched(offset) : -1
    }

    /// The position of the object number that a UID names.
    private func tablePlace(_ place: Int) -> Int {
        let marker = base.load(fromByteOffset: place, as: UInt8.self)
        let size = Int(marker & 0x0F) &+ 1
        guard marker & 0xF0 == 0x80, size <= 4, size < tableOffset &- place else { return -1 }
        let index = number(place &+ 1, size: size)
        return index < table.count ? fetched(table.references &+ index &* referenceSize) : -1
    }

    /// The number of the requested value.
    private func value(ofDictionaryAt place: Int) -> Int {
        guard let known = beginning.bytes.baseAddress, beginning.byteCount <= tableOffset &- place,
            memcmp(known, base + place, beginning.bytes.count) == 0
        else { return -1 }
        return reference(place &+ beginning.valueOffset)
    }

    /// The offset of the object at a position, or of the object that a UID there names. The objects of an item are
    /// adjacent, so they are in the cache by now.
    private func target(_ place: Int) -> Int {
        if base.load(fromByteOffset: place, as: UInt8.self) & 0xF0 != 0x80 { return place }
        let place = tablePlace(place)
        return place < 0 ? -1 : object(entry(reference(place)))
    }

    private func text(at place: Int) -> UnsafeRawBufferPointer {
        if place >= 0 {
            let marker = base.load(fromByteOffset: place, as: UInt8.self)
            var found = (count: Int(marker & 0x0F), start: place &+ 1)
            if marker & 0xF0 == 0x50, found.count < 15 || longCount(place, &found),
                found.count <= tableOffset &- found.start
            {
                let bytes = UnsafeRawBufferPointer(start: base + found.start, count: found.count)
                if BinaryPropertyListReader.isASCII(bytes) { return bytes }
            }
        }
        return UnsafeRawBufferPointer(start: nil, count: 0)
    }

    private func longCount(_ place: Int, _ found: inout (count: Int, start: Int)) -> Bool {
        if base.load(fromByteOffset: place &+ 1, as: UInt8.self) == 0x10 {
            found = (Int(base.load(fromByteOffset: place &+ 2, as: UInt8.self)), place &+ 3)
            return true
        }
        guard let payload = try? reader.payload(at: place, unit: 1) else { return false }
        found = payload
        return true
    }
}
