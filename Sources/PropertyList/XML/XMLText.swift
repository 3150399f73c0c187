/// Converts the bytes of an XML document to UTF-8.
enum XMLText {
    static func utf8(_ bytes: UnsafeRawBufferPointer) throws(PropertyListError) -> [UInt8] {
        let form = TextForm(bytes)
        let content = bytes.dropFirst(form.markLength)
        if let highFirst = form.highFirst { return try wide(content, highFirst: highFirst) }
        if form.markLength > 0 { return try checked(content) }
        switch declaredEncoding(bytes) {
        case nil, "utf-8", "utf8", "us-ascii", "ascii": return try checked(content)
        case "iso-8859-1", "latin1", "iso_8859-1":
            return Array(String(String.UnicodeScalarView(bytes.lazy.map { Unicode.Scalar($0) })).utf8)
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
