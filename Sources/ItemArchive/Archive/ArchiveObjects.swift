import CPlatform
import ColumnEngine
import PropertyList

/// The `$objects` of a keyed archive, and Foundation's classes in it as property-list values.
struct ArchiveObjects {
    private let reader: BinaryPropertyListReader
    private(set) var table: BinaryPropertyListContainer?
    /// The number of the object that stands for nil.
    private(set) var nullNumber = -1
    private var lineages: [UInt32: [String]] = [:]
    /// The key that dates have their time under, once seen.
    private var timeKey = -1
    private var lastClass: (uid: UInt32, name: String) = (0, "")
    /// The arrays and dictionaries that were converted: what is held in several places is made once, and shared.
    private var converted: [Int: Converted] = [:]
    /// Those of them that are too small to be kept for the next field.
    private var small: [Int] = []
    /// What the value under way unfolds to so far, and how many levels its innermost container under way has.
    private var unfolded = 0
    private var height = 0
    /// What the values of all fields may still unfold to; nil when nobody makes something of all of them.
    private var left: Int?

    private struct Converted {
        var value: PropertyListValue?
        /// How many values it unfolds to, and how many levels it has below the first.
        var size: Int
        var height: Int
    }

    /// Whether a value was an instance of a class that is not written for it again: a mutable one, say.
    private(set) var metOtherForm = false

    /// - Parameters:
    ///   - reader: the archive.
    ///   - isReadWhole: whether all its values are to be in memory, and written again.
    init(_ reader: BinaryPropertyListReader, isReadWhole: Bool) {
        self.reader = reader
        left = isReadWhole ? ConversionBudget.unfolded(from: reader.objectCount, atMost: 1 << 26) : nil
    }

    /// Finds the objects, and what `$top` names, by key in the archive's order.
    mutating func open(_ root: BinaryPropertyListContainer) throws(PropertyListError) -> [(String, UInt32)] {
        guard let objects = try entry("$objects", of: root), let top = try entry("$top", of: root),
            let table = try reader.container(at: objects), table.kind == .array,
            let tops = try reader.container(at: top), tops.kind == .dictionary
        else { throw .unusable("this is a property list and no keyed archive: it has no $objects and $top") }
        self.table = table
        if table.count > 0 { nullNumber = reader.reference(0, in: table) }
        var result: [(String, UInt32)] = []
        for index in 0..<tops.count {
            let key = try reader.string(at: reader.reference(index, in: tops)) ?? ""
            if let uid = try reader.uid(at: reader.valueReference(index, in: tops)) { result.append((key, uid)) }
        }
        return result
    }

    /// Finds the objects of an archive whose root is lost: the array that begins with `$null`.
    ///
    /// - Returns: the number of objects; nil when they are lost, too.
    mutating func openWithoutRoot() -> Int? {
        for number in 0..<reader.objectCount {
            guard let found = try? reader.container(at: number), found.kind == .array, found.count > 1,
                (try? reader.isString(reader.reference(0, in: found), "$null")) == true
            else { continue }
            table = found
            nullNumber = reader.reference(0, in: found)
            return found.count
        }
        return nil
    }

    /// The number of the object that a reference names.
    @inline(__always)
    func number(_ uid: UInt32) throws(PropertyListError) -> Int {
        guard let table, Int(uid) < table.count else {
            throw .unusable("a reference names object \(uid), which the archive does not have")
        }
        return reader.reference(Int(uid), in: table)
    }

    private func entry(_ key: String, of container: BinaryPropertyListContainer) throws(PropertyListError) -> Int? {
        guard container.kind == .dictionary else { return nil }
        for index in 0..<container.count
        where try reader.string(at: reader.reference(index, in: container)) == key {
            return reader.valueReference(index, in: container)
        }
        return nil
    }

    // MARK: Classes

    /// The class of an object, nil when it names none.
    mutating func className(of container: BinaryPropertyListContainer) throws(PropertyListError) -> String? {
        // The class is the last key of what archivers write.
        var reference: Int?
        if container.count > 0 {
            let last = container.count - 1
            if try reader.isString(reader.reference(last, in: container), "$class") {
                reference = reader.valueReference(last, in: container)
            } else {
                reference = try entry("$class", of: container)
            }
        }
        guard let reference, let uid = try reader.uid(at: reference) else { return nil }
        if uid == lastClass.uid { return lastClass.name }
        guard let name = try lineage(uid).first else { return nil }
        lastClass = (uid, name)
        return name
    }

