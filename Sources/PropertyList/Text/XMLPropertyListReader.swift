/// Reads an XML property list. Each value is added to a binary object table as it is read.
///
/// Everything else reads the binary form, so that XML archives need no further reader.
struct XMLPropertyListReader {
    /// Converts the property list to the binary form.
    static func binary(
        from bytes: UnsafeRawBufferPointer, limits: PropertyListLimits
    ) throws(PropertyListError) -> PropertyListStorage {
        guard bytes.count <= limits.maximumBytes else {
            throw .corrupt("the property list has \(bytes.count) bytes, the limit is \(limits.maximumBytes)")
        }
        let text = try XMLText.utf8(bytes)
        var reader = XMLPropertyListReader(scanner: XMLScanner(text), limits: limits)
        let top = try reader.document()
        return PropertyListStorage(try reader.table.finish(topObject: top))
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
                try? place(.object(number), in: outer)
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

    private enum Value {
        case object(UInt32)
        /// An integer and its value, which a dictionary with the only key `CF$UID` needs.
        case integer(UInt32, Int128)
    }

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
                        keyStart: keys.count, pendingKey: nil, uid: nil))
            case ("dict", .empty):
                result = .object(table.dictionary(count: 0).number)
            case ("array", .empty):
                result = .object(table.array(count: 0).number)
            case ("dict", .end), ("array", .end):
                result = .object(try close(tag.name))
            case ("key", .start), ("key", .empty):
                try key(tag)
            case (_, .end):
                throw scanner.error("</\(tag.name)> closes nothing")
            default:
                result = try leaf(tag)
            }
            if let result {
                guard let last = open.indices.last else {
                    switch result {
                    case .object(let number), .integer(let number, _): return number
                    }
                }
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
        let number: UInt32
        var integer: Int128?
        switch value {
        case .object(let object): number = object
        case .integer(let object, let value): (number, integer) = (object, value)
        }
        if open[index].isDictionary {
            guard open[index].pendingKey != nil else {
                throw scanner.error("a value in a dictionary has no key before it")
            }
            open[index].pendingKey = nil
            open[index].uid = nil
            if open[index].isUIDKey, keys.count == open[index].keyStart + 1, let integer {
                guard let uid = UInt32(exactly: integer) else {
                    throw scanner.error("a UID is out of range: \(integer)")
                }
                open[index].uid = uid
            }
        }
        objects.append(number)
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
        return table.dictionary(
            of: lastOfEqualKeys(in: container, count: count).map { index in
                (key: keys[container.keyStart + index].number, value: objects[container.start + index])
            })
    }

    /// The places of a dictionary's entries, of equal keys the last, as Apple's reader has it.
    private mutating func lastOfEqualKeys(in container: Open, count: Int) -> [Int] {
        guard count > 1 else { return Array(0..<count) }
        var places: [ExactText: Int] = [:]
        var entries: [Int] = []
        entries.reserveCapacity(count)
        for index in 0..<count {
            let key = keys[container.keyStart + index].text
            if let place = places.updateValue(entries.count, forKey: key) {
                places[key] = place
                entries[place] = index
                report(
                    "the key “\(key.string.prefix(40))” stands twice in a dictionary; the last counts",
                    container.position)
            } else {
                entries.append(index)
            }
        }
        return entries
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
        return bytes.withUnsafeBytes { table.data($0) }
    }

    private mutating func leaf(_ tag: XMLTag) throws(PropertyListError) -> Value {
        switch tag.name {
        case "true", "false":
            if tag.form == .start {
                guard try scanner.text(until: tag.name).isEmpty else {
                    throw scanner.error("<\(tag.name)> has no content")
                }
            }
            return .object(table.boolean(tag.name == "true"))
        case "string":
            return .object(table.string(tag.form == .empty ? "" : try scanner.text(until: "string")))
        case "data":
            guard tag.form == .start else { return .object(table.data(UnsafeRawBufferPointer(start: nil, count: 0))) }
            return .object(try data())
        case "integer", "real", "date":
            guard tag.form == .start else { throw scanner.error("<\(tag.name)/> has no value") }
            let text = try scanner.text(until: tag.name)
            if tag.name == "integer" {
                guard let value = XMLNumber.integer(text) else {
                    throw scanner.error("“\(text.prefix(40))” is not an integer from -2^63 to 2^64-1")
                }
                return .integer(table.integer(value), value)
            }
            if tag.name == "real" {
                guard let value = XMLNumber.real(text) else {
                    throw scanner.error("“\(text.prefix(40))” is not a real")
                }
                return .object(table.real(value))
            }
            guard let value = PropertyListDateText.parse(XMLNumber.trimmed(text).utf8) else {
                throw scanner.error("“\(text.prefix(40))” is not a date of the form 2026-11-21T04:13:00Z")
            }
            return .object(table.date(value))
        default:
            throw scanner.error("<\(tag.name.prefix(40))> is not an element of a property list")
        }
    }
}
