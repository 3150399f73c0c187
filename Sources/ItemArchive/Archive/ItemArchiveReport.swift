import ColumnEngine
import PropertyList

/// What an archive of items contained: its form, what a store does not hold of it, and what of it is damaged.
package struct ItemArchiveReport {
    /// The form of the items.
    package internal(set) var schema: ArchiveSchema
    /// The number of items.
    var count = 0
    /// What was changed in the items, in words.
    var notices: [String] = []
    /// The contents of the archive that the store does not hold: the first kinds of them, each counted, with the row of
    /// its first item.
    private var losses: [(what: Loss, count: Int, row: UInt32?)] = []
    /// The number of those of further kinds.
    private var furtherLosses = 0
    /// Whether the archive has content that the store does not hold.
    private(set) var leavesSomethingOut = false
    /// Whether the archive has values in other forms than the store writes: absent, mutable, shared.
    var hasOtherForms = false
    /// The forms that an archive written from the fields does not have, in words.
    private(set) var mixedForms: [String] = []
    /// The first failures to read, in words.
    package private(set) var damage: [String] = []
    /// The number of items that are lost or incomplete.
    var damagedItems = 0
    /// Whether some item has the first field, and its key or another field that no item lacks.
    var namesFields = false
    /// Whether the schema is that of an item.
    var hasSchema = false
    /// The keys of the items; nil if nobody needs them.
    var keys: Keys?
    /// The objects in items' fields that the store cannot hold.
    var foreign: [ForeignFields.Field] = []

    private let store: ColumnStore
    /// The fields of integers that are inline in some item; those that are objects in one are in the schema.
    private var inlineIntegers: Set<ItemField> = []
    /// The fields of every item that are nil in some item, and those for which some item has no key.
    private var nilFields: Set<ItemField> = []
    private var missingFields: Set<ItemField> = []
    /// Values of these fields that the store cannot hold exactly, by field: decimals with more digits than a real, and
    /// objects of other classes.
    private var longDecimals: [ItemField: Sample] = [:]
    private var unheld: [ItemField: Sample] = [:]

    /// The keys of an archive's items.
    struct Keys {
        /// In the archive's order; nil for an element that is not an item.
        var elements: [String?] = []
        /// Those that the archive contains, in contrast to those made by a reader.
        var contained: Set<ExactText> = []
    }

    /// Content of an archive that the store does not hold.
    enum Loss: Hashable {
        /// An element that is not an item, and its class.
        case element(className: String?)
        /// An object in a field of an item, described.
        case object(ExactText, String)
        /// An object in a field of an item, and why it cannot be read.
        case unreadable(ExactText, String)
        /// A value of a dictionary in a field, whose key has an earlier value.
        case equalKey(ExactText)
        /// Something else, in words.
        case other(String)
    }

    /// The number of some values, and the first three, with their items' rows.
    private struct Sample {
        var count = 0
        var first: [(row: UInt32, text: String)] = []

        mutating func add(_ row: UInt32, _ text: @autoclosure () -> String) {
            count += 1
            if first.count < 3 { first.append((row, text())) }
        }
    }

    init(_ store: ColumnStore) {
        self.store = store
        schema = ArchiveSchema(store.schema)
    }

    /// The contents of the archive that the store does not hold, in words: of each kind the number.
    package var countedLosses: [(count: Int, text: String)] {
        var all = losses.map { (count: $0.count, text: text(of: $0.what, $0.count, $0.row)) }
        if furtherLosses > 0 {
            let verb = furtherLosses == 1 ? "is" : "are"
            all.append((furtherLosses, "\(furtherLosses.counted("further part")) of the archive \(verb) left out"))
        }
        return all
    }

    /// The same, without the numbers.
    var leftOut: [String] { countedLosses.map(\.text) }

    /// The elements that are no items, in words, when the archive is edited and so keeps them.
    var hiddenElements: [String] {
        losses.compactMap { what, count, row in
            guard case .element = what else { return nil }
            return "\(text(of: what, count, row)). The archive keeps \(count == 1 ? "it" : "them"), and nothing shows "
                + (count == 1 ? "it" : "them")
        }
    }

    private func text(of what: Loss, _ count: Int, _ row: UInt32?) -> String {
        // "in 3 items, the first of them "Lamp""
        let items = row.map { row in
            let label = store.label(row)
            return count == 1 ? " in \(label)" : " in \(count.counted("item")), the first of them \(label)"
        }
        let place = items ?? " of an item"
        switch what {
        case .element(nil):
            return count == 1
                ? "an element of the archive is not an item"
                : "\(count.grouped) elements of the archive are not items"
        case .element(let name?):
            return count == 1
                ? "an element of the archive is of class \(name) and no item"
                : "\(count.grouped) elements of the archive are of class \(name) and no items"
        case .object(let field, let object): return "\(field)\(place) is \(object), which a field cannot hold"
        case .unreadable(let field, let reason): return "\(field)\(place) cannot be read: \(reason)"
        case .equalKey(let field):
            let values = count == 1 ? "a value" : "\(count.grouped) values"
            let first = row.map { ", first in \(store.label($0))" } ?? ""
            return "\(field) lacks \(values) of keys that its dictionary has twice\(first): the first value counts"
        case .other(let text): return count == 1 ? text : "\(text) (\(count.grouped) times)"
        }
    }

    /// What the store does not hold exactly, in words.
    var remarks: [String] {
        list(longDecimals) { name, sample, items in
            "\(name) is a decimal with more digits than a number has in \(sample.count.counted("item")): \(items). "
                + "The archive keeps the digits; the nearest number is shown"
        }
            + unheldObjects.map { $0 + ". The archive keeps it; the field is nil" }
    }

    /// The fields of every item that have an object that they cannot hold, in words.
    package var unheldObjects: [String] {
        list(unheld) { name, sample, items in
            "\(name) is an object that a field cannot hold in \(sample.count.counted("item")): \(items)"
        }
    }

    private func list(
        _ samples: [ItemField: Sample], _ text: (String, Sample, String) -> String
    ) -> [String] {
        samples.sorted { $0.key.rawValue < $1.key.rawValue }.map { field, sample in
            let items = sample.first.map { "\($0.text) in \(store.label($0.row))" }.joined(separator: ", ")
            return text(store.name(of: field), sample, items + (sample.count > sample.first.count ? ", …" : ""))
        }
    }

    // MARK: Recording

    /// Records something that cannot be read.
    mutating func recordDamage(_ text: String) {
        if damage.count < 5 { damage.append(text) }
        leavesSomethingOut = true
    }

    /// Records an item that is lost.
    mutating func recordLoss(ofItem number: Int, _ error: String) {
        damagedItems += 1
        recordDamage("item \(number) of the archive is lost: \(error)")
    }

    /// Records something that the store does not hold.
    ///
    /// - Parameters:
    ///   - what: what it is.
    ///   - row: the item's row; nil if it belongs to no item.
    ///   - count: how often.
    mutating func leaveOut(_ what: Loss, _ row: UInt32? = nil, count: Int = 1) {
        leavesSomethingOut = true
        if let index = losses.firstIndex(where: { $0.what == what }) {
            losses[index].count += count
        } else if losses.count < 20 {
            losses.append((what, count, row))
        } else {
            furtherLosses += count
        }
    }

    /// The cell of a field that is nil.
    mutating func absent(_ field: ItemField) -> Cell {
        if store.schema.kind(field)?.isOptional == false {
            hasOtherForms = true
            nilFields.insert(field)
        }
        return .absent
    }

    /// Records fields for which items of a shape have no key.
    mutating func recordMissing(_ fields: [ItemField]) { missingFields.formUnion(fields) }

    /// Records how an item of a keyed archive has an integer.
    mutating func recordInteger(_ field: ItemField, isObject: Bool) {
        let isFirst =
            isObject ? schema.objectFields.insert(field).inserted : inlineIntegers.insert(field).inserted
        if isFirst, schema.objectFields.contains(field), inlineIntegers.contains(field) { hasOtherForms = true }
    }

    /// Records a decimal with more digits than a real.
    mutating func recordLongDecimal(_ field: ItemField, _ row: UInt32, _ text: @autoclosure () -> String) {
        longDecimals[field, default: Sample()].add(row, text())
    }

    /// Records an object that a field of every item cannot hold.
    mutating func recordUnheld(_ field: ItemField, _ row: UInt32, _ text: @autoclosure () -> String) {
        unheld[field, default: Sample()].add(row, text())
    }

    // MARK: Conclusions

    /// Concludes the keys of the items, and whether an image's key beside an item's is an ordinary field.
    mutating func settleKeys(hasTwoKeys: Bool) {
        // Either items without an image have their key and none of an image, as the writer makes them, or both keys are
        // an application's own, and the image's is an ordinary field.
        if hasTwoKeys {
            schema.itemKeyKey = store.schema.keyNames.first ?? schema.itemKeyKey
            schema.keylessItems = []
        } else if !schema.keylessItems.isEmpty {
            schema.itemKeyKey = store.schema.imageKeyName ?? schema.itemKeyKey
        }
    }

    /// Concludes the forms of which an archive that is written from the fields has only one.
    mutating func settleForms() {
        schema.nilFields = nilFields.subtracting(missingFields)
        guard schema.form == .keyedArchive else { return }
        for field in nilFields.intersection(missingFields).sorted(by: { $0.rawValue < $1.rawValue }) {
            mixedForms.append(
                "\(store.name(of: field)) is nil in some items, and missing in others: a save leaves it out in all")
        }
        for field in schema.objectFields.intersection(inlineIntegers).sorted(by: { $0.rawValue < $1.rawValue }) {
            let name = store.name(of: field)
            mixedForms.append(
                "\(name) is an object in some items, and inline in others: a save makes it an object in all")
        }
    }
}
