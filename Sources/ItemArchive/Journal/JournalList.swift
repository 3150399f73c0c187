package import ColumnEngine
import Files
import PropertyList

/// The commits of a journal as a property list, for whoever reads the file by itself: `commits[0].changes[0].insert.name`.
///
/// All intact commits are in it, also those that a save has put into an archive since, which `saves` has. A change is
/// `insert`, the fields of a new item, with its place `at` unless it is the last; `set`, a field's new value, `unset`, the
/// name of a field that has none any more, or `move`, a place, each with the `itemKey`; `remove`, a key; `declare`, what is
/// declared of fields.
package struct JournalList {
    /// The property list, in binary form.
    package let bytes: [UInt8]
    /// The number of commits.
    package let commitCount: Int
    /// What cannot be read; the path is empty for the end of the file.
    package let damage: [(path: String, reason: String)]

    /// Whether bytes begin as those of a journal.
    package static func isBeginning(of bytes: UnsafeRawBufferPointer) -> Bool {
        bytes.starts(with: JournalHeader.magic)
    }

    /// Reads a journal, which is not trusted.
    ///
    /// - Parameters:
    ///   - journal: the bytes of the file.
    ///   - schema: the fields of every item.
    /// - Throws: `corruptJournal` if even the header is unusable; `newerFormat`.
    package init(_ journal: UnsafeRawBufferPointer, _ schema: ItemSchema) throws(StoreError) {
        let scan = try JournalScan(journal)
        var draft = Draft(scan, journal, schema)
        do throws(PropertyListError) { bytes = try draft.finish() } catch {
            throw StoreError(.corruptJournal, error.message, cause: error)
        }
        commitCount = draft.commits.count
        if let end = scan.damage {
            draft.damage.append(
                ("", "\((journal.count - scan.intactLength).counted("byte")) at the end cannot be used: \(end)"))
        }
        damage = draft.damage
    }

    /// The list while it is written: one change at a time is a value.
    private struct Draft {
        typealias ObjectNumber = BinaryPropertyListWriter.ObjectNumber

        let scan: JournalScan
        let journal: UnsafeRawBufferPointer
        let schema: ItemSchema
        private let writer: BinaryPropertyListWriter
        var commits: [ObjectNumber] = []
        var damage: [(path: String, reason: String)] = []

        init(_ scan: JournalScan, _ journal: UnsafeRawBufferPointer, _ schema: ItemSchema) {
            (self.scan, self.journal, self.schema) = (scan, journal, schema)
            writer = BinaryPropertyListWriter(expectedBytes: scan.intactLength)
        }

        mutating func finish() throws(PropertyListError) -> [UInt8] {
            var declared: ObjectNumber?
            for record in scan.records {
                let payload = UnsafeRawBufferPointer(rebasing: journal[record.payload])
                switch record.kind {
                case .changes: try add(payload, record.sequence)
                // A journal begins with it, if at all.
                case .declarations where declared != nil: damage.append(("", "the declared fields are there again"))
                case .declarations: declared = value(of: payload, at: "").flatMap { add($0, at: "declare") }
                case .checkpoint: break
                }
            }
            let checkpoints = scan.checkpoints(in: journal)
            let cut = scan.records.count { $0.kind == .checkpoint } - checkpoints.count
            if cut > 0 { damage.append(("", "\(cut.counted("save")) without an archive")) }
            var saves: [ObjectNumber] = []
            for checkpoint in checkpoints {
                let path = "saves[\(saves.count)]"
                var save: PropertyListFields = [
                    "archiveSize": Self.number(checkpoint.archive.size), "lastCommit": Self.number(checkpoint.last),
                ]
                if !checkpoint.declarations.isEmpty {
                    save["declare"] = value(
                        of: UnsafeRawBufferPointer(rebasing: journal[checkpoint.declarations]), at: path)
                }
                saves.append(add(.fields(save), at: path) ?? writer.dictionary(of: []))
            }
            var entries = [
                try entry("archiveSize", try writer.add(Self.number(scan.header.archive.size))),
                try entry("commits", array(commits)),
                try entry("format", try writer.add(.integer(Int64(scan.header.version)))),
            ]
            if let fields = declared { entries.append(try entry("declare", fields)) }
            if !saves.isEmpty { entries.append(try entry("saves", array(saves))) }
            return try writer.finish(topObject: writer.dictionary(of: entries))
        }

        private mutating func add(_ payload: UnsafeRawBufferPointer, _ sequence: UInt64) throws(PropertyListError) {
            var entries = [try entry("number", try writer.add(Self.number(sequence)))]
            let path = "commits[\(commits.count)]"
            do throws(StoreError) {
                var numbers: [ObjectNumber] = []
                for change in try RecordChange.changes(of: payload, schema, from: .journal) {
                    numbers.append(try add(.fields(change.fields)))
                }
                entries.append((try add(.string("changes")), array(numbers)))
            } catch {
                damage.append((path, error.message))
            }
            commits.append(writer.dictionary(of: entries))
        }

        /// Adds a value of a record: one that cannot be written is that record's damage.
        private func add(_ value: PropertyListValue) throws(StoreError) -> ObjectNumber {
            do throws(PropertyListError) { return try writer.add(value) } catch {
                throw StoreError(.corruptJournal, error.message, cause: error)
            }
        }

        /// The declared fields of a record; nil, and damage, if they cannot be read.
        private mutating func value(of payload: UnsafeRawBufferPointer, at path: String) -> PropertyListValue? {
            do throws(StoreError) {
                var reader = RecordReader(payload)
                return try reader.value()
            } catch {
                damage.append((path, "the declared fields: \(error.message)"))
                return nil
            }
        }

        /// Adds a value; nil, and damage, if it cannot be written.
        private mutating func add(_ value: PropertyListValue, at path: String) -> ObjectNumber? {
            do throws(StoreError) { return try add(value) } catch {
                damage.append((path, error.message))
                return nil
            }
        }

        private func entry(
            _ key: String, _ value: ObjectNumber
        ) throws(PropertyListError) -> (key: ObjectNumber, value: ObjectNumber) {
            (try writer.add(.string(key)), value)
        }

        private func array(_ numbers: [ObjectNumber]) -> ObjectNumber {
            numbers.withUnsafeBufferPointer { writer.array(of: $0) }
        }

        private static func number(_ value: UInt64) -> PropertyListValue {
            Int64(exactly: value).map { .integer($0) } ?? .wideInteger(Int128(value))
        }
    }
}

