import PropertyList

extension ArchiveGraph {
    /// The graph as indented text, one line a value. An object that was shown before is named by its number.
    public func dump() -> String {
        var printer = GraphPrinter()
        for field in top { printer.print(field) }
        if !unreferenced.isEmpty {
            printer.line("unreferenced:")
            for value in unreferenced { printer.print(value, label: "-", level: 1) }
        }
        return printer.text
    }
}

private struct GraphPrinter {
    var text = ""
    private var numbers: [ObjectIdentifier: Int] = [:]

    /// What is still to be shown, the next last, so that deep graphs need no recursion.
    private var pending: [(label: String, value: ArchivedObject.FieldValue, level: Int)] = []

    mutating func line(_ content: String, level: Int = 0) {
        text += String(repeating: "  ", count: min(level, 64)) + content + "\n"
    }

    mutating func print(_ field: ArchivedObject.Field) {
        pending.append((field.key, field.value, 0))
        run()
    }

    mutating func print(_ value: ArchiveValue, label: String, level: Int) {
        pending.append((label, .object(value), level))
        run()
    }

    private mutating func run() {
        while let next = pending.popLast() {
            switch next.value {
            case .inline(let value): line("\(next.label): \(Self.describe(value))", level: next.level)
            case .objects(let values):
                line("\(next.label): \(values.count) references", level: next.level)
                push(values, level: next.level + 1)
            case .object(let value): show(value, label: next.label, level: next.level)
            }
        }
    }

    private mutating func push(_ values: [ArchiveValue?], level: Int) {
        for (index, value) in values.enumerated().reversed() { pending.append(("\(index)", .object(value), level)) }
    }

    private mutating func show(_ value: ArchiveValue?, label: String, level: Int) {
        guard let value else { return line("\(label): nil", level: level) }
        guard let identity = value.identity else { return line("\(label): \(Self.describe(value))", level: level) }
        if let number = numbers[ObjectIdentifier(identity)] {
            return line("\(label): \(value.className) #\(number), shown above", level: level)
        }
        let number = numbers.count + 1
        numbers[ObjectIdentifier(identity)] = number
        switch value {
        case .collection(let collection):
            line("\(label): \(value.className) #\(number), \(collection.elements.count) elements", level: level)
            push(collection.elements, level: level + 1)
        case .dictionary(let dictionary):
            line("\(label): \(value.className) #\(number), \(dictionary.entries.count) entries", level: level)
            for entry in dictionary.entries.reversed() {
                if let key = entry.key, key.identity == nil {
                    pending.append((Self.describe(key), .object(entry.value), level + 1))
                } else {
                    pending.append(("value", .object(entry.value), level + 1))
                    pending.append(("key", .object(entry.key), level + 1))
                }
            }
        case .unknown(let object):
            line("\(label): \(value.className) #\(number)", level: level)
            for field in object.fields.reversed() { pending.append((field.key, field.value, level + 1)) }
        case .mutableString(let object):
            line("\(label): \(value.className) #\(number) \(quoted(object.text))", level: level)
        case .mutableData(let object):
            line("\(label): \(value.className) #\(number), \(object.bytes.count) bytes", level: level)
        default: line("\(label): \(value.className) #\(number)", level: level)
        }
    }

    private func quoted(_ text: String) -> String { Self.describe(ArchiveValue.string(text)) }

    private static func describe(_ value: PropertyListValue) -> String {
        if let leaf = ArchiveValue(leaf: value) { return describe(leaf) }
        return "\(value)"
    }

    private static func describe(_ value: ArchiveValue) -> String {
        switch value {
        case .string(let text): text.debugDescription
        case .boolean(let value): "\(value)"
        case .integer(let value): "\(value)"
        case .wideInteger(let value): "\(value)"
        case .real(let value): "\(value)"
        case .single(let value): "\(value)"
        case .data(let bytes): "\(bytes.count) bytes"
        case .date(let date): date.iso8601Text ?? "\(date.secondsSinceReferenceDate) s"
        case .null: "null"
        case .value(let value): "\(value)"
        default: value.className
        }
    }
}
