/// Reads an XML property list. Each value is added to a binary object table as it is read.
///
/// Everything else reads the binary form, so that XML archives need no further reader.
struct XMLPropertyListReader {
    /// Converts the property list to the binary form.
    static func binary(
        from bytes: UnsafeRawBufferPointer, limits: PropertyListLimits
    ) throws(PropertyListError) -> (storage: PropertyListStorage, findings: [PropertyListFinding]) {
        guard bytes.count <= limits.maximumBytes else {
            throw .corrupt("the property list has \(bytes.count) bytes, the limit is \(limits.maximumBytes)")
        }
        let text = try XMLText.utf8(bytes)
        var reader = XMLPropertyListReader(scanner: XMLScanner(text), limits: limits)
        let top = try reader.document()
        let file = PropertyListStorage(try reader.table.finish(topObject: top))
        return (file, reader.findings.all(more: "findings of these kinds", .warning))
    }

    /// The readable part of the property list and the error after it; nil when nothing was read.
    static func salvage(
        from bytes: UnsafeRawBufferPointer, limits: PropertyListLimits
    ) -> (storage: PropertyListStorage, error: PropertyListError?, findings: [PropertyListFinding])? {
        guard bytes.count <= limits.maximumBytes else { return nil }
        // Truncated text is valid up to its last whole character.
        let text = (try? XMLText.utf8(bytes)) ?? Array(String(decoding: bytes, as: UTF8.self).utf8)
        var reader = XMLPropertyListReader(scanner: XMLScanner(text), limits: limits)
        var failure: PropertyListError?
        var top: UInt32?
        do throws(PropertyListError) {
            top = try reader.document()
        } catch {
            failure = error
            top = reader.closeAll()
        }
        guard let top, let file = try? reader.table.finish(topObject: top) else { return nil }
        return (PropertyListStorage(file), failure, reader.findings.all(more: "findings of these kinds", .warning))
    }

    /// Closes every open container. Returns the outermost one, or nil when there is none.
    private mutating func closeAll() -> UInt32? {
        var outermost = finished
        while let last = open.indices.last {
            if open[last].pendingKey != nil {
                open[last].pendingKey = nil
                keys.removeLast()
            }
            guard let number = try? close(open[last].isDictionary ? "dict" : "array") else { return nil }
            if let outer = open.indices.last {
                try? place((number, nil), in: outer)
            } else {
                outermost = number
            }
        }
        return outermost
    }

    /// A container without its end tag so far.
    private struct Open {
        var isDictionary: Bool
        /// The position of the start tag, for messages.
        var position: Int
        var start: Int
        var keyStart: Int
        var pendingKey: UInt32?
        /// Whether the last key is `CF$UID`.
        var isUIDKey = false
        var uid: UInt32?
    }

    private struct Key {
        var text: ExactText
        var number: UInt32
    }

    /// An object, and the value of an integer, which a dictionary with the only key `CF$UID` needs.
    private typealias Value = (number: UInt32, integer: Int128?)

    private var scanner: XMLScanner
    private let limits: PropertyListLimits
    private let table = BinaryPropertyListWriter()
    private var open: [Open] = []
    /// Objects of the open containers, innermost last.
    private var objects: [UInt32] = []
    private var keys: [Key] = []
    /// What is read otherwise than it stands there.
    private var findings = PropertyListFindings()
    private var pace = InterruptionPace()
    /// The value of the document after it is read.
    private var finished: UInt32?

    private mutating func document() throws(PropertyListError) -> UInt32 {
        try scanner.prologue()
        guard let first = try scanner.tag() else { throw scanner.error("there is no value") }
        var isWrapped = false
        var tag = first
        if first.name == "plist" {
            guard first.form == .start else { throw scanner.error("the property list is empty") }
            isWrapped = true
            guard let next = try scanner.tag() else { throw scanner.error("the property list is not closed") }
            tag = next
        }
        guard tag.form != .end else { throw scanner.error("the property list is empty") }
        let top = try value(from: tag)
        finished = top
        if isWrapped {
            guard let end = try scanner.tag(), end.form == .end, end.name == "plist" else {
                throw scanner.error("after the one value of a property list </plist> is expected")
            }
        }
        return top
    }

    /// Reads the value of a start tag, without recursion.
    private mutating func value(from first: XMLTag) throws(PropertyListError) -> UInt32 {
        var tag = first
        while true {
            if pace.isDue() { throw scanner.error(Interruption.message) }
            var result: Value?
            switch (tag.name, tag.form) {
            case ("dict", .start), ("array", .start):
                guard open.count < limits.maximumDepth else {
                    throw scanner.error("containers nest deeper than the limit of \(limits.maximumDepth)")
                }
                open.append(
                    Open(
                        isDictionary: tag.name == "dict", position: scanner.position, start: objects.count,
                        keyStart: keys.count))
            case ("dict", .empty): result = (table.dictionary(count: 0).number, nil)
            case ("array", .empty): result = (table.array(count: 0).number, nil)
            case ("dict", .end), ("array", .end): result = (try close(tag.name), nil)
            case ("key", .start), ("key", .empty): try key(tag)
            case (_, .end): throw scanner.error("</\(tag.name)> closes nothing")
            default: result = try leaf(tag)
            }
            if let result {
                guard let last = open.indices.last else { return result.number }
                try place(result, in: last)
            }
            guard let next = try scanner.tag() else {
                let place = open.last.map { " (opened on line \(scanner.line(at: $0.position)))" } ?? ""
                throw scanner.error("the property list ends inside a container\(place)")
            }
            tag = next
        }
    }

