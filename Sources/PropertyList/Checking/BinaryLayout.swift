/// The bytes of a binary property list, part by part, with the meaning of each: header, objects, offset table, trailer.
///
/// Parts are in the order of the bytes, so the objects are in that of their offsets. Bytes that no part has, and objects
/// that cannot be read, are parts, too: the sum of all is the file, unless objects share bytes.
package struct BinaryLayout {
    /// A part of the file.
    package struct Part: Sendable, Hashable {
        package enum Kind: Sendable, Hashable {
            case header
            /// An object with its number.
            case object(Int)
            case offsets, trailer
            /// Bytes that nothing refers to.
            case unused
            /// An object that cannot be read.
            case damage
        }

        package let kind: Kind
        /// The bytes, by their place in the file.
        package let range: Range<Int>
        package let meaning: String
        /// Whether an object before it has some of the bytes, too.
        package var isShared = false
    }

    package let parts: [Part]

    /// - Parameters:
    ///   - reader: an open property list, whose trailer is valid.
    ///   - limit: how many characters of a text, and how many references of a container, are shown.
    package init(_ reader: BinaryPropertyListReader, limit: Int = 40) {
        let count = reader.storage.bytes.count
        let table = reader.tableOffset
        var starts: [(offset: Int, number: Int)] = []
        var parts: [Part] = []
        for number in 0..<reader.objectCount {
            do throws(PropertyListError) { starts.append((try reader.offset(of: number), number)) } catch {
                let place = table + number * reader.offsetSize
                parts.append(
                    Part(kind: .damage, range: place..<place + reader.offsetSize, meaning: error.description))
            }
        }
        starts.sort { ($0.offset, $0.number) < ($1.offset, $1.number) }
        let wrongOffsets = parts
        let version = String(decoding: reader.storage.bytes.prefix(8).suffix(2), as: UTF8.self)
        parts = [Part(kind: .header, range: 0..<8, meaning: "header: a binary property list, version \(version)")]
        var end = 8
        // Containers of a hostile file may share their references: together they are shown once.
        var budget = 4 * count
        for (offset, number) in starts {
            if offset > end {
                parts.append(Part(kind: .unused, range: end..<offset, meaning: "bytes that no object has"))
            }
            var part = Self.object(number, at: offset, reader, min(limit, max(40, budget)))
            budget -= part.meaning.utf8.count
            if offset < end {
                part = Part(
                    kind: part.kind, range: part.range, meaning: "\(part.meaning); shares bytes with the one before",
                    isShared: true)
            }
            parts.append(part)
            end = max(end, part.range.upperBound)
        }
        if end < table { parts.append(Part(kind: .unused, range: end..<table, meaning: "bytes that no object has")) }
        let tableEnd = table + reader.objectCount * reader.offsetSize
        parts.append(
            Part(
                kind: .offsets, range: table..<tableEnd,
                meaning: "offset table: where each of \(reader.objectCount) objects begins, in \(reader.offsetSize) "
                    + "\(reader.offsetSize == 1 ? "byte" : "bytes") each"))
        parts += wrongOffsets
        if tableEnd < count - 32 {
            parts.append(Part(kind: .unused, range: tableEnd..<count - 32, meaning: "bytes before the trailer"))
        }
        let trailer = count - 32
        parts += [
            (0, 5, "trailer: unused"), (5, 1, "sort version"),
            (6, 1, "size of an offset: \(reader.offsetSize)"), (7, 1, "size of a reference: \(reader.referenceSize)"),
            (8, 8, "number of objects: \(reader.objectCount)"), (16, 8, "top object: #\(reader.topObject)"),
            (24, 8, "the offset table begins at \(table)"),
        ].map { Part(kind: .trailer, range: trailer + $0..<trailer + $0 + $1, meaning: $2) }
        self.parts = parts
    }

    private static func object(
        _ number: Int, at offset: Int, _ reader: BinaryPropertyListReader, _ limit: Int
    ) -> Part {
        do throws(PropertyListError) {
            let (size, meaning) = try description(number, at: offset, reader, limit)
            return Part(kind: .object(number), range: offset..<offset + size, meaning: "#\(number) \(meaning)")
        } catch {
            return Part(kind: .damage, range: offset..<offset + 1, meaning: "#\(number) \(error.description)")
        }
    }

    /// The size of an object in bytes, and what it is.
    private static func description(
        _ number: Int, at offset: Int, _ reader: BinaryPropertyListReader, _ limit: Int
    ) throws(PropertyListError) -> (size: Int, meaning: String) {
        let marker = Int(reader.marker(at: offset))
        func extent(_ unit: Int) throws(PropertyListError) -> Int {
            let (count, start) = try reader.payload(at: offset, unit: unit)
            return start - offset + count * unit
        }
        switch try reader.kind(of: number) {
        case .null: return (1, "null")
        case .boolean: return (1, marker == 9 ? "true" : "false")
        case .integer, .real:
            let value = try reader.number(at: number).map(\.description) ?? ""
            let size = 1 << (marker & 0x0F)
            return (
                1 + size,
                "\(marker & 0xF0 == 0x10 ? "integer" : "real") of \(size) \(size == 1 ? "byte" : "bytes"): \(value)"
            )
        case .date: return (9, "date: \(try reader.date(at: number)?.text ?? "")")
        case .uid: return (2 + marker & 0x0F, "UID \(try reader.uid(at: number) ?? 0)")
        case .data:
            let bytes = try reader.data(at: number)?.count ?? 0
            return (try extent(1), "data, \(bytes.counted("byte"))")
        case .string:
            let isWide = marker & 0xF0 == 0x60
            let (count, start) = try reader.payload(at: offset, unit: isWide ? 2 : 1)
            let size = start - offset + count * (isWide ? 2 : 1)
            let shown = min(count, limit)
            let text =
                isWide
                ? String(decoding: reader.units(shown, from: start), as: UTF16.self)
                : String(
                    String.UnicodeScalarView(
                        UnsafeRawBufferPointer(start: reader.base + start, count: shown).lazy.map {
                            Unicode.Scalar($0)
                        }))
            let kind = isWide ? "UTF-16, \(count.counted("unit"))" : "ASCII, \(count.counted("character"))"
            return (size, "\(kind): \(text.quoted())\(shown < count ? "…" : "")")
        case .array, .set, .dictionary: return try container(number, reader, extent, limit)
        }
    }

    private static func container(
        _ number: Int, _ reader: BinaryPropertyListReader, _ extent: (Int) throws(PropertyListError) -> Int,
        _ limit: Int
    ) throws(PropertyListError) -> (size: Int, meaning: String) {
        guard let container = try reader.container(at: number) else { return (1, "") }
        func list(_ reference: (Int) -> Int) -> String {
            let shown = (0..<min(container.count, limit)).map { "#\(reference($0))" }.joined(separator: " ")
            return shown + (container.count > limit ? " …" : "")
        }
        let unit = reader.referenceSize
        switch container.kind {
        case .dictionary:
            let keys = list { reader.reference($0, in: container) }
            let values = list { reader.valueReference($0, in: container) }
            let entries = container.count.counted("entry")
            return (
                try extent(unit * 2),
                container.count == 0 ? "dictionary, empty" : "dictionary, \(entries): keys \(keys), values \(values)"
            )
        case let kind:
            let name = kind == .set ? "set" : "array"
            let elements = list { reader.reference($0, in: container) }
            return (
                try extent(unit),
                container.count == 0 ? "\(name), empty" : "\(name), \(container.count.counted("element")): \(elements)"
            )
        }
    }
}
