package import ColumnEngine
import Files
import PropertyList
import Synchronization

/// `items.index`, with which an archive can be opened without reading it.
///
/// A derived file that may vanish at any time. It has the size and checksum of its archive, the meaning of the
/// archive's keys, the hash table from keys to items, and the items' numbers. `docs/journal.md` specifies the format.
package struct ItemIndexFile: Sendable {
    static let magic = Array("CubbyIdx".utf8)
    static let version: UInt16 = 4
    static let headerLength = 128
    private static let pageLength = 4096
    package var archive: ArchiveIdentity
    /// XXH64 of the whole archive.
    package var archiveChecksum: UInt64
    var count: Int
    var seed: UInt64
    var schema: ArchiveSchema
    /// The fields of every item whose integers are in the file, too.
    private let integerFields: [ItemField]
    /// The custom fields, in the order of their numbers.
    var customFields: [String]
    /// By field number, the kinds of cells that items have in it.
    var fieldKinds: [UInt16]
    /// The range of the table in the file's bytes.
    private(set) var slots: Range<Int> = 0..<0
    /// The range of the numbers: after the slots.
    private var numbers: Range<Int> {
        slots.upperBound..<slots.upperBound + integerFields.count * count * 8
    }
    private var descriptionEnd = 0
    /// Whether the program that made the index knew that every value is of its field's kind. Earlier ones also indexed
    /// archives of more than 64 megabytes with absent values.
    private(set) var knowsThatAllFit = true

    // MARK: Making

    /// The index of an archive of a snapshot; the archive's identity is not known yet. Nil if its items cannot be read
    /// one by one.
    init?(_ snapshot: ItemSnapshot, _ schema: ArchiveSchema) {
        // Properties that only a full reading finds must be found at the next opening.
        guard schema.form == .keyedArchive, schema.keylessItems.isEmpty, schema.foreignFields.isEmpty,
            schema.original == nil, snapshot.count > 0, !snapshot.hasMisfits
        else { return nil }
        integerFields = Self.integerFields(schema.schema)
        guard schema.objectFields.isEmpty || schema.objectFields.count == integerFields.count else { return nil }
        archive = .none
        archiveChecksum = 0
        self.schema = schema
        count = snapshot.count
        seed = KeyHasher().seed
        customFields = Array(snapshot.fieldNames.dropFirst(schema.keys.count))
        fieldKinds = snapshot.fieldKinds
    }

    private static func integerFields(_ schema: ItemSchema) -> [ItemField] {
        schema.numbers.filter { schema.kind($0)?.kind == .integer }
    }

    /// The file's bytes without the header, which `addHeader` sets. Complexity: O(items).
    mutating func bytes(_ snapshot: ItemSnapshot) throws(PropertyListError) -> [UInt8] {
        let description = try self.description.encoded(as: .binary)
        let start = (Self.headerLength + description.count + Self.pageLength - 1) / Self.pageLength * Self.pageLength
        let slotCount = HashIndex.slotCount(for: count)
        let hasher = KeyHasher(seed: seed)
        let end = start + slotCount * 4
        slots = start..<end
        descriptionEnd = Self.headerLength + description.count
        var bytes = [UInt8](repeating: 0, count: end)
        bytes.reserveCapacity(
            end + Self.checksumsLength(slotCount, count, integerFields) + integerFields.count * count * 8)
        bytes.withUnsafeMutableBytes { bytes in
            let table = UnsafeMutableRawBufferPointer(rebasing: bytes[start...]).bindMemory(to: UInt32.self)
            for position in 0..<count {
                let key = snapshot.key(position)
                let hash =
                    snapshot.isTextKey(position) ? key.cell.withText { hasher.hash(text: $0) } : hasher.hash(key)
                HashIndex.place(UInt32(position), hash, in: table)
            }
            for slot in table.indices { table[slot] = table[slot].littleEndian }
        }
        for field in integerFields {
            for position in 0..<count { bytes.appendLittleEndian(snapshot.cell(position, field).tail) }
        }
        let checksums = bytes.withUnsafeBytes { bytes in
            integerFields.indices.reduce(
                into: MappedKeySlots.checksums(of: UnsafeRawBufferPointer(rebasing: bytes[slots]))
            ) { checksums, place in
                checksums += MappedNumbers.checksums(of: UnsafeRawBufferPointer(rebasing: bytes[numbers(at: place)]))
            }
        }
        for checksum in checksums { bytes.appendLittleEndian(checksum) }
        bytes.replaceSubrange(Self.headerLength..<descriptionEnd, with: description)
        return bytes
    }

    /// Sets the header of `bytes`, which identifies the archive.
    func addHeader(to bytes: inout [UInt8]) {
        var header = Self.magic
        header.appendLittleEndian(Self.version)
        header.appendLittleEndian(JournalHeader.byteOrder)
        header.appendLittleEndian(UInt32(Self.headerLength))
        header.appendLittleEndian(archive.size)
        header.appendLittleEndian(archive.checksum)
        header.appendLittleEndian(archiveChecksum)
        header.appendLittleEndian(UInt64(count))
        header.appendLittleEndian(seed)
        header.appendLittleEndian(UInt64(slots.count / 4))
        header.appendLittleEndian(Self.checksum(bytes[numbers.upperBound...]))
        header.appendLittleEndian(UInt64(slots.lowerBound))
        header.appendLittleEndian(UInt64(descriptionEnd - Self.headerLength))
        header.appendLittleEndian(Self.checksum(bytes[Self.headerLength..<descriptionEnd]))
        header.appendLittleEndian(UInt64(1))  // see `knowsThatAllFit`
        header += [UInt8](repeating: 0, count: Self.headerLength - 8 - header.count)
        header.appendLittleEndian(Checksum.hash(header))
        bytes.replaceSubrange(0..<header.count, with: header)
    }

    private static func checksumsLength(_ slotCount: Int, _ count: Int, _ fields: [ItemField]) -> Int {
        (MappedKeySlots.pageCount(slotCount) + fields.count * MappedNumbers.pageCount(count)) * 8
    }

    private static func checksum(_ bytes: ArraySlice<UInt8>) -> UInt64 { bytes.withUnsafeBytes { Checksum.hash($0) } }

    private var description: PropertyListValue {
        .dictionary([
            "class": .string(schema.className),
            "superclasses": .array(schema.superclasses.map { .string($0) }),
            "isMutableArray": .boolean(schema.isMutableArray),
            "keys": .array(schema.keys.map { .string($0) }),
            "valueIsObject": .boolean(!schema.objectFields.isEmpty),
            "inlineFields": .array(schema.inlineFields.sorted().map { .string($0.string) }),
            "fields": .array(customFields.map { .string($0) }),
            "kinds": .array(fieldKinds.map { .integer(Int64($0)) }),
        ])
    }

    // MARK: Reading

    /// The table; each page is checked at its first access.
    package func slots(in bytes: UnsafeRawBufferPointer, keeper: AnyObject?) -> MappedKeySlots? {
        let checksums = numbers.upperBound..<numbers.upperBound + MappedKeySlots.pageCount(slots.count / 4) * 8
        return MappedKeySlots(
            UnsafeRawBufferPointer(rebasing: bytes[slots]),
            checksums: UnsafeRawBufferPointer(rebasing: bytes[checksums]), itemCount: count, keeper: keeper)
    }

    /// By number of a declared field, its integers, checked in the same way; nil for a field of another kind.
    package func numbers(in bytes: UnsafeRawBufferPointer, keeper: AnyObject?) -> [MappedNumbers?] {
        let length = MappedNumbers.pageCount(count) * 8
        let first = bytes.count - integerFields.count * length
        var result = [MappedNumbers?](repeating: nil, count: schema.schema.fields.count)
        for (place, field) in integerFields.enumerated() {
            let checksums = first + place * length..<first + (place + 1) * length
            result[Int(field.rawValue)] = MappedNumbers(
                UnsafeRawBufferPointer(rebasing: bytes[numbers(at: place)]),
                checksums: UnsafeRawBufferPointer(rebasing: bytes[checksums]), keeper: keeper)
        }
        return result
    }

    /// The range of one field's numbers.
    private func numbers(at place: Int) -> Range<Int> {
        let start = slots.upperBound + place * count * 8
        return start..<start + count * 8
    }

    /// Reads everything except the tables; nil if a part of it is damaged, or it is of another schema's items.
    package init?(_ bytes: UnsafeRawBufferPointer, _ schema: ItemSchema) {
        guard bytes.count >= Self.headerLength, bytes.prefix(8).elementsEqual(Self.magic),
            Checksum.hash(UnsafeRawBufferPointer(rebasing: bytes[..<120])) == bytes.littleEndian(UInt64.self, at: 120),
            bytes.littleEndian(UInt16.self, at: 8) == Self.version,
            bytes.littleEndian(UInt16.self, at: 10) == JournalHeader.byteOrder
        else { return nil }
        integerFields = Self.integerFields(schema)
        archive = ArchiveIdentity(
            size: bytes.littleEndian(UInt64.self, at: 16), checksum: bytes.littleEndian(UInt64.self, at: 24))
        archiveChecksum = bytes.littleEndian(UInt64.self, at: 32)
        let items = bytes.littleEndian(UInt64.self, at: 40)
        seed = bytes.littleEndian(UInt64.self, at: 48)
        let slotCount = bytes.littleEndian(UInt64.self, at: 56)
        let start = bytes.littleEndian(UInt64.self, at: 72)
        let length = bytes.littleEndian(UInt64.self, at: 80)
        guard items > 0, items < UInt64(UInt32.max) - 1, slotCount >= 64, slotCount <= 1 << 33,
            slotCount & (slotCount - 1) == 0, start % 4 == 0, start <= UInt64(bytes.count),
            items < slotCount,
            UInt64(bytes.count) - start
                == slotCount * 4 + UInt64(integerFields.count) * items * 8
                + UInt64(Self.checksumsLength(Int(slotCount), Int(items), integerFields)),
            length <= start, start - length >= UInt64(Self.headerLength)
        else { return nil }
        count = Int(items)
        knowsThatAllFit = bytes.littleEndian(UInt64.self, at: 96) & 1 != 0
        slots = Int(start)..<Int(start) + Int(slotCount) * 4
        let checksums = UnsafeRawBufferPointer(
            rebasing: bytes[(slots.upperBound + integerFields.count * count * 8)...])
        guard Checksum.hash(checksums) == bytes.littleEndian(UInt64.self, at: 64) else { return nil }
        let text = UnsafeRawBufferPointer(rebasing: bytes[Self.headerLength..<Self.headerLength + Int(length)])
        guard Checksum.hash(text) == bytes.littleEndian(UInt64.self, at: 88),
            let value = try? PropertyListValue(decoding: Array(text)), case .dictionary(let entries) = value,
            case .string(let className)? = entries["class"], let superclasses = Self.strings(entries["superclasses"]),
            let keys = Self.strings(entries["keys"]), ArchiveSchema(schema).knows(keys),
            case .boolean(let isMutableArray)? = entries["isMutableArray"],
            case .boolean(let valueIsObject)? = entries["valueIsObject"],
            let inlineFields = Self.strings(entries["inlineFields"]), let fields = Self.strings(entries["fields"]),
            Set(fields.map { ExactText($0) }).count == fields.count, case .array(let kinds)? = entries["kinds"]
        else { return nil }
        self.schema = ArchiveSchema(schema, className: className)
        self.schema.superclasses = superclasses
        self.schema.isMutableArray = isMutableArray
        self.schema.objectFields = valueIsObject ? Set(integerFields) : []
        self.schema.inlineFields = Set(inlineFields.map { ExactText($0) })
        self.schema.keys = keys
        customFields = fields
        fieldKinds = kinds.map { kind in
            if case .integer(let bits) = kind { UInt16(truncatingIfNeeded: bits) } else { 0 }
        }
    }

    private static func strings(_ value: PropertyListValue?) -> [String]? {
        guard case .array(let elements)? = value else { return nil }
        let strings = elements.compactMap { if case .string(let text) = $0 { text } else { nil } }
        return strings.count == elements.count ? strings : nil
    }
}

