package import PropertyList

/// A check of a file: its kind, its errors with their positions, and the data that can be rescued.
package struct ArchiveCheck {
    /// A description of the file: `keyed archive, binary, 5 objects`.
    package private(set) var kind: String
    /// The findings, in the order of the layers: file, property list, archive.
    package private(set) var findings: [PropertyListFinding] = []
    /// The rescue of a damaged file; nil when nothing is damaged or nothing can be rescued.
    package private(set) var rescue: ArchiveRescue?

    /// Whether part of the file cannot be read.
    package var hasErrors: Bool { findings.contains { $0.severity == .error } }

    /// Checks all bytes of any file. Memory and time are proportional to them.
    package init(_ bytes: [UInt8], limits: ArchiveLimits = .standard) {
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
        findings += objects.findings.all(more: "objects like these")
        findings += objects.equalKeys.all(more: "keys like these", .warning)
    }
}

/// Checks the objects of a keyed archive: references, classes, and the forms of Foundation's classes.
struct ArchiveObjectCheck {
    private let archive: KeyedArchiveReader
    private let unarchiver: KeyedUnarchiver
    private let isBinary: Bool
    private(set) var findings = PropertyListFindings()
    /// The equal keys of dictionaries.
    private(set) var equalKeys = PropertyListFindings()
    /// The containers in place whose references are checked.
    private var known: Set<Int> = []

    init(_ archive: KeyedArchiveReader, isBinary: Bool) {
        self.archive = archive
        unarchiver = KeyedUnarchiver(reader: archive)
        self.isBinary = isBinary
    }

    mutating func run() {
        for entry in archive.top {
            record("$top.\(entry.key)", entry.number) { check throws(ArchiveError) in
                try check.references(in: entry.number)
            }
        }
        for index in 1..<max(archive.objectCount, 1) {
            guard let uid = UInt32(exactly: index), let number = try? archive.number(of: uid) else { continue }
            record("object \(uid)", number) { check throws(ArchiveError) in
                try check.entry(uid, number)
                try check.recordEqualKeys(uid, number)
            }
        }
    }

    private mutating func record(
        _ place: String, _ number: Int, _ body: (inout ArchiveObjectCheck) throws(ArchiveError) -> Void
    ) {
        do throws(ArchiveError) {
            try body(&self)
        } catch {
            findings.add(finding(.error, "\(place): \(error.message)", number))
        }
    }

    private func finding(
        _ severity: PropertyListFinding.Severity, _ message: String, _ number: Int
    ) -> PropertyListFinding {
        PropertyListFinding(
            severity, message, byteOffset: isBinary ? archive.propertyList.byteOffset(of: number) : nil)
    }

    /// Records equal keys of an NSDictionary: a reader has one value for them.
    private mutating func recordEqualKeys(_ uid: UInt32, _ number: Int) throws(ArchiveError) {
        guard let record = try archive.record(at: uid), let slot = record.shape.slot(of: "NS.keys"),
            let keys = try record.references(at: slot), FoundationClass(name: try record.className()) != nil
        else { return }
        var seen: Set<PropertyListValue> = []
        for index in 0..<keys.count {
            let key = try key(try keys.uid(at: index))
            if seen.insert(key).inserted { continue }
            let message = "object \(uid): the key \(key.nameOfKey) stands twice in the dictionary; the first counts"
            equalKeys.add(finding(.warning, message, number))
        }
    }

    /// A key of a dictionary, as keys are compared: a text or another leaf by its value, else the object itself.
    private func key(_ uid: UInt32) throws(ArchiveError) -> PropertyListValue {
        let number = try archive.number(of: uid)
        let text = try lifted { () throws(PropertyListError) in try archive.table.text(at: number) }
        if let text { return text }
        let isLeaf = try archive.propertyList.container(in: number) == nil
        return isLeaf ? try archive.propertyList.value(in: number) : .uid(uid)
    }

    /// Whether an object is valid.
    mutating func isReadable(_ uid: UInt32) -> Bool {
        guard let number = try? archive.number(of: uid) else { return false }
        return (try? entry(uid, number)) != nil
    }

    /// Checks that a reference names an object, and those of a container in place and of containers in it.
    private mutating func references(in number: Int) throws(ArchiveError) {
        let list = archive.propertyList
        var seen: Set<Int> = []
        var pending = [number]
        while let next = pending.popLast() {
            if let uid = try list.uid(in: next) { _ = try archive.number(of: uid) }
            guard let container = try list.container(in: next), !known.contains(next), seen.insert(next).inserted
            else { continue }
            for index in 0..<container.count {
                pending.append(list.reference(index, in: container))
                if container.kind == .dictionary { pending.append(list.valueReference(index, in: container)) }
            }
        }
        known.formUnion(seen)
    }

    private mutating func entry(_ uid: UInt32, _ number: Int) throws(ArchiveError) {
        let list = archive.propertyList
        guard let container = try list.container(in: number) else {
            let kind = try list.kind(in: number)
            switch kind {
            case .string, .integer, .real, .boolean, .data, .date: return _ = try list.value(in: number)
            default: throw .corrupt("\("\(kind)".withArticle) is neither an instance nor a leaf")
            }
        }
        guard container.kind == .dictionary else { throw .corrupt("a list is neither an instance nor a leaf") }
        guard let record = try archive.record(at: uid) else {
            _ = try archive.archivedClass(at: uid)
            return
        }
        let name = try record.className()
        for slot in record.shape.storedKeys.indices {
            try references(in: record.number(at: slot))
            if let list = try record.references(at: slot), record.shape.storedKeys[slot].hasPrefix("NS.") {
                for index in 0..<list.count { _ = try list.uid(at: index) }
            }
        }
        try form(record, name)
    }

    /// Checks that an instance of one of Foundation's classes has the content of that class.
    private func form(_ record: ArchiveRecord, _ name: String) throws(ArchiveError) {
        guard let builtin = FoundationClass(name: name) else { return }
        switch builtin {
        case .dictionary, .mutableDictionary:
            guard let keys = record.shape.slot(of: "NS.keys"), let objects = record.shape.slot(of: "NS.objects"),
                let keyList = try record.references(at: keys), let objectList = try record.references(at: objects)
            else { throw .corrupt("an \(name) has no lists NS.keys and NS.objects") }
            guard keyList.count == objectList.count else {
                throw .corrupt("an \(name) has \(keyList.count) keys for \(objectList.count) objects")
            }
        case .array, .mutableArray, .set, .mutableSet, .orderedSet, .mutableOrderedSet, .countedSet:
            guard let slot = record.shape.slot(of: "NS.objects") else { return }
            guard try record.references(at: slot) != nil else {
                throw .corrupt("the NS.objects of an \(name) is not a list")
            }
        default: _ = try unarchiver.decode(record, as: builtin)
        }
    }
}
