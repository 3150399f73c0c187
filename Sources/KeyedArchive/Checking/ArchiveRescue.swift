import PropertyList

/// A damaged property list or archive without its damaged parts: a dangling reference becomes nil, an unreadable object
/// becomes nil, an unreadable entry of a dictionary is left out.
package struct ArchiveRescue {
    /// The repaired file, in binary form.
    package let bytes: [UInt8]
    /// The number of objects: entries of `$objects` in an archive, else objects of the file.
    package let total: Int
    /// The number of undamaged objects.
    package let whole: Int
    /// A description of the method that found the objects.
    package let method: String
    /// The entries of dictionaries and the elements of lists, in the damaged file as far as it is readable.
    package let entriesBefore: Int
    /// Those of the repaired file.
    package let entriesAfter: Int

    /// Nil when nothing can be rescued.
    package init?(_ damaged: UnsafeRawBufferPointer, limits: ArchiveLimits = .standard) {
        guard let salvage = PropertyListSalvage(damaged, limits: limits.propertyList) else { return nil }
        method = salvage.method
        entriesBefore = Self.entries(of: salvage.reader)
        var copying = RescueCopying(salvage.reader)
        guard let top = copying.copy(salvage.reader.topObject, depth: 0),
            let first = try? copying.writer.finish(topObject: top)
        else { return nil }
        let isArchive = (try? BinaryPropertyListReader(first)).map(ArchiveCheck.claimsToBeAnArchive) ?? false
        guard isArchive else {
            // A tree beyond the limits is unreadable even if its objects are valid.
            guard (try? PropertyListValue(decoding: first, limits: limits.propertyList)) != nil else { return nil }
            bytes = first
            entriesAfter = Self.entries(of: first)
            total = salvage.reader.objectCount
            whole = max(0, total - copying.lost)
            return
        }
        // The entries of an archive are independent, and a value takes at least one byte.
        var bounded = limits.propertyList
        bounded.maximumValues = min(bounded.maximumValues, first.count + 1024)
        guard let list = try? PropertyListValue(decoding: first, limits: bounded),
            let repaired = ArchiveRepair(list, limits)
        else { return nil }
        bytes = repaired.bytes
        entriesAfter = Self.entries(of: repaired.bytes)
        total = repaired.total
        whole = repaired.whole
    }

    private static func entries(of file: [UInt8]) -> Int {
        guard let reader = try? BinaryPropertyListReader(file) else { return 0 }
        return entries(of: reader)
    }

    private static func entries(of reader: BinaryPropertyListReader) -> Int {
        (0..<reader.objectCount).reduce(0) { $0 + ((try? reader.container(at: $1))?.count ?? 0) }
    }
}

/// Copies the readable part of a table.
private struct RescueCopying {
    private let reader: BinaryPropertyListReader
    let writer = BinaryPropertyListWriter()
    private var done: [Int: UInt32?] = [:]
    private var open: Set<Int> = []
    private var budget: DecodingBudget
    /// The number of unreadable objects.
    private(set) var lost = 0

    init(_ reader: BinaryPropertyListReader) {
        self.reader = reader
        budget = DecodingBudget(reader)
    }

    /// Copies an object; nil when it is unreadable.
    mutating func copy(_ number: Int, depth: Int) -> UInt32? {
        if let known = done[number] { return open.contains(number) ? nil : known }
        let copy = attempt(number, depth: depth)
        if copy == nil { lost += 1 }
        done[number] = .some(copy)
        return copy
    }

    private mutating func attempt(_ number: Int, depth: Int) -> UInt32? {
        guard (try? budget.spend(number)) != nil else { return nil }
        let container: BinaryPropertyListContainer?
        do { container = try reader.container(at: number) } catch { return nil }
        guard let container else { return (try? reader.value(at: number)).flatMap { try? writer.add($0) } }
        guard reader.limits.excess(atDepth: depth) == nil else { return nil }
        // Marks the container as being copied, to detect cycles.
        done[number] = .some(nil)
        open.insert(number)
        defer { open.remove(number) }
        if container.kind == .dictionary {
            var entries: [(key: UInt32, value: UInt32)] = []
            for index in 0..<container.count {
                guard let key = copy(reader.reference(index, in: container), depth: depth + 1),
                    let value = copy(reader.valueReference(index, in: container), depth: depth + 1)
                else { continue }
                entries.append((key, value))
            }
            return writer.dictionary(of: entries)
        }
        // Elements keep their positions: an unreadable one becomes null.
        let elements = (0..<container.count).map {
            self.copy(reader.reference($0, in: container), depth: depth + 1) ?? writer.null()
        }
        guard container.kind == .set else { return elements.withUnsafeBufferPointer { writer.array(of: $0) } }
        let (number, references) = writer.set(count: elements.count)
        for (index, element) in elements.enumerated() { writer.setReference(index, in: references, to: element) }
        return number
    }
}

