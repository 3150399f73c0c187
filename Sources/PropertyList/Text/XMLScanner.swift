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
        repeat { while try skipMarkup() {} } while try skipDocumentType()
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
        while position < bytes.count, bytes[position] != UInt8(ascii: "<") {
            if skipQuoted() { continue }
            position += 1
            if bytes[position - 1] == UInt8(ascii: ">") {
                if bytes[position - 2] == UInt8(ascii: "/"), form == .start { form = .empty }
                return XMLTag(name: name, form: form)
            }
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
        while position < bytes.count, bytes[position] != UInt8(ascii: ">") {
            guard bytes[position] != UInt8(ascii: "[") else {
                throw error("a document type with an internal subset is refused")
            }
            if !skipQuoted() { position += 1 }
        }
        guard position < bytes.count else { throw error("the document type is not closed") }
        position += 1
        return true
    }

    /// Moves past a text in quotes, if one begins here.
    private mutating func skipQuoted() -> Bool {
        let quote = bytes[position]
        guard quote == UInt8(ascii: "\"") || quote == UInt8(ascii: "'") else { return false }
        position = bytes[(position + 1)...].firstIndex(of: quote).map { $0 + 1 } ?? bytes.count
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

/// Converts the bytes of an XML document to UTF-8.
package enum XMLText {
    /// The first character of a text that XML 1.0 does not have, as `U+0001`; nil for a text that every reader of XML takes.
    static func foreign(in text: String) -> String? {
        let isSuspect = { (byte: UInt8) in byte < 0x20 || byte == 0xEF }
        guard text.utf8.contains(where: isSuspect) else { return nil }
        let scalar = text.unicodeScalars.first { scalar in
            switch scalar.value {
            case 0x09, 0x0A, 0x0D: false
            case 0..<0x20, 0xFFFE, 0xFFFF: true
            default: false
            }
        }
        guard let digits = scalar.map({ String($0.value, radix: 16, uppercase: true) }) else { return nil }
        return "U+" + String(repeating: "0", count: 4 - digits.count) + digits
    }

    static func utf8(_ bytes: UnsafeRawBufferPointer) throws(PropertyListError) -> [UInt8] {
        let form = TextForm(bytes)
        let content = bytes.dropFirst(form.markLength)
        if let highFirst = form.highFirst { return try wide(content, highFirst: highFirst) }
        if form.markLength > 0 { return try checked(content) }
        switch declaredEncoding(bytes) {
        case nil, "utf-8", "utf8", "us-ascii", "ascii": return try checked(content)
        case "iso-8859-1", "latin1", "iso_8859-1":
            return Array(String(latin1: bytes).utf8)
        case let name?:
            throw PropertyListError(
                code: .readUnknownVersion,
                message: "the encoding \(name) is not supported; UTF-8, UTF-16 and ISO-8859-1 are")
        }
    }

    /// The UTF-8 of text in UTF-8 or UTF-16 without a declaration, as OpenStep's property lists are. A part of a file may
    /// end within a character.
    static func openStep(_ bytes: UnsafeRawBufferPointer, isPart: Bool = false) throws(PropertyListError) -> [UInt8] {
        let form = TextForm(bytes)
        let content = bytes.dropFirst(form.markLength)
        if let highFirst = form.highFirst {
            return try wide(isPart ? content.prefix(content.count & ~3) : content, highFirst: highFirst)
        }
        return isPart ? Array(String(decoding: content, as: UTF8.self).utf8) : try checked(content)
    }

    private static func checked(
        _ bytes: Slice<UnsafeRawBufferPointer>
    ) throws(PropertyListError) -> [UInt8] {
        guard String(validating: bytes, as: UTF8.self) != nil else {
            throw .corrupt("the text is not valid UTF-8")
        }
        return Array(bytes)
    }

    private static func wide(
        _ bytes: Slice<UnsafeRawBufferPointer>, highFirst: Bool
    ) throws(PropertyListError) -> [UInt8] {
        guard bytes.count % 2 == 0 else { throw .corrupt("the text is not valid UTF-16") }
        let start = bytes.startIndex
        let units = (0..<bytes.count / 2).lazy.map { index -> UInt16 in
            let first = UInt16(bytes[start + index * 2])
            let second = UInt16(bytes[start + index * 2 + 1])
            return highFirst ? first << 8 | second : second << 8 | first
        }
        guard let text = String(validating: units, as: UTF16.self) else {
            throw .corrupt("the text is not valid UTF-16")
        }
        return Array(text.utf8)
    }

    /// The encoding in the XML declaration, in lower case.
    private static func declaredEncoding(_ bytes: UnsafeRawBufferPointer) -> String? {
        let head = String(decoding: bytes.prefix(256), as: UTF8.self)
        guard head.hasPrefix("<?xml"), let end = head.firstRange(of: "?>"),
            let name = head[..<end.lowerBound].firstRange(of: "encoding")
        else { return nil }
        let rest = head[name.upperBound..<end.lowerBound].drop { $0.is(" ") || $0.is("=") }
        guard let quote = rest.first, quote.is("\"") || quote.is("'") else { return nil }
        return rest.dropFirst().prefix { $0 != quote }.lowercased()
    }
}

/// The encoding of a text, by its mark or, without one, by the zeros beside its first character.
struct TextForm {
    /// The length of the byte order mark; 0 without one.
    let markLength: Int
    /// For UTF-16 whether the high byte comes first; nil for a text of bytes.
    let highFirst: Bool?

    init(_ bytes: UnsafeRawBufferPointer) {
        if bytes.starts(with: [0xEF, 0xBB, 0xBF]) {
            (markLength, highFirst) = (3, nil)
        } else if bytes.starts(with: [0xFE, 0xFF]) || bytes.starts(with: [0xFF, 0xFE]) {
            (markLength, highFirst) = (2, bytes[0] == 0xFE)
        } else if bytes.count >= 2, (bytes[0] == 0) != (bytes[1] == 0) {
            (markLength, highFirst) = (0, bytes[0] == 0)
        } else {
            (markLength, highFirst) = (0, nil)
        }
    }
}