    private mutating func place(_ value: Value, in index: Int) throws(PropertyListError) {
        if open[index].isDictionary {
            guard open[index].pendingKey != nil else {
                throw scanner.error("a value in a dictionary has no key before it")
            }
            open[index].pendingKey = nil
            open[index].uid = nil
            if open[index].isUIDKey, keys.count == open[index].keyStart + 1, let integer = value.integer {
                guard let uid = UInt32(exactly: integer) else {
                    throw scanner.error("a UID is out of range: \(integer)")
                }
                open[index].uid = uid
            }
        }
        objects.append(value.number)
    }

    private mutating func close(_ name: String) throws(PropertyListError) -> UInt32 {
        // An unclosed container stays open with its contents, for the salvage.
        guard let container = open.last, container.isDictionary == (name == "dict") else {
            throw scanner.error("</\(name)> closes nothing")
        }
        guard container.pendingKey == nil else { throw scanner.error("a key in a dictionary has no value") }
        open.removeLast()
        let count = objects.count - container.start
        defer {
            objects.removeSubrange(container.start...)
            if container.isDictionary { keys.removeSubrange(container.keyStart...) }
        }
        guard container.isDictionary else {
            let (number, references) = table.array(count: count)
            for index in 0..<count { table.setReference(index, in: references, to: objects[container.start + index]) }
            return number
        }
        if count == 1, let uid = container.uid { return table.uid(uid) }
        // As Apple's reader has it.
        var entries = LastEntries<ExactText>()
        for index in 0..<count {
            let key = keys[container.keyStart + index]
            if !entries.add(key.text, key.number, objects[container.start + index]) {
                report(
                    "the key “\(key.text.string.prefix(40))” stands twice in a dictionary; the last counts",
                    container.position)
            }
        }
        return table.dictionary(of: entries.all)
    }

    private mutating func report(_ message: String, _ position: Int) {
        let line = findings.isFull ? 0 : scanner.line(at: position)
        findings.add(PropertyListFinding(.warning, message, line: line))
    }

    private mutating func key(_ tag: XMLTag) throws(PropertyListError) {
        guard let last = open.indices.last, open[last].isDictionary, open[last].pendingKey == nil else {
            throw scanner.error("a <key> stands where a value is expected")
        }
        let text = tag.form == .empty ? "" : try scanner.text(until: "key")
        let number = table.string(text)
        open[last].isUIDKey = text == "CF$UID"
        open[last].pendingKey = number
        keys.append(Key(text: ExactText(text), number: number))
    }

    /// Reads base64, of which Apple's reader takes the digits and skips all else.
    private mutating func data() throws(PropertyListError) -> UInt32 {
        let position = scanner.position
        let text = try scanner.text(until: "data")
        let bytes = Base64.decode(text.utf8)
        if !Base64.isValid(text.utf8) {
            guard !bytes.isEmpty else {
                throw scanner.error("“\(XMLNumber.trimmed(text).prefix(40))” is not Base64")
            }
            report(
                "the data is not Base64 throughout; it reads as \(bytes.count.counted("byte"))", position)
        }
        return table.data(bytes)
    }

    private mutating func leaf(_ tag: XMLTag) throws(PropertyListError) -> Value {
        switch tag.name {
        case "true", "false":
            if tag.form == .start {
                guard try scanner.text(until: tag.name).isEmpty else {
                    throw scanner.error("<\(tag.name)> has no content")
                }
            }
            return (table.boolean(tag.name == "true"), nil)
        case "string": return (table.string(tag.form == .empty ? "" : try scanner.text(until: "string")), nil)
        case "data": return (tag.form == .start ? try data() : table.data([]), nil)
        case "integer":
            let value = try parsed(tag, "an integer from -2^63 to 2^64-1", XMLNumber.integer)
            return (table.integer(value), value)
        case "real": return (table.real(try parsed(tag, "a real", XMLNumber.real)), nil)
        case "date":
            let position = scanner.position
            var given: Substring = ""
            let (date, isOfCalendar) = try parsed(tag, "a date of the form 2026-11-21T04:13:00Z") { text in
                given = XMLNumber.trimmed(text)
                return PropertyListDateText.parse(given.utf8)
            }
            if !isOfCalendar {
                report("no calendar has the date “\(given)”; it reads as \(date.xmlText ?? "another")", position)
            }
            return (table.date(date), nil)
        default:
            throw scanner.error("<\(tag.name.prefix(40))> is not an element of a property list")
        }
    }

    /// The value of an element's text.
    private mutating func parsed<Parsed>(
        _ tag: XMLTag, _ what: String, _ parse: (String) -> Parsed?
    ) throws(PropertyListError) -> Parsed {
        guard tag.form == .start else { throw scanner.error("<\(tag.name)/> has no value") }
        let text = try scanner.text(until: tag.name)
        guard let value = parse(text) else { throw scanner.error("“\(text.prefix(40))” is not \(what)") }
        return value
    }
}
