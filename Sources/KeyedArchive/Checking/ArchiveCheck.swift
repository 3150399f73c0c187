public import PropertyList
import Wording

/// A check of a file: its kind, its errors with their positions, and the data that can be rescued.
public struct ArchiveCheck {
    /// A description of the file: `keyed archive, binary, 5 objects`.
    public private(set) var kind: String
    /// The findings, in the order of the layers: file, property list, archive.
    public private(set) var findings: [PropertyListFinding] = []
    /// The rescue of a damaged file; nil when nothing is damaged or nothing can be rescued.
    public private(set) var rescue: ArchiveRescue?

    /// Whether part of the file cannot be read.
    public var hasErrors: Bool { findings.contains { $0.severity == .error } }

    /// Checks all bytes of any file. Memory and time are proportional to them.
    public init(_ bytes: [UInt8], limits: ArchiveLimits = .standard) {
        kind = ""
        bytes.withUnsafeBytes { check($0, limits) }
    }

    private mutating func check(_ bytes: UnsafeRawBufferPointer, _ limits: ArchiveLimits) {
        let format = PropertyListFormat(detecting: bytes)
        let isText = format == nil && PropertyListFormat.isTextBeginning(of: bytes)
        let formatName = format == .binary ? "binary" : format == .xml ? "XML" : "OpenStep text"
        kind = "property list, \(formatName), \(Self.size(bytes.count))"
        let reader: BinaryPropertyListReader
        do throws(PropertyListError) {
            reader = try BinaryPropertyListReader(detecting: bytes, limits: limits.propertyList)
        } catch {
            guard format == nil else {
                findings.append(PropertyListFinding(error))
                rescue = ArchiveRescue(bytes, limits: limits)
                return
            }
            kind = "\(Self.size(bytes.count)) that are not a property list"
            findings.append(PropertyListFinding(.error, Self.guess(bytes), byteOffset: 0))
            if isText { findings.append(PropertyListFinding(.note, error.message, line: error.line)) }
            return
        }
        // The offsets of a text's binary form mean nothing to the user; the text has findings of its own.
        findings +=
            format == .binary
            ? reader.check() : PropertyListSalvage(bytes, limits: limits.propertyList)?.findings ?? []
        if Self.claimsToBeAnArchive(reader) {
            kind = "keyed archive, \(formatName), \(Self.size(bytes.count))"
            checkArchive(reader, format ?? .xml, limits)
        } else if !hasErrors {
            do throws(PropertyListError) {
                _ = try reader.value()
            } catch {
                findings.append(PropertyListFinding(error))
            }
        }
        if hasErrors { rescue = ArchiveRescue(bytes, limits: limits) }
    }

    private static func size(_ bytes: Int) -> String { bytes.counted("byte") }

    static func claimsToBeAnArchive(_ reader: BinaryPropertyListReader) -> Bool {
        guard let root = try? reader.container(at: reader.topObject), root.kind == .dictionary else { return false }
        return (0..<root.count).contains { index in
            let key = try? reader.string(at: reader.reference(index, in: root))
            return key == "$objects" || key == "$archiver"
        }
    }

    /// Guesses the kind of a file that is not a property list, by its first bytes.
    private static func guess(_ bytes: UnsafeRawBufferPointer) -> String {
        let start = "this is neither a binary nor an XML property list"
        func begins(_ text: String) -> Bool { bytes.starts(with: text.utf8) }
        if bytes.isEmpty { return "the file is empty" }
        if bytes.allSatisfy({ $0 == 0 }) { return start + ": all of it is 0, as after a crash of the machine" }
        if begins("SQLite format 3") { return start + ", but an SQLite database" }
        if begins("\u{04}\u{0B}streamtyped") {
            return start + ", but an archive of NSArchiver, which came before keyed ones"
        }
        if bytes.starts(with: [0x1F, 0x8B]) { return start + ", but compressed by gzip: unpack it first" }
        if begins("PK") { return start + ", but a ZIP file: unpack it first" }
        if begins("bplist1") {
            return start + ", but one of version 1, which only Apple's systems use among themselves"
        }
        if let first = bytes.first(where: { ![0x20, 0x09, 0x0A, 0x0D].contains($0) }) {
            if first == UInt8(ascii: "{") || first == UInt8(ascii: "(") || first == UInt8(ascii: "[") {
                return start
                    + ": JSON, perhaps, which cubby convert reads"
            }
        }
        return start
    }

    // MARK: - The keyed layer

    private mutating func checkArchive(
        _ list: BinaryPropertyListReader, _ format: PropertyListFormat, _ limits: ArchiveLimits
    ) {
        let archive: KeyedArchiveReader
        do throws(ArchiveError) {
            archive = try KeyedArchiveReader(list, format: format, limits: limits, acceptsAnyArchiver: true)
        } catch {
            findings.append(PropertyListFinding(.error, error.description))
            return
        }
        kind += ", \(archive.objectCount.counted("object"))"
        if archive.archiver != "NSKeyedArchiver" {
            findings.append(PropertyListFinding(.note, "it was written by “\(archive.archiver.prefix(64))”"))
        }
        var objects = ArchiveObjectCheck(archive, isBinary: format == .binary)
        objects.run()
        findings += objects.findings
    }
}