/// The index of an archive that is still being written.
struct ItemIndexDraft: Sendable {
    private var index: ItemIndexFile
    private var bytes: [UInt8]

    /// - Returns: nil if the archive gets no index. Complexity: O(items).
    init?(_ snapshot: ItemSnapshot, _ schema: ArchiveSchema) {
        guard var index = ItemIndexFile(snapshot, schema), let bytes = try? index.bytes(snapshot), !snapshot.isDamaged
        else { return nil }
        self.index = index
        self.bytes = bytes
    }

    /// The index's bytes, for the finished archive.
    consuming func file(of archive: ArchiveIdentity, _ archiveChecksum: UInt64) -> [UInt8] {
        index.archive = archive
        index.archiveChecksum = archiveChecksum
        index.addHeader(to: &bytes)
        return bytes
    }
}

/// Orders two writers of the index: the thread that makes the missing index of an opened archive, and a save, which may
/// have replaced the archive and its index meanwhile.
final class ItemIndexTurn: Sendable {
    private let isOver = Mutex(false)

    /// Puts the index of the opened archive in place, unless a save came first.
    func ifOpen(_ put: () -> Void) {
        isOver.withLock { if !$0 { put() } }
    }

    /// Puts the index of a new archive in place.
    func end(_ put: () -> Void) {
        isOver.withLock {
            $0 = true
            put()
        }
    }
}
