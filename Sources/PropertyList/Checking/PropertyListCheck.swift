extension BinaryPropertyListReader {
    /// Checks every object of the table, referenced or not.
    ///
    /// O(n log n) in the number of objects. Only leaves with invalid forms are decoded.
    ///
    /// - Returns: the findings, in the order of the objects: at most twenty, and the number of those left out.
    package func check() -> [PropertyListFinding] {
        var check = TableCheck(reader: self)
        check.run()
        return check.findings.all(more: "findings of these kinds")
    }

    /// The offset of an object, or nil when the table's entry is invalid.
    package func byteOffset(of number: Int) -> Int? { try? offset(of: number) }
}

private struct TableCheck {
    private struct Extent {
        var start: Int
        var end: Int
        var number: Int
    }

    let reader: BinaryPropertyListReader
    var findings = PropertyListFindings()
    private var extents: [Extent] = []
    private var isReferred: [Bool]

    init(reader: BinaryPropertyListReader) {
        self.reader = reader
        isReferred = Array(repeating: false, count: reader.objectCount)
    }

    mutating func run() {
        isReferred[reader.topObject] = true
        for number in 0..<reader.objectCount {
            do { try look(at: number) } catch { findings.add(PropertyListFinding(error)) }
        }
        layout()
        let lonely = isReferred.count { !$0 }
        if lonely > 0 { report(.note, "\(lonely) of \(reader.objectCount) objects are referred to by nothing") }
    }

    private mutating func report(_ severity: PropertyListFinding.Severity, _ message: String, at offset: Int? = nil) {
        findings.add(PropertyListFinding(severity, message, byteOffset: offset))
    }

    private mutating func look(at number: Int) throws(PropertyListError) {
        let offset = try reader.offset(of: number)
        switch try reader.kind(of: number) {
        case .null, .boolean, .data: break
        case .integer, .real: _ = try reader.number(at: number)
        case .date: _ = try reader.date(at: number)
        case .uid: _ = try reader.uid(at: number)
        case .string: try checkText(at: offset)
        case .array, .set, .dictionary: try checkContainer(number, at: offset)
        }
        let end = offset + (try reader.size(ofObjectAt: offset))
        extents.append(Extent(start: offset, end: end, number: number))
    }

    private mutating func checkText(at offset: Int) throws(PropertyListError) {
        let isWide = reader.marker(at: offset) & 0xF0 == 0x60
        let (count, start) = try reader.payload(at: offset, unit: isWide ? 2 : 1)
        if isWide, String(validating: reader.units(count, from: start), as: UTF16.self) == nil {
            report(.warning, "a text has half of a surrogate pair, which shows as U+FFFD", at: offset)
        }
        if !isWide,
            !BinaryPropertyListReader.isASCII(UnsafeRawBufferPointer(start: reader.base + start, count: count))
        {
            report(.warning, "a one-byte string is not ASCII; it is read as Latin-1, by others not at all", at: offset)
        }
    }

    private mutating func checkContainer(_ number: Int, at offset: Int) throws(PropertyListError) {
        guard let container = try reader.container(at: number) else { return }
        let isDictionary = container.kind == .dictionary
        var keys: Set<PropertyListValue> = []
        for index in 0..<container.count {
            let reference = reader.reference(index, in: container)
            refer(to: reference, from: offset)
            guard isDictionary else { continue }
            refer(to: reader.valueReference(index, in: container), from: offset)
            guard reference < reader.objectCount else { continue }
            if let key = try? key(reference) {
                // Duplicate keys are not an error, so large dictionaries are not checked for them: that would take much
                // memory.
                if keys.count < 4096, !keys.insert(key).inserted {
                    report(
                        .warning, "the key \(key.nameOfKey) stands twice in a dictionary; the first counts", at: offset)
                }
            }
        }
    }

    /// A key that is a leaf; containers as keys, which hardly occur, are not compared.
    private func key(_ number: Int) throws(PropertyListError) -> PropertyListValue? {
        try reader.container(at: number) == nil ? reader.value(at: number) : nil
    }

