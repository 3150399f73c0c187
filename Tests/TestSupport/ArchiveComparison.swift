import PropertyList

/// Compares two keyed archives object for object, by their property lists alone: no reader of archives is involved.
///
/// The same are: the keys and classes of each instance, all scalars by kind and value, and who shares what with whom.
/// Immutable leaves may be shared in one and repeated in the other, as archivers do; a date may be a leaf or an NSDate.
package struct ArchiveComparison {
    /// What differs, each with its place; empty when the archives mean the same.
    package private(set) var differences: [String] = []

    private let isExact: Bool
    private var first: Archive
    private var second: Archive
    private var seen: Set<Pair> = []
    private var partners: [Int: Int] = [:]
    private var partnersBack: [Int: Int] = [:]
    private var pending: [(PropertyListValue, PropertyListValue, String)] = []

    private struct Pair: Hashable { let first, second: Int }

    private struct Archive {
        let top: PropertyListFields
        let objects: [PropertyListValue]
        let archiver: PropertyListValue?

        init?(_ bytes: [UInt8]) {
            guard let root = (try? PropertyListValue(decoding: bytes))?.fields,
                let top = root["$top"]?.fields, case .array(let objects)? = root["$objects"]
            else { return nil }
            (self.top, self.objects, archiver) = (top, objects, root["$archiver"])
        }

        func isNil(_ uid: Int) -> Bool { uid == 0 || uid < objects.count && objects[uid] == .string("$null") }

        func instance(_ uid: Int) -> PropertyListFields? {
            guard uid < objects.count, let entries = objects[uid].fields, entries["$class"] != nil else {
                return nil
            }
            return entries
        }

        /// Instances that nothing leads to from the top.
        var strayCount: Int {
            var reached: Set<Int> = []
            var pending = Array(top.values)
            while let value = pending.popLast() {
                switch value {
                case .uid(let uid):
                    guard reached.insert(Int(uid)).inserted, Int(uid) < objects.count else { continue }
                    pending.append(objects[Int(uid)])
                case .array(let elements): pending += elements
                case .dictionary(let entries): pending += entries.entries.flatMap { [$0.key, $0.value] }
                default: break
                }
            }
            return objects.indices.count { !reached.contains($0) && instance($0) != nil }
        }
    }

    /// - Parameters:
    ///   - first: an archive.
    ///   - second: the archive that should mean the same.
    ///   - isExact: whether a real of four bytes has to be one in the other, too; XML has none.
    package init?(_ first: [UInt8], _ second: [UInt8], isExact: Bool = true) {
        guard let one = Archive(first), let other = Archive(second) else { return nil }
        self.first = one
        self.second = other
        self.isExact = isExact
        if one.archiver != other.archiver { differences.append("the archivers' names differ") }
        pending.append((.fields(one.top), .fields(other.top), "top"))
        while let (a, b, path) = pending.popLast(), differences.count < 10 { compare(a, b, path) }
        if one.strayCount != other.strayCount {
            differences.append("unreferenced: \(one.strayCount) instances and \(other.strayCount)")
        }
    }

    private mutating func compare(_ a: PropertyListValue, _ b: PropertyListValue, _ path: String) {
        switch (a, b) {
        case (.uid(let a), .uid(let b)): compareObjects(Int(a), Int(b), path)
        case (.array(let a), .array(let b)):
            guard a.count == b.count else { return differ(path, "\(a.count) elements and \(b.count)") }
            for (index, pair) in zip(a, b).enumerated() { pending.append((pair.0, pair.1, "\(path)[\(index)]")) }
        case (.dictionary(let a), .dictionary(let b)):
            guard a.sortedEntries.map(\.key) == b.sortedEntries.map(\.key) else {
                return differ(path, "\(a.sortedEntries.map(\.key)) and \(b.sortedEntries.map(\.key))")
            }
            for (key, value) in a.entries {
                if let other = b[key] { pending.append((value, other, "\(path).\(key.keyText)")) }
            }
        case (.single(let a), .real(let b)) where !isExact:
            if Double(a) != b { differ(path, "\(a) and \(b)") }
        default: if a != b, !bothNaN(a, b) { differ(path, "\(a) and \(b)") }
        }
    }

    private func bothNaN(_ a: PropertyListValue, _ b: PropertyListValue) -> Bool {
        func isNaN(_ value: PropertyListValue) -> Bool {
            switch value {
            case .real(let number): number.isNaN
            case .single(let number): number.isNaN
            default: false
            }
        }
        return isNaN(a) && isNaN(b)
    }

    private mutating func compareObjects(_ a: Int, _ b: Int, _ path: String) {
        guard seen.insert(Pair(first: a, second: b)).inserted else { return }
        if first.isNil(a) || second.isNil(b) {
            if first.isNil(a) != second.isNil(b) { differ(path, "nil and an object") }
            return
        }
        guard a < first.objects.count, b < second.objects.count else { return differ(path, "a reference to nothing") }
        if let moment = date(a, first), let other = date(b, second) {
            if moment != other { differ(path, "two dates") }
            return
        }
        if let one = first.instance(a), second.instance(b) != nil, !isImmutable(one) {
            guard partners[a, default: b] == b, partnersBack[b, default: a] == a else {
                return differ(path, "one object and two")
            }
            partners[a] = b
            partnersBack[b] = a
        }
        pending.append((first.objects[a], second.objects[b], path))
    }

    private func date(_ uid: Int, _ archive: Archive) -> Double? {
        if case .date(let date) = archive.objects[uid] { return date.secondsSinceReferenceDate }
        guard let instance = archive.instance(uid), className(instance, archive) == "NSDate",
            case .real(let seconds)? = instance["NS.time"]
        else { return nil }
        return seconds
    }

    private func isImmutable(_ instance: PropertyListFields) -> Bool {
        className(instance, first) == "NSNull"
    }

    private func className(_ instance: PropertyListFields, _ archive: Archive) -> String? {
        guard case .uid(let uid)? = instance["$class"], Int(uid) < archive.objects.count,
            case .dictionary(let description) = archive.objects[Int(uid)],
            case .string(let name)? = description["$classname"]
        else { return nil }
        return name
    }

    private mutating func differ(_ path: String, _ what: String) { differences.append("\(path): \(what)") }
}