extension RecordChange {
    /// The change as it is in a list of a journal's commits.
    fileprivate var fields: PropertyListFields {
        switch self {
        case .insert(_, let values, let position):
            var fields: PropertyListFields = ["insert": .fields(values)]
            fields["at"] = position.map { .integer(Int64($0)) }
            return fields
        case .remove(let key): return ["remove": .string(key)]
        case .set(let key, let field, let value?): return ["itemKey": .string(key), "set": .fields([field: value])]
        case .set(let key, let field, nil): return ["itemKey": .string(key), "unset": .string(field)]
        case .move(let key, let position): return ["itemKey": .string(key), "move": .integer(Int64(position))]
        case .rank(let key, let rank): return ["itemKey": .string(key), "rank": .data(rank)]
        case .declare(let declarations): return ["declare": declarations.record]
        }
    }
}

/// The first 64 bytes of a journal: its format, and the archive that it follows.
package struct JournalHeader: Sendable, Hashable {
    /// The header's size in bytes.
    package static let length = 64
    /// The newest format version that this code reads and writes: in a host's files of a shared collection whose items
    /// have not the fields of a household.
    package static let latestVersion: UInt16 = 5
    /// The version of journals whose records may declare fields.
    package static let declaringVersion: UInt16 = 4
    /// The version of journals without declarations, whose records may have values of other kinds than their fields',
    /// texts that are not Unicode and dictionaries with keys of any kind.
    package static let carryingVersion: UInt16 = 3
    /// The version of journals without such values. Version 1, which has no indices of items, is read, too.
    package static let usualVersion: UInt16 = 2

    static let magic: [UInt8] = Array("CubbyJnl".utf8)
    static let byteOrder: UInt16 = 0x0102

    /// The archive that the journal follows.
    package var archive: ArchiveIdentity
    /// A random number that seeds the records' checksums: a record of another journal is never accepted in this one.
    package var identifier: UInt64
    /// The number of the first record.
    package var firstSequence: UInt64
    /// Which fields the records' items have by themselves: 0 those of a household, or nothing is stated; 1 none. It is
    /// beside the records, because a container's format, which says so, too, may be lost.
    package var layout: UInt64 = 0

    /// The layout of items with the fields of a schema.
    package static func layout(of schema: ItemSchema) -> UInt64 { schema.fields.isEmpty ? 1 : 0 }
    /// The format version of the records.
    package var version = JournalHeader.usualVersion

    /// Creates the header of a new journal.
    package init(archive: ArchiveIdentity, identifier: UInt64, firstSequence: UInt64) {
        self.archive = archive
        self.identifier = identifier
        self.firstSequence = firstSequence
    }

    /// The header's bytes.
    package var bytes: [UInt8] {
        var bytes = Self.magic
        bytes.appendLittleEndian(version)
        bytes.appendLittleEndian(Self.byteOrder)
        bytes.appendLittleEndian(UInt32(Self.length))
        bytes.appendLittleEndian(archive.size)
        bytes.appendLittleEndian(archive.checksum)
        bytes.appendLittleEndian(identifier)
        bytes.appendLittleEndian(firstSequence)
        bytes.appendLittleEndian(layout)
        bytes.appendLittleEndian(Checksum.hash(bytes))
        return bytes
    }

    /// Reads a header.
    ///
    /// - Throws: `StoreError` with `corruptJournal` and the reason; with `newerFormat`.
    package init(_ bytes: UnsafeRawBufferPointer) throws(StoreError) {
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
        layout = bytes.littleEndian(UInt64.self, at: 48)
    }
}