    private mutating func refer(to number: Int, from offset: Int) {
        if isReferred.indices.contains(number) {
            isReferred[number] = true
        } else {
            report(.error, "a container refers to object number \(number), of \(reader.objectCount)", at: offset)
        }
    }

    /// Finds overlapping objects and gaps between them.
    private mutating func layout() {
        extents.sort { $0.start < $1.start }
        var end = 8
        for extent in extents {
            if extent.start < end {
                report(.warning, "object number \(extent.number) overlaps the one before it", at: extent.start)
            } else if extent.start > end {
                report(.note, "\(extent.start - end) bytes belong to no object", at: end)
            }
            end = max(end, extent.end)
        }
    }
}

/// A finding of a check.
package struct PropertyListFinding: Sendable, Hashable {
    /// The severity of a finding.
    package enum Severity: String, Sendable, Hashable {
        /// An object cannot be read.
        case error
        /// An unusual form that every reader accepts.
        case warning
        /// A valid form worth reporting.
        case note
    }

    /// The severity.
    package var severity: Severity
    /// The problem.
    package var message: String
    /// The offset in the input, in bytes.
    package var byteOffset: Int?
    /// The line of an XML property list, from 1.
    package var line: Int?

    package init(_ severity: Severity, _ message: String, byteOffset: Int? = nil, line: Int? = nil) {
        self.severity = severity
        self.message = message
        self.byteOffset = byteOffset
        self.line = line
    }

    package init(_ error: PropertyListError) {
        self.init(.error, error.message, byteOffset: error.byteOffset, line: error.line)
    }
}

/// The findings of a check: at most twenty, and the number of the rest.
package struct PropertyListFindings {
    private var first: [PropertyListFinding] = []
    private var count = 0

    package init() {}

    var isFull: Bool { first.count >= 20 }

    package mutating func add(_ finding: PropertyListFinding) {
        if isFull { count += 1 } else { first.append(finding) }
    }

    /// The findings, and a last one of this severity with the number of the rest, `findings of these kinds`.
    package func all(more: String, _ severity: PropertyListFinding.Severity = .note) -> [PropertyListFinding] {
        count == 0 ? first : first + [PropertyListFinding(severity, "and \(count) more \(more)")]
    }
}

/// The readable part of a damaged property list: an object table, some of whose objects may be damaged.
package struct PropertyListSalvage: Sendable {
    /// The objects; access to a damaged one is an error.
    package let reader: BinaryPropertyListReader
    /// A description of the method that found them.
    package let method: String
    /// The damage.
    package let error: PropertyListError?
    /// What the text of an XML property list has and the objects do not show: equal keys, data that is not Base64.
    package let findings: [PropertyListFinding]

    /// Opens a property list in either form as far as it is readable; nil when nothing is.
    ///
    /// A binary one without trailer or offset table is scanned from its first object, because writers store objects in
    /// the order of their numbers. An XML one is read up to the damage, and open containers are closed.
    package init?(_ bytes: UnsafeRawBufferPointer, limits: PropertyListLimits = .standard) {
        switch PropertyListFormat(detecting: bytes) {
        case .binary:
            do throws(PropertyListError) {
                let reader = try BinaryPropertyListReader(copying: bytes, limits: limits)
                self.init(reader, "by the offset table")
            } catch {
                guard let scan = ObjectScan.best(bytes), let found = try? scan.reader(of: bytes, limits: limits)
                else { return nil }
                self.init(found, "one after the other, without the offset table", error)
            }
        case .xml:
            guard let (storage, failure, remarks) = XMLPropertyListReader.salvage(from: bytes, limits: limits),
                let found = try? BinaryPropertyListReader(storage, limits: limits)
            else { return nil }
            self.init(found, failure == nil ? "as it is" : "up to the damage", failure, remarks)
        case nil:
            guard OpenStepPropertyListReader.mayBegin(bytes),
                let (storage, remarks) = try? OpenStepPropertyListReader.binary(from: bytes, limits: limits),
                let found = try? BinaryPropertyListReader(storage, limits: limits)
            else { return nil }
            self.init(found, "as it is", nil, remarks)
        }
    }

    private init(
        _ reader: BinaryPropertyListReader, _ method: String, _ error: PropertyListError? = nil,
        _ findings: [PropertyListFinding] = []
    ) {
        (self.reader, self.method, self.error, self.findings) = (reader, method, error, findings)
    }
}