    /// The class of an object and those above it.
    mutating func lineage(of container: BinaryPropertyListContainer) throws(PropertyListError) -> [String] {
        guard let reference = try entry("$class", of: container), let uid = try reader.uid(at: reference)
        else { return [] }
        return try lineage(uid)
    }

    private mutating func lineage(_ uid: UInt32) throws(PropertyListError) -> [String] {
        if let known = lineages[uid] { return known }
        var names: [String] = []
        if let description = try reader.container(at: try number(uid)) {
            if let name = try entry("$classname", of: description), let text = try reader.string(at: name) {
                names.append(text)
            }
            if let list = try entry("$classes", of: description), let classes = try reader.container(at: list),
                classes.kind == .array
            {
                for index in 0..<min(classes.count, 64) {
                    if let text = try reader.string(at: reader.reference(index, in: classes)), text != names.first {
                        names.append(text)
                    }
                }
            }
        }
        lineages[uid] = names
        return names
    }

    /// The elements of an NSArray; nil for an object of another class.
    mutating func elements(
        of container: BinaryPropertyListContainer
    ) throws(PropertyListError) -> BinaryPropertyListContainer? {
        guard try lineage(of: container).contains("NSArray"), let list = try entry("NS.objects", of: container)
        else { return nil }
        guard let elements = try reader.container(at: list), elements.kind == .array else {
            throw .unusable("an NSArray of the archive has no elements")
        }
        return elements
    }

    // MARK: Values

    /// A date, as an object or inline; nil for another object.
    mutating func date(_ number: Int) throws(PropertyListError) -> PropertyListDate? {
        guard let container = try reader.container(at: number), container.kind == .dictionary else {
            return try reader.date(at: number)
        }
        for index in 0..<container.count {
            let key = reader.reference(index, in: container)
            if key != timeKey {
                guard try reader.isString(key, "NS.time") else { continue }
                timeKey = key
            }
            let seconds: Double
            switch try reader.number(at: reader.valueReference(index, in: container)) {
            case .real(let value)?: seconds = value
            case .integer(let value)?: seconds = Double(value)
            case .single(let value)?: seconds = Double(value)
            default: return nil
            }
            guard seconds.isFinite else { throw .unusable("a date of the archive is not finite") }
            return PropertyListDate(secondsSinceReferenceDate: seconds)
        }
        return nil
    }

    /// An object as a property-list value; nil when it is or holds something that is none.
    ///
    /// - Throws: `readCorrupt` for one that nests too deep or holds itself, or unfolds to more values than the archive can
    ///   stand for.
    mutating func value(_ number: Int) throws(PropertyListError) -> PropertyListValue? {
        unfolded = 0
        for number in small { converted[number] = nil }
        small.removeAll(keepingCapacity: true)
        let result = try value(number, depth: 0)
        if let left {
            guard result.size <= left else {
                throw .unusable(
                    "what several items hold together, counted for each, is more than the archive can stand for")
            }
            self.left = left - result.size
        }
        return result.value
    }

    private mutating func value(_ number: Int, depth: Int) throws(PropertyListError) -> Converted {
        guard let container = try reader.container(at: number) else {
            try count(1)
            return Converted(value: try leaf(number), size: 1, height: 0)
        }
        if let known = converted[number], depth + known.height <= FieldValidation.depthLimit {
            try count(known.size)
            height = max(height, known.height + 1)
            return known
        }
        guard depth <= FieldValidation.depthLimit else {
            throw .unusable(
                "a value of the archive nests more than \(FieldValidation.depthLimit) deep, or holds itself")
        }
        guard cubby_stack_is_short() == 0 else {
            throw .unusable("a value of the archive nests deeper than the thread's stack allows")
        }
        let before = unfolded
        try count(1)
        let outer = height
        height = 0
        let value = try content(number, container, depth)
        let result = Converted(value: value, size: unfolded - before, height: height)
        height = max(outer, height + 1)
        let isSmall = result.size < 64
        if depth > 0 || !isSmall { converted[number] = result }
        if depth > 0, isSmall { small.append(number) }
        return result
    }

