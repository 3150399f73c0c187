import Files
import KeyedArchive
import PropertyList

/// `cubby inspect --bytes FILE`: the bytes of a binary property list, and what each of them means.
struct BytesView {
    private let output: TextOutput
    private let isFull: Bool
    private static let width = 16
    /// How many lines of an object's bytes are shown.
    private static let lineCount = 4

    /// - Parameters:
    ///   - output: receives the lines.
    ///   - isFull: whether long objects are shown whole.
    init(_ output: TextOutput, isFull: Bool) { (self.output, self.isFull) = (output, isFull) }

    /// - Throws: the exit status, after a message, for a file that is none.
    func show(_ file: String, _ provenance: Provenance) throws {
        let name = ArchiveFiles.name(file)
        let bytes = try ArchiveFiles.bytes(of: file, provenance)
        let format = bytes.withUnsafeBytes { PropertyListFormat(detecting: $0) }
        guard format == .binary else {
            let advice =
                format == .xml
                ? "it is XML: cubby convert \(OptionWords.argument(file)) OUT.plist writes it as one"
                : "it does not begin with bplist"
            provenance.recordRead(file, bytes, kind: "not a binary property list")
            provenance.recordUnread(file, reason: "not a binary property list")
            throw CommandFailure.exit(.badData, "\(name) is not a binary property list; \(advice)")
        }
        let reader: BinaryPropertyListReader
        do throws(PropertyListError) { reader = try BinaryPropertyListReader(bytes) } catch {
            provenance.recordRead(file, bytes, kind: "binary property list, damaged")
            provenance.recordUnread(file, reason: error.description)
            draw(0..<min(bytes.count, 8), bytes, "header", .label)
            output.flush()
            throw CommandFailure.exit(.badData, "\(name): \(error); cubby check finds what can be rescued")
        }
        provenance.recordRead(file, bytes, kind: ArchiveTree(reader).kind(of: bytes))
        let digits = String(bytes.count, radix: 16).count
        output.line([(.detail, "\(bytes.count.counted("byte")), \(reader.objectCount.counted("object"))")])
        var damage: String?
        for part in BinaryLayout(reader, limit: isFull ? .max : 40).parts where !output.isClosed {
            switch part.kind {
            case .header, .offsets, .trailer: draw(part.range, bytes, part.meaning, .label, digits, isWhole: isFull)
            case .object: draw(part.range, bytes, part.meaning, .string, digits, isWhole: isFull && !part.isShared)
            case .unused: draw(part.range, bytes, part.meaning, .detail, digits, isWhole: isFull)
            case .damage:
                draw(part.range, bytes, part.meaning, .error, digits)
                if damage == nil { damage = part.meaning }
                provenance.recordUnread(file, reason: part.meaning)
            }
        }
        output.flush()
        if let damage { throw CommandFailure.exit(.badData, "\(name): \(damage)") }
    }

    /// A part's bytes in lines of sixteen, with the meaning behind the first.
    private func draw(
        _ range: Range<Int>, _ bytes: [UInt8], _ meaning: String, _ role: TreeDrawing.Role, _ digits: Int = 2,
        isWhole: Bool = false
    ) {
        let end = min(range.upperBound, bytes.count)
        var place = range.lowerBound
        var line = 0
        while place < end {
            let next = min(place + Self.width, end)
            if !isWhole, line == Self.lineCount {
                output.line([
                    (.detail, String(repeating: " ", count: digits) + "  … \((end - place).counted("more byte"))")
                ])
                return
            }
            let hex = stride(from: place, to: next, by: 4).map { Array(bytes[$0..<min($0 + 4, next)]).hexadecimal }
                .joined(separator: " ")
            let offset = String(place, radix: 16)
            let column = String(repeating: "0", count: max(0, digits - offset.count)) + offset
            var pieces: TreeDrawing.Line = [
                (.reference, column), (.guide, "  "), (.data, line == 0 ? hex.padded(to: 35) : hex),
            ]
            if line == 0 { pieces += [(.guide, "  "), (role, meaning)] }
            output.line(pieces)
            (place, line) = (next, line + 1)
        }
    }
}