/// A scan of consecutive objects from the start of a file, for an assumed size of references.
private struct ObjectScan {
    let referenceSize: Int
    private(set) var offsets: [Int] = []
    private(set) var end = 8
    private var outside = 0

    /// The scan that covers most of the file.
    static func best(_ bytes: UnsafeRawBufferPointer) -> ObjectScan? {
        let scans = [1, 2, 4, 3, 8].map { ObjectScan(bytes, referenceSize: $0) }
        // References of the right size name existing objects, except for lost ones.
        let best = scans.max { a, b in
            (a.end - 8 - a.outside * 16, -a.referenceSize) < (b.end - 8 - b.outside * 16, -b.referenceSize)
        }
        guard let best, best.offsets.count > 1 else { return nil }
        return best
    }

    private init(_ bytes: UnsafeRawBufferPointer, referenceSize: Int) {
        self.referenceSize = referenceSize
        // A reference above the largest possible count shows a wrong size.
        let most = bytes.count
        while end < bytes.count, let next = Self.end(ofObjectAt: end, in: bytes, referenceSize) {
            let marker = bytes[end]
            if marker >= 0xA0, next - end >= referenceSize + 1 {
                var number = 0
                for index in 0..<referenceSize { number = number << 8 | Int(bytes[next - referenceSize + index]) }
                if number >= most || number == 0 { outside += 1 }
            }
            offsets.append(end)
            end = next
        }
    }

    private static func end(ofObjectAt start: Int, in bytes: UnsafeRawBufferPointer, _ referenceSize: Int) -> Int? {
        let marker = bytes[start]
        let low = Int(marker & 0x0F)
        var position = start + 1
        func counted(_ unit: Int) -> Int? {
            var count = low
            if low == 15 {
                guard position < bytes.count, bytes[position] & 0xF0 == 0x10, bytes[position] & 0x0F <= 3 else {
                    return nil
                }
                let size = 1 << Int(bytes[position] & 0x0F)
                guard position + 1 + size <= bytes.count else { return nil }
                var value: UInt64 = 0
                for index in 0..<size { value = value << 8 | UInt64(bytes[position + 1 + index]) }
                guard value <= UInt64(bytes.count) else { return nil }
                count = Int(value)
                position += 1 + size
            }
            return position + count * unit
        }
        let end: Int?
        switch marker {
        case 0x00, 0x08, 0x09: end = position
        case 0x10...0x14, 0x22, 0x23, 0x33: end = position + (1 << low)
        case 0x40...0x4F, 0x50...0x5F: end = counted(1)
        case 0x60...0x6F: end = counted(2)
        case 0x80...0x8F: end = position + low + 1
        case 0xA0...0xAF, 0xC0...0xCF: end = counted(referenceSize)
        case 0xD0...0xDF: end = counted(referenceSize * 2)
        default: end = nil
        }
        guard let end, end <= bytes.count else { return nil }
        return end
    }

    /// A reader of the objects, with a new table and trailer.
    func reader(
        of bytes: UnsafeRawBufferPointer, limits: PropertyListLimits
    ) throws(PropertyListError) -> BinaryPropertyListReader {
        // A trailer may not list more objects than references can name.
        var offsets = offsets
        if referenceSize < 8 { offsets = Array(offsets.prefix((1 << (referenceSize * 8)) - 1)) }
        var file = Array("bplist00".utf8) + bytes[8..<end]
        let table = file.count
        for offset in offsets { Self.append(UInt64(offset), to: &file) }
        file.append(contentsOf: [0, 0, 0, 0, 0, 0, 8, UInt8(referenceSize)])
        Self.append(UInt64(offsets.count), to: &file)
        Self.append(0, to: &file)
        Self.append(UInt64(table), to: &file)
        return try BinaryPropertyListReader(file, limits: limits)
    }

    private static func append(_ value: UInt64, to bytes: inout [UInt8]) {
        withUnsafeBytes(of: value.bigEndian) { bytes.append(contentsOf: $0) }
    }
}
