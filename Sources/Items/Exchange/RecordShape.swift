import ColumnEngine
import PropertyList

/// Where the records are in the values of a file: an array of them, one by itself, several one after another, or within an
/// object that tells about them.
struct RecordShape {
    private let options: ItemFileOptions
    private let path: String
    private let schema: ItemSchema

    init(_ options: ItemFileOptions, _ path: String, _ schema: ItemSchema) {
        (self.options, self.path, self.schema) = (options, path, schema)
    }

    /// - Throws: `StoreError` for values that are no records, and for several arrays of which none is named.
    func records(of values: [PropertyListValue]) throws(StoreError) -> [PropertyListValue] {
        var records: [PropertyListValue] = []
        for value in values {
            if let place = options.recordPath {
                try records.append(contentsOf: self.records(at: place, in: value))
            } else if case .array(let elements) = value {
                records.append(contentsOf: elements)
            } else if case .dictionary = value {
                if values.count == 1, let found = try wrapped(value) { return found }
                records.append(value)
            } else {
                throw error(
                    "objects, or an array of them, are expected, and this is \(FieldValidation.describe(value))")
            }
        }
        return records
    }

    /// The records in an object that is none itself; nil for an object that is one.
    private func wrapped(_ value: PropertyListValue) throws(StoreError) -> [PropertyListValue]? {
        guard let fields = value.fields else { return nil }
        if fields["$archiver"] != nil {
            throw error("it is a keyed archive: give \(OptionWords.option("format", "archive"))")
        }
        // An item may have arrays of objects as well.
        if schema.names.contains(where: { fields[$0] != nil }) { return nil }
        let arrays = arrays(in: value)
        guard arrays.count > 1 else {
            guard let only = arrays.first else { return nil }
            options.onKinds?("\(path): the records at \(OptionWords.option("path", only.path))")
            return only.records
        }
        let names = arrays.map(\.path)
        throw error(
            "it has several arrays of objects (\(Self.list(names))): give \(OptionWords.option("path", names[0])), or that of another one"
        )
    }

    /// The arrays of objects in an object, and in objects within it.
    private func arrays(in value: PropertyListValue) -> [(path: String, records: [PropertyListValue])] {
        var found: [(path: String, records: [PropertyListValue])] = []
        var waiting: [(path: String, value: PropertyListValue, depth: Int)] = [("", value, 0)]
        while let next = waiting.popLast(), found.count <= 12, !Interruption.isDueAtStep {
            for (name, value) in (next.value.fields ?? [:]).sortedByName.reversed() {
                let path = next.path.isEmpty ? name : "\(next.path).\(name)"
                if case .array(let elements) = value {
                    let areRecords = !elements.isEmpty && elements.allSatisfy { $0.isRecord }
                    if areRecords { found.append((path, elements)) }
                } else if case .dictionary = value, next.depth < 3 {
                    waiting.append((path, value, next.depth + 1))
                }
            }
        }
        return found.sorted { $0.path < $1.path }
    }

    /// The records at a path that is given.
    private func records(at place: String, in value: PropertyListValue) throws(StoreError) -> [PropertyListValue] {
        var current = value
        if value.fields?[place] == nil {
            for name in place.split(separator: ".", omittingEmptySubsequences: true) {
                guard let next = current.fields?[String(name)] else { throw missing(place, in: value) }
                current = next
            }
        } else if let found = value.fields?[place] {
            current = found
        }
        switch current {
        case .array(let records): return records
        case .dictionary: return [current]
        default:
            throw error(
                "at \(place) an array of objects is expected, and there is \(FieldValidation.describe(current))")
        }
    }

    private func missing(_ place: String, in value: PropertyListValue) -> StoreError {
        let names = arrays(in: value).map(\.path)
        let hint = NearestNames.hint(for: place, among: names)
        let listed = names.isEmpty ? "; it has no array of objects" : "; it has \(Self.list(names))"
        return error("it has nothing at \(place)\(hint.isEmpty ? listed : hint)")
    }

    private static func list(_ names: [String]) -> String {
        names.prefix(12).joined(separator: ", ") + (names.count > 12 ? ", …" : "")
    }

    private func error(_ message: String) -> StoreError {
        StoreError(.unreadableFile, "\(path): \(message)", path: path)
    }
}

extension PropertyListValue {
    fileprivate var isRecord: Bool { if case .dictionary = self { true } else { false } }
}
