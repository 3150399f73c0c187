package import ColumnEngine
public import PropertyList
import Wording

/// A field of every item with values that are not of its kind, or that some items lack: an application's archive has
/// them so, and they are carried as they are. They can be replaced only by values that fit.
public struct FieldMisfits: Sendable, Hashable, CustomStringConvertible {
    /// An item with such a value.
    public struct Example: Sendable, Hashable {
        /// The item's name in quotes, or its key if it has no name.
        public let item: String
        /// The value; nil if the item lacks the field.
        public let value: PropertyListValue?
    }

    /// The field's name.
    public let field: String
    /// The kind of its values with an article: `an integer`.
    public let kind: String
    /// The number of items. A real without a fraction in a field of integers is read alike by all programs, and does
    /// not count.
    public let count: Int
    /// Whether all of them lack the field, and a program reads nil, as here; for an integer it would read 0.
    public let isOnlyNil: Bool
    /// The first three, in the store's order.
    public let examples: [Example]

    /// `valueInDollars is not an integer in 2 items: 12.5 in "Lamp", nil in "Chair"`.
    public var description: String {
        let values = examples.map { "\(FieldValidation.describe($0.value)) in \($0.item)" }.joined(separator: ", ")
        return "\(field) is not \(kind) in \(count.counted("item")): \(values)\(count > examples.count ? ", …" : "")"
    }
}

extension ColumnStore {
    /// The fields with values that are not of their kinds.
    ///
    /// - Parameters:
    ///   - rows: the items; all if nil.
    ///   - fields: the fields.
    /// - Returns: one for each such field.
    /// - Complexity: O(1) if there are none, else O(items).
    package func misfits(
        among rows: [UInt32]? = nil, in fields: [ItemField] = ItemField.domain
    ) -> [FieldMisfits] {
        noteWholeRead()
        return fields.compactMap { field in
            guard let kind = misfitKind(field) else { return nil }
            var examples: [FieldMisfits.Example] = []
            var (count, isOnlyNil) = (0, kind != .integer)
            forEachMisfit(field, among: rows) { row, cell in
                if kind == .integer, cell.isReal, case let real = cell.realValue, Int64(exactly: real) != nil { return }
                // A text that ends within a character is a text.
                if kind == .text, case .utf16? = value(cell) { return }
                count += 1
                if !cell.isAbsent { isOnlyNil = false }
                if count <= 3 { examples.append(FieldMisfits.Example(item: label(row), value: value(cell))) }
            }
            guard count > 0 else { return nil }
            return FieldMisfits(
                field: name(of: field), kind: kind.named, count: count, isOnlyNil: isOnlyNil, examples: examples)
        }
    }

    /// An item for messages: its name in quotes, or its key if it has no name.
    package func label(_ row: UInt32) -> String {
        let cell = cell(row, .name)
        guard cell.isText, cell.withText({ !$0.isEmpty }) else { return keyString(row) }
        let name = CellHeap.string(cell)
        return (name.count <= 40 ? name : name.prefix(40) + "…").quoted()
    }
}

extension ItemArchiveReader {
    /// What the items of an application's archive have in their fields that is not of the fields' kinds, in words.
    ///
    /// - Returns: nothing for a file that is not an archive of items, and for one with nothing but nil in fields that are
    ///   objects.
    package static func notices(on bytes: [UInt8]) -> [String] {
        guard let reader = try? BinaryPropertyListReader(detecting: PropertyListStorage(bytes)) else { return [] }
        let store = ColumnStore(.domain)
        var items = ItemArchiveReader(ItemLoader(store), reader, ArchiveIdentity(of: bytes))
        do throws(PropertyListError) { try items.read() } catch { return [] }
        guard items.schema.form == .keyedArchive, items.hasSchema, items.namesFields else { return [] }
        let misfits = store.misfits()
        if items.remarks.isEmpty, misfits.allSatisfy(\.isOnlyNil) { return [] }
        return misfits.map(\.description) + items.remarks
    }
}
