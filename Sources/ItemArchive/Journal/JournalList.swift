package import ColumnEngine
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
