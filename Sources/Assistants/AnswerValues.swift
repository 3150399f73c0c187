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
            return .of(["$omitted": count.map { $0.counted("byte") } ?? "a value that JSON lacks"])
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
        left -= min(text.utf8.count, limit)
        if text.utf8.count > limit { omitted += 1 }
        return Self.cut(text.utf8, to: limit)
    }

    static func cut(_ bytes: some Collection<UInt8>, to limit: Int = 64 << 10) -> String {
        let (text, rest) = (String(decoding: bytes.prefix(limit), as: UTF8.self), bytes.count - limit)
        return rest > 0 ? "\(text)\n[\(rest.counted("byte")) more]" : text
    }

    /// The number of changes of each kind that are listed; all are counted.
    private static let listed = 100

    /// A difference: the numbers of its changes, and the first of them.
    mutating func changes(_ diff: ItemStoreDiff) -> JSONValue {
        .of([
            "counts": JSONValue.of([
                "created": diff.inserted.count, "fieldsChanged": diff.updated.count, "removed": diff.removed.count,
                "moved": diff.moved.count,
            ]),
            "created": diff.inserted.prefix(Self.listed).map { fields($0.values) },
            "changed": diff.updated.prefix(Self.listed).map { update in
                JSONValue.of([
                    "itemKey": value(.string(update.itemKey)), "name": value(.string(update.name)),
                    "field": value(.string(update.field)), "old": value(update.old), "new": value(update.new),
                ])
            },
            "removed": diff.removed.prefix(Self.listed).map { fields($0.values) },
            "moved": diff.moved.prefix(Self.listed).map { move in
                JSONValue.of(["itemKey": value(.string(move.itemKey)), "from": move.from + 1, "to": move.to + 1])
            },
        ])
    }
}
