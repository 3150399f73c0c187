public import ColumnEngine
import Files

/// The first 64 bytes of a journal: its format, and the archive that it follows.
public struct JournalHeader: Sendable, Hashable {
    /// The header's size in bytes.
    public static let length = 64
    /// The newest format version that this code reads and writes: its records may have values of other kinds than
    /// their fields', texts that are not Unicode and dictionaries with keys of any kind.
    public static let latestVersion: UInt16 = 3
    /// The version of journals without such values. Version 1, which has no indices of items, is read, too.
    public static let usualVersion: UInt16 = 2

    static let magic: [UInt8] = Array("CubbyJnl".utf8)
    static let byteOrder: UInt16 = 0x0102

    /// The archive that the journal follows.
    public var archive: ArchiveIdentity
    /// A random number that seeds the records' checksums: a record of another journal is never accepted in this one.
    public var identifier: UInt64
    /// The number of the first record.
    public var firstSequence: UInt64
    /// The format version of the records.
    public var version = JournalHeader.usualVersion

    /// Creates the header of a new journal.
    public init(archive: ArchiveIdentity, identifier: UInt64, firstSequence: UInt64) {
        self.archive = archive
        self.identifier = identifier
        self.firstSequence = firstSequence
    }

    /// The header's bytes.
    public var bytes: [UInt8] {
        var bytes = Self.magic
        bytes.appendLittleEndian(version)
        bytes.appendLittleEndian(Self.byteOrder)
        bytes.appendLittleEndian(UInt32(Self.length))
        bytes.appendLittleEndian(archive.size)
        bytes.appendLittleEndian(archive.checksum)
        bytes.appendLittleEndian(identifier)
        bytes.appendLittleEndian(firstSequence)
        bytes.appendLittleEndian(UInt64(0))
        bytes.appendLittleEndian(Checksum.hash(bytes))
        return bytes
    }

    /// Reads a header.
    ///
    /// - Throws: `StoreError` with `corruptJournal` and the reason; with `newerFormat`.
    public init(_ bytes: UnsafeRawBufferPointer) throws(StoreError) {
        guard bytes.count >= Self.length else {
            throw StoreError(.corruptJournal, "the journal ends within its header")
        }
        guard bytes.prefix(8).elementsEqual(Self.magic) else {
            throw StoreError(.corruptJournal, "the journal does not begin as one")
        }
        version = bytes.littleEndian(UInt16.self, at: 8)
        let order = bytes.littleEndian(UInt16.self, at: 10)
        guard Checksum.hash(UnsafeRawBufferPointer(rebasing: bytes[..<56])) == bytes.littleEndian(UInt64.self, at: 56)
        else { throw StoreError(.corruptJournal, "the journal's header is damaged") }
        guard version <= Self.latestVersion else {
            throw StoreError(
                .newerFormat,
                "the journal is of format \(version), and this program knows up to \(Self.latestVersion): a newer one wrote it"
            )
        }
        guard version >= 1, order == Self.byteOrder,
            bytes.littleEndian(UInt32.self, at: 12) == UInt32(Self.length)
        else {
            throw StoreError(.corruptJournal, "the journal's header is none of format \(version)")
        }
        archive = ArchiveIdentity(
            size: bytes.littleEndian(UInt64.self, at: 16), checksum: bytes.littleEndian(UInt64.self, at: 24))
        identifier = bytes.littleEndian(UInt64.self, at: 32)
        firstSequence = bytes.littleEndian(UInt64.self, at: 40)
    }
}

extension [UInt8] {
    mutating func appendLittleEndian<Number: FixedWidthInteger>(_ number: Number) {
        Swift.withUnsafeBytes(of: number.littleEndian) { append(contentsOf: $0) }
    }
}