/// Repairs the references of an archive.
private struct ArchiveRepair {
    private(set) var bytes: [UInt8] = []
    private(set) var total = 0
    private(set) var whole = 0

    init?(_ list: PropertyListValue, _ limits: ArchiveLimits) {
        guard case .dictionary(let given) = list, case .array(var objects)? = given["$objects"], !objects.isEmpty
        else { return nil }
        var root = given
        total = objects.count - 1
        objects[0] = .string("$null")
        var isClass = objects.map(Self.isClass)
        var isDamaged = Array(repeating: false, count: objects.count)
        for index in 1..<max(objects.count, 1) {
            let (entry, isWhole) = Self.repaired(objects[index], isClass)
            isDamaged[index] = !isWhole
            objects[index] = entry ?? .string("$null")
            if entry == nil { isClass[index] = false }
        }
        var top: PropertyListFields = [:]
        if case .dictionary(let entries)? = root["$top"] {
            top = entries.textEntries.mapValues { Self.reference($0, objects.count) }
        } else if objects.count > 1 {
            // The object encoded first follows nil.
            top["root"] = .uid(1)
        }
        let archiver = root["$archiver"] ?? .string("NSKeyedArchiver")
        root = [
            "$version": .integer(100_000), "$archiver": archiver, "$top": .fields(top), "$objects": .array(objects),
        ]
        if case .string? = root["$archiver"] {} else { root["$archiver"] = .string("NSKeyedArchiver") }
        // Invalid instances of Foundation's classes become nil, too.
        guard var file = try? PropertyListValue.dictionary(root).encoded(as: .binary) else { return nil }
        for _ in 0..<2 {
            guard let archive = try? KeyedArchiveReader(file, limits: limits, acceptsAnyArchiver: true) else {
                return nil
            }
            let unreadable = Self.unreadable(archive)
            if unreadable.isEmpty { break }
            for uid in unreadable {
                isDamaged[Int(uid)] = true
                objects[Int(uid)] = .string("$null")
            }
            root["$objects"] = .array(objects)
            guard let next = try? PropertyListValue.dictionary(root).encoded(as: .binary) else { return nil }
            file = next
        }
        bytes = file
        whole = isDamaged.dropFirst().reduce(0) { $1 ? $0 : $0 + 1 }
    }

    private static func isClass(_ entry: PropertyListValue) -> Bool {
        if case .dictionary(let entries) = entry, case .string? = entries["$classname"] { true } else { false }
    }

    /// An entry with repaired references, and whether it was intact; nil when it cannot be repaired.
    private static func repaired(_ entry: PropertyListValue, _ isClass: [Bool]) -> (PropertyListValue?, Bool) {
        switch entry {
        case .dictionary(let entries):
            if entries["$classname"] != nil, entries["$class"] == nil { return (entry, Self.isClass(entry)) }
            guard case .uid(let type)? = entries["$class"], isClass.indices.contains(Int(type)), isClass[Int(type)]
            else { return (nil, false) }
            let mended = entries.mapValues { reference($0, isClass.count) }
            return (.dictionary(mended), mended == entries)
        case .string, .utf16, .integer, .wideInteger, .real, .single, .boolean, .data, .date: return (entry, true)
        case .null, .uid, .array, .set: return (nil, false)
        }
    }

    /// A dangling reference, or a lost element, becomes a reference to nil.
    private static func reference(_ value: PropertyListValue, _ count: Int) -> PropertyListValue {
        switch value {
        case .uid(let uid) where Int(uid) >= count: .uid(0)
        case .array(let elements):
            .array(elements.map { element in if case .null = element { .uid(0) } else { reference(element, count) } })
        case .dictionary(let entries): .dictionary(entries.mapValues { reference($0, count) })
        default: value
        }
    }

    private static func unreadable(_ archive: KeyedArchiveReader) -> [UInt32] {
        var check = ArchiveObjectCheck(archive, isBinary: true)
        return (1..<max(archive.objectCount, 1)).compactMap { index in
            UInt32(exactly: index).flatMap { check.isReadable($0) ? nil : $0 }
        }
    }
}
