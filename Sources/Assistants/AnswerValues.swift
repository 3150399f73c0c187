import Items
import PropertyList
import Wording

/// Values for an answer, within its size: what is beyond it, and what JSON lacks, is replaced by `{"$omitted": …}`, and
/// counted.
struct AnswerValues {
    /// The sizes of one value and of all, in bytes.
    private static let (valueSize, size) = (16 << 10, 512 << 10)

    private var left = size
    /// The number of values that were replaced.
    private(set) var omitted = 0

    var isFull: Bool { left <= 0 }

    mutating func value(_ value: PropertyListValue?) -> JSONValue {
        guard let value, value != .null else { return .null }
        let count = Self.isUnicode(value) ? try? value.json().count : nil
        guard let count, count <= Self.valueSize, left > 0 else {
            omitted += 1
            return .object(["$omitted": .string(count.map { $0.counted("byte") } ?? "a value that JSON lacks")])
        }
        left -= count
        return value
    }

    /// Half a surrogate pair in a text makes a message of JSON unreadable for many.
    private static func isUnicode(_ value: PropertyListValue) -> Bool {
        switch value {
        case .utf16: false
        case .array(let elements), .set(let elements): elements.allSatisfy(isUnicode)
        case .dictionary(let entries): entries.values.allSatisfy(isUnicode)
        default: true
        }
    }

    mutating func fields(_ fields: PropertyListFields) -> JSONValue {
        var values: PropertyListFields = [:]
        for (name, value) in fields.sortedByName where value != .null {
            left -= name.utf8.count
            values[name] = self.value(value)
        }
        return .fields(values)
    }

    /// A text, cut at its end where it is too long.
    mutating func text(_ text: String, limit: Int = 64 << 10) -> String {
        let rest = text.utf8.count - limit
        left -= min(text.utf8.count, limit)
        guard rest > 0 else { return text }
        omitted += 1
        return String(decoding: text.utf8.prefix(limit), as: UTF8.self) + "\n[\(rest.counted("byte")) more]"
    }

    /// The number of changes of each kind that are listed; all are counted.
    private static let listed = 100

    /// A difference: the numbers of its changes, and the first of them.
    mutating func changes(_ diff: ItemStoreDiff) -> JSONValue {
        .object([
            "counts": .object([
                "created": .number(diff.inserted.count), "fieldsChanged": .number(diff.updated.count),
                "removed": .number(diff.removed.count), "moved": .number(diff.moved.count),
            ]),
            "created": .array(diff.inserted.prefix(Self.listed).map { fields($0.values) }),
            "changed": .array(
                diff.updated.prefix(Self.listed).map { update in
                    .object([
                        "itemKey": value(.string(update.itemKey)), "name": value(.string(update.name)),
                        "field": value(.string(update.field)), "old": value(update.old), "new": value(update.new),
                    ])
                }),
            "removed": .array(diff.removed.prefix(Self.listed).map { fields($0.values) }),
            "moved": .array(
                diff.moved.prefix(Self.listed).map { move in
                    .object([
                        "itemKey": value(.string(move.itemKey)), "from": .number(move.from + 1),
                        "to": .number(move.to + 1),
                    ])
                }),
        ])
    }
}