    private mutating func count(_ more: Int) throws(PropertyListError) {
        unfolded = ConversionBudget.sum(unfolded, more)
        let limit = ConversionBudget.unfolded(from: reader.objectCount, atMost: ConversionBudget.valueLimit)
        if unfolded > limit { throw .unusable(ConversionRefusal.unfoldsTooFar(limit: limit).message) }
    }

    private mutating func content(
        _ number: Int, _ container: BinaryPropertyListContainer, _ depth: Int
    ) throws(PropertyListError) -> PropertyListValue? {
        guard table != nil else { return try plain(container, depth) }
        guard container.kind == .dictionary else { return nil }
        let lineage = try lineage(of: container)
        if !["NSArray", "NSDictionary", "NSDate"].contains(lineage.first) { metOtherForm = true }
        if lineage.contains("NSDate") { return try date(number).map(PropertyListValue.date) }
        if lineage.contains("NSString"), let text = try entry("NS.string", of: container) {
            return try reader.string(at: text).map(PropertyListValue.string)
        }
        if lineage.contains("NSData"), let data = try entry("NS.data", of: container) {
            return try reader.data(at: data).map { .data([UInt8]($0)) }
        }
        if lineage.contains("NSArray"), let elements = try elements(of: container) {
            return try list(elements, depth).map(PropertyListValue.array)
        }
        if lineage.contains("NSDictionary"), let keys = try entry("NS.keys", of: container),
            let values = try entry("NS.objects", of: container), let keyList = try reader.container(at: keys),
            let valueList = try reader.container(at: values), keyList.count == valueList.count,
            let texts = try list(keyList, depth), let elements = try list(valueList, depth)
        {
            var entries: [String: PropertyListValue] = [:]
            for (key, element) in zip(texts, elements) {
                guard case .string(let text) = key else { return nil }
                entries[text] = element
            }
            return .dictionary(entries)
        }
        return nil
    }

    private func leaf(_ number: Int) throws(PropertyListError) -> PropertyListValue? {
        switch try reader.kind(of: number) {
        case .string: try reader.string(at: number).map(PropertyListValue.string)
        case .data: try reader.data(at: number).map { .data([UInt8]($0)) }
        case .date: try reader.date(at: number).map(PropertyListValue.date)
        case .boolean, .integer, .real:
            switch try reader.number(at: number) {
            case .boolean(let value)?: .boolean(value)
            case .integer(let value)?: .integer(value)
            case .wideInteger(let value)?: .wideInteger(value)
            case .real(let value)?: .real(value)
            case .single(let value)?: .single(value)
            case nil: nil
            }
        default: nil
        }
    }

    private mutating func list(
        _ container: BinaryPropertyListContainer, _ depth: Int
    ) throws(PropertyListError) -> [PropertyListValue]? {
        var result: [PropertyListValue] = []
        for index in 0..<container.count {
            guard let uid = try reader.uid(at: reader.reference(index, in: container)),
                let element = try value(try number(uid), depth: depth + 1).value
            else { return nil }
            result.append(element)
        }
        return result
    }

    /// A container of a property list that is no archive.
    private mutating func plain(
        _ container: BinaryPropertyListContainer, _ depth: Int
    ) throws(PropertyListError) -> PropertyListValue? {
        if container.kind == .array {
            var result: [PropertyListValue] = []
            for index in 0..<container.count {
                guard let element = try value(reader.reference(index, in: container), depth: depth + 1).value
                else { return nil }
                result.append(element)
            }
            return .array(result)
        }
        guard container.kind == .dictionary else { return nil }
        var entries: [String: PropertyListValue] = [:]
        for index in 0..<container.count {
            guard let key = try reader.string(at: reader.reference(index, in: container)),
                let element = try value(reader.valueReference(index, in: container), depth: depth + 1).value
            else { return nil }
            entries[key] = element
        }
        return .dictionary(entries)
    }

    /// What an object is, in words.
    mutating func describe(_ number: Int) throws(PropertyListError) -> String {
        guard let container = try reader.container(at: number), container.kind == .dictionary,
            let name = try className(of: container)
        else { return "a value" }
        return "of class \(name)"
    }
}
