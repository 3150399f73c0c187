/// A tag of an XML property list.
struct XMLTag {
    enum Form {
        case start, end, empty
    }

    var name: String
    var form: Form
}

/// Finds the tags and texts of an XML property list in UTF-8.
///
/// It accepts everything in real property lists, raw control characters included, and nothing that expands: only the
/// five named references and numeric ones, no entities, no internal subset.
struct XMLScanner {
    private let bytes: [UInt8]
    private(set) var position = 0

    init(_ bytes: [UInt8]) {
        self.bytes = bytes
    }

    /// The line of a position, from 1. O(position), for messages.
    func line(at position: Int) -> Int {
        bytes[..<min(position, bytes.count)].reduce(1) { $1 == 0x0A ? $0 + 1 : $0 }
    }

    func error(_ message: String) -> PropertyListError {
        PropertyListError(code: .readCorrupt, message: message, byteOffset: position, line: line(at: position))
    }

    /// Skips the declaration, comments and the document type.
    mutating func prologue() throws(PropertyListError) {
        while true {
            let isMarkup = try skipMarkup()
            if isMarkup { continue }
            guard try skipDocumentType() else { return }
        }
    }

    /// Whether the root of a property list, or its document type, follows the comments and instructions. A comment that
    /// does not end, as in the beginning of a file, leaves it open: true.
    mutating func beginsPropertyList() -> Bool {
        while true {
            let isComment = starts("<!--") || starts("<?xml")
            guard let isSkipped = try? skipMarkup() else { return isComment }
            if !isSkipped { break }
        }
        if starts("<plist") { return true }
        guard starts("<!DOCTYPE") else { return position == bytes.count }
        position += 9
        while position < bytes.count, bytes[position] <= 0x20 { position += 1 }
        return starts("plist")
    }

    /// The next tag, or nil at the end of the input. Only space, comments and instructions may precede it.
    mutating func tag() throws(PropertyListError) -> XMLTag? {
        while try skipMarkup() {}
        guard position < bytes.count else { return nil }
        guard bytes[position] == UInt8(ascii: "<") else {
            throw error("text stands where an element is expected")
        }
        position += 1
        var form = XMLTag.Form.start
        if position < bytes.count, bytes[position] == UInt8(ascii: "/") {
            form = .end
            position += 1
        }
        let start = position
        while position < bytes.count, isNameByte(bytes[position]) { position += 1 }
        guard position > start else { throw error("a tag has no name") }
        let name = String(decoding: bytes[start..<position], as: UTF8.self)
        // Attributes have no meaning in a property list, and their quoted values may contain any character.
        var quote: UInt8?
        while position < bytes.count {
            let byte = bytes[position]
            if let open = quote {
                if byte == open { quote = nil }
            } else if byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "'") {
                quote = byte
            } else if byte == UInt8(ascii: ">") {
                if bytes[position - 1] == UInt8(ascii: "/"), form == .start { form = .empty }
                position += 1
                return XMLTag(name: name, form: form)
            } else if byte == UInt8(ascii: "<") {
                break
            }
            position += 1
        }
        throw error("the tag <\(name.prefix(40)) is not closed")
    }

    /// The text up to the end tag of `name`, its references resolved.
    mutating func text(until name: String) throws(PropertyListError) -> String {
        var out: [UInt8] = []
        while position < bytes.count {
            let byte = bytes[position]
            if byte == UInt8(ascii: "&") {
                try reference(into: &out)
            } else if byte == UInt8(ascii: "<") {
                if starts("<![CDATA[") {
                    position += 9
                    let start = position
                    guard seek("]]>") else { throw error("a CDATA section is not closed") }
                    out.append(contentsOf: bytes[start..<position - 3])
                    continue
                }
                guard starts("</") else { throw error("<\(name)> holds something that is not text") }
                guard let end = try tag(), end.form == .end, end.name == name else {
                    throw error("<\(name)> is not closed by </\(name)>")
                }
                return String(decoding: out, as: UTF8.self)
            } else {
                out.append(byte)
                position += 1
            }
        }
        throw error("<\(name)> is not closed")
    }

    private mutating func reference(into out: inout [UInt8]) throws(PropertyListError) {
        let start = position + 1
        var end = start
        while end < bytes.count, end - start < 16, bytes[end] != UInt8(ascii: ";") { end += 1 }
        guard end < bytes.count, bytes[end] == UInt8(ascii: ";") else {
            throw error("an “&” begins no reference; write &amp;")
        }
        let name = String(decoding: bytes[start..<end], as: UTF8.self)
        let scalar: Unicode.Scalar?
        switch name {
        case "lt": scalar = "<"
        case "gt": scalar = ">"
        case "amp": scalar = "&"
        case "apos": scalar = "'"
        case "quot": scalar = "\""
        default:
            if name.hasPrefix("#x") {
                scalar = UInt32(name.dropFirst(2), radix: 16).flatMap(Unicode.Scalar.init)
            } else if name.hasPrefix("#") {
                scalar = UInt32(name.dropFirst()).flatMap(Unicode.Scalar.init)
            } else {
                scalar = nil
            }
        }
        guard let scalar else { throw error("the reference &\(name); is unknown") }
        out.append(contentsOf: Array(String(Character(scalar)).utf8))
        position = end + 1
    }

    /// Skips space, a comment or an instruction. False when there is none.
    private mutating func skipMarkup() throws(PropertyListError) -> Bool {
        guard position < bytes.count else { return false }
        switch bytes[position] {
        case 0x20, 0x09, 0x0A, 0x0D:
            position += 1
            return true
        case UInt8(ascii: "<"):
            if starts("<!--") {
                position += 4
                guard seek("-->") else { throw error("a comment is not closed") }
                return true
            }
            if starts("<?") {
                guard seek("?>") else { throw error("an instruction is not closed") }
                return true
            }
            return false
        default:
            return false
        }
    }

    private mutating func skipDocumentType() throws(PropertyListError) -> Bool {
        guard starts("<!DOCTYPE") else { return false }
        var quote: UInt8?
        while position < bytes.count, quote != nil || bytes[position] != UInt8(ascii: ">") {
            let byte = bytes[position]
            if let open = quote {
                if byte == open { quote = nil }
            } else if byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "'") {
                quote = byte
            }
            guard quote != nil || byte != UInt8(ascii: "[") else {
                throw error("a document type with an internal subset is refused")
            }
            position += 1
        }
        guard position < bytes.count else { throw error("the document type is not closed") }
        position += 1
        return true
    }

    private func starts(_ text: StaticString) -> Bool {
        text.withUTF8Buffer { bytes[position...].starts(with: $0) }
    }

    /// Moves past the next occurrence of a text. False when there is none.
    private mutating func seek(_ text: StaticString) -> Bool {
        while position < bytes.count {
            if starts(text) {
                position += text.utf8CodeUnitCount
                return true
            }
            position += 1
        }
        return false
    }

    private func isNameByte(_ byte: UInt8) -> Bool {
        byte >= 0x80 || (0x30...0x3A).contains(byte) || (0x41...0x5A).contains(byte) || (0x61...0x7A).contains(byte)
            || byte == UInt8(ascii: "_") || byte == UInt8(ascii: "-") || byte == UInt8(ascii: ".")
    }
}
