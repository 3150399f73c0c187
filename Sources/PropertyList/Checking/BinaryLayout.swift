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
        var wrongOffsets: [Part] = []
        for number in 0..<reader.objectCount {
            do throws(PropertyListError) { starts.append((try reader.offset(of: number), number)) } catch {
                let place = table + number * reader.offsetSize
                wrongOffsets.append(
                    Part(kind: .damage, range: place..<place + reader.offsetSize, meaning: error.description))
            }
        }
        starts.sort { ($0.offset, $0.number) < ($1.offset, $1.number) }
        let version = String(decoding: reader.storage.bytes.prefix(8).suffix(2), as: UTF8.self)
        var parts = [Part(kind: .header, range: 0..<8, meaning: "header: a binary property list, version \(version)")]
        var end = 8
        func skip(to next: Int, _ meaning: String = "bytes that no object has") {
            if end < next { parts.append(Part(kind: .unused, range: end..<next, meaning: meaning)) }
            end = max(end, next)
        }
        // Containers of a hostile file may share their references: together they are shown once.
        var budget = 4 * count
        for (offset, number) in starts {
            skip(to: offset)
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
        skip(to: table)
        end = table + reader.objectCount * reader.offsetSize
        parts.append(
            Part(
                kind: .offsets, range: table..<end,
                meaning: "offset table: where each of \(reader.objectCount) objects begins, in "
                    + "\(reader.offsetSize.counted("byte")) each"))
        parts += wrongOffsets
        let trailer = count - 32
        skip(to: trailer, "bytes before the trailer")
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
            let meaning = try description(number, at: offset, reader, limit)
            let size = try reader.size(ofObjectAt: offset)
            return Part(kind: .object(number), range: offset..<offset + size, meaning: "#\(number) \(meaning)")
        } catch {
            return Part(kind: .damage, range: offset..<offset + 1, meaning: "#\(number) \(error.description)")
        }
    }

    /// What an object is.
    private static func description(
        _ number: Int, at offset: Int, _ reader: BinaryPropertyListReader, _ limit: Int
    ) throws(PropertyListError) -> String {
        let marker = Int(reader.marker(at: offset))
        switch try reader.kind(of: number) {
        case .null: return "null"
        case .boolean: return marker == 9 ? "true" : "false"
        case .integer, .real:
            let value = try reader.number(at: number).map(\.description) ?? ""
            let size = 1 << (marker & 0x0F)
            return "\(marker & 0xF0 == 0x10 ? "integer" : "real") of \(size.counted("byte")): \(value)"
        case .date: return "date: \(try reader.date(at: number)?.text ?? "")"
        case .uid: return "UID \(try reader.uid(at: number) ?? 0)"
        case .data: return "data, \((try reader.data(at: number)?.count ?? 0).counted("byte"))"
        case .string:
            let isWide = marker & 0xF0 == 0x60
            let (count, start) = try reader.payload(at: offset, unit: isWide ? 2 : 1)
            let shown = min(count, limit)
            let text =
                isWide
                ? String(decoding: reader.units(shown, from: start), as: UTF16.self)
                : String(latin1: UnsafeRawBufferPointer(start: reader.base + start, count: shown))
            let kind = isWide ? "UTF-16, \(count.counted("unit"))" : "ASCII, \(count.counted("character"))"
            return "\(kind): \(text.quoted())\(shown < count ? "…" : "")"
        case .array, .set, .dictionary: return try container(number, reader, limit)
        }
    }

    private static func container(
        _ number: Int, _ reader: BinaryPropertyListReader, _ limit: Int
    ) throws(PropertyListError) -> String {
        guard let container = try reader.container(at: number) else { return "" }
        let name = "\(container.kind)"
        guard container.count > 0 else { return "\(name), empty" }
        func list(_ reference: (Int) -> Int) -> String {
            let shown = (0..<min(container.count, limit)).map { "#\(reference($0))" }.joined(separator: " ")
            return shown + (container.count > limit ? " …" : "")
        }
        let references = list { reader.reference($0, in: container) }
        guard container.kind == .dictionary else {
            return "\(name), \(container.count.counted("element")): \(references)"
        }
        let values = list { reader.valueReference($0, in: container) }
        return "\(name), \(container.count.counted("entry")): keys \(references), values \(values)"
    }
}