extension FileStatus {
    func isSameFile(as other: FileStatus) -> Bool { device == other.device && inode == other.inode }

    /// Whether the file's size or date differs.
    func isTouched(since other: FileStatus) -> Bool { size != other.size || modified != other.modified }
}

extension [UInt8] {
    mutating func appendLittleEndian<Number: FixedWidthInteger>(_ number: Number) {
        Swift.withUnsafeBytes(of: number.littleEndian) { append(contentsOf: $0) }
    }
}

/// Identifies the archive that a journal follows: its size and a checksum of its contents.
///
/// For a large file the checksum covers the head, the tail and evenly spaced samples, so that opening a mapped archive
/// does not read all of it. A missing or empty archive has the identity ``none``.
package struct ArchiveIdentity: Sendable, Hashable {
    /// The size in bytes.
    package var size: UInt64
    /// The checksum of the bytes.
    package var checksum: UInt64

    /// The identity of a missing archive.
    package static let none = ArchiveIdentity(size: 0, checksum: 0)

    /// Files up to this size are hashed whole.
    private static let wholeLimit = 1 << 20
    private static let endLength = 1 << 16
    private static let sampleCount = 256
    private static let sampleLength = 1 << 10

    package init(size: UInt64, checksum: UInt64) {
        self.size = size
        self.checksum = checksum
    }

    /// The identity of an archive's contents.
    package init(of bytes: UnsafeRawBufferPointer) {
        self.init(size: bytes.count) { piece, seed in
            Checksum.hash(UnsafeRawBufferPointer(rebasing: bytes[piece]), seed: seed)
        }
    }

    /// The identity of an archive's contents; it reads only the samples.
    init(of file: OpenFile, size: Int, using layer: any FileLayer) throws(FileError) {
        try self.init(size: size) { piece, seed throws(FileError) in
            // They are fewer if the file is shorter than its status said: the identity will be another one.
            let bytes = try layer.bytes(of: file, at: piece.lowerBound, piece.count)
            return bytes.withUnsafeBytes { Checksum.hash($0, seed: seed) }
        }
    }

    /// Each piece's checksum is the seed for the next.
    private init<Failure: Error>(
        size: Int, checksum hash: (Range<Int>, UInt64) throws(Failure) -> UInt64
    ) throws(Failure) {
        guard size > 0 else {
            self = .none
            return
        }
        self.size = UInt64(size)
        guard size > Self.wholeLimit else {
            checksum = try hash(0..<size, 0)
            return
        }
        var sum = try hash(0..<Self.endLength, 0)
        let distance = (size - 2 * Self.endLength) / Self.sampleCount
        for sample in 0..<Self.sampleCount {
            let start = Self.endLength + sample * distance
            sum = try hash(start..<start + Self.sampleLength, sum)
        }
        checksum = try hash(size - Self.endLength..<size, sum)
    }

    /// The identity of an archive's contents.
    package init(of bytes: [UInt8]) {
        self = bytes.withUnsafeBytes { ArchiveIdentity(of: $0) }
    }
}

/// The archive's state when it was mapped: its bytes are read as long as the mapping exists.
struct MappedArchive {
    private weak var file: MappedFile?
    let status: FileStatus?

    init() { status = nil }

    init(_ file: MappedFile, _ status: FileStatus) {
        self.file = file
        self.status = status
    }

    /// Whether a file is the mapped one, which is in use, and was written to or truncated since. The mapping prevents
    /// the reuse of the file's inode.
    ///
    /// - Parameter now: the file's current status.
    /// - Returns: true if its size or date differs.
    func isTouched(_ now: FileStatus) -> Bool {
        guard file != nil, let status, now.isSameFile(as: status) else { return false }
        return now.isTouched(since: status)
    }
}
