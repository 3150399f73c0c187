package import PropertyList

/// Reads an archive's objects one field at a time, in place.
///
/// Opening costs O(1). Each object is checked when it is read; shared classes and keys are read once. It is a value,
/// and each thread uses its own copy.
package struct ArchiveObjectReader: @unchecked Sendable {
    // Unchecked: its tables point into the storage, which is immutable and retained.

    package let table: ArchiveObjectTable
    let limits: ArchiveLimits
    var shapes = ArchiveShapeTable()
    private var classes: ArchiveClassTable
    /// The keys of the last element.
    private var run = ArchiveKeyRun()
    /// The keys of the last date.
    private var dateKeys: BinaryPropertyListReader.KnownKeys?
    var conversion: PropertyListConversion
    /// Whether a value had another class than the archiver writes for it, such as a mutable one.
    package var metOtherForm: Bool { conversion.metOtherForm }
    /// The entries of dictionaries that the last value lacks, since an earlier one has an equal key.
    package var equalKeys: Int { conversion.equalKeys }

    /// - Parameters:
    ///   - table: the objects.
    ///   - limits: the limits.
    ///   - isReadWhole: whether all values of the archive will be in memory, so that they share one limit.
    package init(_ table: ArchiveObjectTable, limits: ArchiveLimits = .standard, isReadWhole: Bool = false) {
        self.table = table
        self.limits = limits
        classes = ArchiveClassTable(table.propertyList, limits)
        conversion = PropertyListConversion(table, limits, isReadWhole: isReadWhole)
    }

    /// The shape of a dictionary.
    package mutating func shape(
        of container: BinaryPropertyListContainer
    ) throws(PropertyListError) -> ArchiveShape {
        try shapes.shape(of: container, in: table.propertyList)
    }

    // MARK: Classes

    /// The class description with a UID.
    package mutating func archivedClass(at uid: UInt32) throws(PropertyListError) -> ArchivedClass {
        try classes.archivedClass(at: uid, in: table)
    }

    /// The class of an instance; nil for other objects.
    package mutating func archivedClass(
        of container: BinaryPropertyListContainer
    ) throws(PropertyListError) -> ArchivedClass? {
        guard let value = try table.propertyList.value(of: "$class", in: container),
            let uid = try table.propertyList.uid(at: value)
        else { return nil }
        return try archivedClass(at: uid)
    }

    /// An NSDecimalNumber; nil for another object, and for one with parts out of range.
    package mutating func decimal(at number: Int) throws(PropertyListError) -> ArchivedDecimal? {
        guard table.objects != nil, let instance = try table.dictionary(at: number),
            let known = try archivedClass(of: instance)?.foundationClass,
            known == .decimalNumber || known == .decimalPlaceholder
        else { return nil }
        let list = table.propertyList
        func part(_ key: StaticString) throws(PropertyListError) -> BinaryPropertyListReader.Number? {
            guard let value = try list.value(of: key, in: instance) else { return nil }
            return try table.number(at: try table.resolve(value))
        }
        func integer(_ key: StaticString) throws(PropertyListError) -> Int64? {
            if case .integer(let value)? = try part(key) { value } else { nil }
        }
        let isNegative = try part("NS.negative")
        guard let length = try integer("NS.length") else { return nil }
        let isBelowZero = isNegative == .boolean(true) || isNegative == .integer(1)
        if length == 0, isBelowZero { return .nan }
        guard let exponent = try integer("NS.exponent"), let value = try list.value(of: "NS.mantissa", in: instance),
            let units = try table.data(at: try table.resolve(value))
        else { return nil }
        return ArchivedDecimal(
            units: units, length: length, exponent: exponent, isNegative: isBelowZero,
            isBigEndian: try integer("NS.mantissa.bo") == 2)
    }

    /// A description for messages of an object that is no value.
    package mutating func describe(_ number: Int) -> String {
        if (try? value(at: number)) == nil, conversion.nestsTooDeep { return "nested too deep, or within itself" }
        guard let instance = try? table.dictionary(at: number), let archived = try? archivedClass(of: instance) else {
            return "a value"
        }
        return "of class \(archived.name)"
    }

    /// The elements of an NSArray; nil for an object of another class.
    package mutating func elements(
        of container: BinaryPropertyListContainer
    ) throws(PropertyListError) -> BinaryPropertyListContainer? {
        guard let known = try archivedClass(of: container)?.foundationClass, known == .array || known == .mutableArray,
            let list = try table.propertyList.value(of: "NS.objects", in: container)
        else { return nil }
        guard let elements = try table.propertyList.container(at: list), elements.kind == .array else {
            throw .corruptArchive("an NSArray of the archive has no elements")
        }
        return elements
    }

    // MARK: Elements and fields

    // These calls are mutating for speed only: the compiler copies a reader for each call that is not.

    /// The number of the current run of elements with the same keys; -1 before the first.
    package var runNumber: Int { run.number }

    /// The dictionary of an element of a list of references; nil for another object.
    package mutating func element(
        _ index: Int, of list: BinaryPropertyListContainer
    ) throws(PropertyListError) -> BinaryPropertyListContainer? {
        let number = try table.element(index, of: list)
        guard let found = try table.dictionary(at: number) else { return nil }
        if !run.contains(table.propertyList.keyReferences(of: found)) {
            run = ArchiveKeyRun(found, at: number, in: table.propertyList)
        }
        return found
    }

    /// Resolves a value: the object of a reference, or the value itself.
    package mutating func resolve(_ value: Int) throws(PropertyListError) -> Int { try table.resolve(value) }

    /// Resolves the value in a slot of a dictionary.
    package mutating func object(
        at slot: Int, in container: BinaryPropertyListContainer
    ) throws(PropertyListError) -> Int {
        try table.value(at: slot, in: container)
    }

    /// The date in a slot of a dictionary; nil for another object.
    package mutating func date(
        at slot: Int, in container: BinaryPropertyListContainer
    ) throws(PropertyListError) -> PropertyListDate? {
        if let dateKeys, let objects = table.objects,
            let seconds = table.propertyList.plainReal(at: slot, in: container, through: objects, under: dateKeys)
        {
            return PropertyListDate(secondsSinceReferenceDate: seconds)
        }
        let number = try table.value(at: slot, in: container)
        guard let date = try table.date(at: number) else { return nil }
        if let instance = try table.dictionary(at: number),
            let slot = try table.propertyList.slot(of: "NS.time", in: instance)
        {
            dateKeys = .init(instance, slot: slot, in: table.propertyList)
        }
        return date
    }

    /// Finds one text of each of some elements of an array, in place.
    ///
    /// - Parameters:
    ///   - indexes: the indexes of the elements.
    ///   - elements: the array.
    ///   - slot: the slot of the text in the last element.
    ///   - texts: receives the bytes of each text, valid as long as the storage. A text without an address needs the
    ///     general path: the element has other keys, the value is not ASCII text, or an object is damaged.
    /// - Returns: false when there is nothing to find.
    package mutating func findTexts(
        of indexes: UnsafeBufferPointer<UInt32>, in elements: BinaryPropertyListContainer, at slot: Int,
        into texts: UnsafeMutableBufferPointer<UnsafeRawBufferPointer>
    ) -> Bool {
        let list = table.propertyList
        guard let objects = table.objects,
            let beginning = BinaryPropertyListReader.KnownBeginning(ofDictionary: run.number, slot: slot, in: list)
        else { return false }
        list.findTexts(of: indexes, in: elements, through: objects, beginning: beginning, into: texts)
        return true
    }
}

/// The state of conversions of an archive's objects to property-list values.
struct PropertyListConversion {
    /// A converted object with its size; the value is nil when the object is or contains no property-list value.
    struct Node {
        var value: PropertyListValue?
        /// The number of values in its expanded tree.
        var size = 1
        /// The number of container levels.
        var height = 0
        /// The number of entries without a value of their own, in its expanded tree.
        var equalKeys = 0
    }

    /// The converted containers and long leaves, for sharing.
    var done: [Int: Node] = [:]
    /// Those that are too small to be cached for the next value.
    private var small: [Int] = []
    /// The expanded values of the current conversion, and the levels of its innermost open container.
    var unfolded = 0
    var height = 0
    var equalKeys = 0
    /// The limit of one value's expanded tree.
    let limit: Int
    /// The remaining limit of all values together.
    private var left: Int?
    private var pace = InterruptionPace()
    var metOtherForm = false
    /// Whether the current conversion met containers that nest too deep, or a container that holds itself.
    var nestsTooDeep = false

    init(_ table: ArchiveObjectTable, _ limits: ArchiveLimits, isReadWhole: Bool) {
        let all = limits.propertyList.maximumValues(ofObjects: table.propertyList.objectCount)
        limit = min(limits.maximumValues, all)
        left = isReadWhole ? all : nil
    }

    /// Begins the next value.
    mutating func begin() {
        (unfolded, height, equalKeys, nestsTooDeep) = (0, 0, 0, false)
        if small.isEmpty { return }
        for number in small { done[number] = nil }
        small.removeAll(keepingCapacity: true)
    }

    /// Counts converted or reused values.
    mutating func count(_ more: Int) throws(PropertyListError) {
        if pace.isDue() { throw .corruptArchive(Interruption.message) }
        unfolded = ConversionBudget.sum(unfolded, more)
        if unfolded > limit { throw .corruptArchive(ConversionError.unfoldsTooFar(limit: limit).message) }
    }

    mutating func keep(_ node: Node, at number: Int, depth: Int) {
        let isSmall = node.size < 64
        if depth > 0 || !isSmall { done[number] = node }
        if depth > 0, isSmall { small.append(number) }
    }

    /// Subtracts a complete value from the limit of all values.
    mutating func spend(_ node: Node) throws(PropertyListError) {
        guard let left else { return }
        guard node.size <= left else {
            throw .corruptArchive(
                "what several objects hold together, counted for each, is more than the archive can stand for")
        }
        self.left = left - node.size
    }
}

extension ArchiveObjectReader {
    /// An object as a property-list value: NSArray, NSSet, NSDictionary, NSDate, NSData, NSString,
    /// NSNumber, NSNull, and their contents. Nil when it is or contains another object, nests too deep, or holds itself.
    ///
    /// - Parameters:
    ///   - number: the object.
    ///   - isInPlace: whether it stands within another one: a container then has no class.
    /// - Returns: the value.
    /// - Throws: `readCorrupt` for a damaged object, and for one that expands beyond the limits.
    package mutating func value(
        at number: Int, isInPlace: Bool = false
    ) throws(PropertyListError) -> PropertyListValue? {
        conversion.begin()
        do throws(PropertyListError) {
            let node = try node(number, depth: 0, isInPlace: isInPlace || table.objects == nil)
            try conversion.spend(node)
            return node.value
        } catch {
            // No damage: other objects hold it as it is. What was converted within it is not kept as without a value.
            if conversion.nestsTooDeep { return nil }
            throw error
        }
    }

    private mutating func node(
        _ number: Int, depth: Int, isInPlace: Bool
    ) throws(PropertyListError) -> PropertyListConversion.Node {
        let deepest = limits.propertyList.maximumDepth
        if !conversion.done.isEmpty, let known = conversion.done[number], depth + known.height <= deepest {
            try conversion.count(known.size)
            conversion.height = max(conversion.height, known.height)
            conversion.equalKeys += known.equalKeys
            return known
        }
        let (before, equalKeys) = (conversion.unfolded, conversion.equalKeys)
        try conversion.count(1)
        guard let container = try table.propertyList.container(at: number) else {
            let node = PropertyListConversion.Node(value: try leaf(number))
            if case .string(let text)? = node.value, text.utf8.count > 255 {
                conversion.keep(node, at: number, depth: depth)
            } else if case .data(let bytes)? = node.value, bytes.count > 255 {
                conversion.keep(node, at: number, depth: depth)
            }
            return node
        }
        if let excess = limits.propertyList.excess(atDepth: depth) {
            conversion.nestsTooDeep = true
            throw .corruptArchive("a value of the archive nests \(excess), or holds itself")
        }
        let outer = conversion.height
        conversion.height = 0
        let value = isInPlace ? try plain(container, depth) : try instance(number, container, depth)
        let node = PropertyListConversion.Node(
            value: value, size: conversion.unfolded - before, height: conversion.height + 1,
            equalKeys: conversion.equalKeys - equalKeys)
        conversion.height = max(outer, node.height)
        conversion.keep(node, at: number, depth: depth)
        return node
    }

    private func leaf(_ number: Int) throws(PropertyListError) -> PropertyListValue? {
        let list = table.propertyList
        if let value = try list.number(at: number) { return PropertyListValue(value) }
        if let text = try list.text(at: number) {
            return table.objects != nil && text == .string("$null") ? .null : text
        }
        if let bytes = try list.data(at: number) { return .data([UInt8](bytes)) }
        return try list.date(at: number).map(PropertyListValue.date)
    }

    private mutating func instance(
        _ number: Int, _ container: BinaryPropertyListContainer, _ depth: Int
    ) throws(PropertyListError) -> PropertyListValue? {
        guard container.kind == .dictionary else { return nil }
        let archived = try archivedClass(of: container)
        if !["NSArray", "NSDictionary", "NSDate"].contains(archived?.name) { conversion.metOtherForm = true }
        switch archived?.foundationClass {
        case .array, .mutableArray:
            return try members("NS.objects", of: container, depth).map(PropertyListValue.array)
        case .set, .mutableSet: return try members("NS.objects", of: container, depth).map(PropertyListValue.set)
        case .dictionary, .mutableDictionary:
            guard let keys = try members("NS.keys", of: container, depth),
                let values = try members("NS.objects", of: container, depth), keys.count == values.count
            else { return nil }
            var entries = PropertyListDictionary()
            entries.reserveCapacity(keys.count)
            for (key, value) in zip(keys, values) { entries.insert(value, forKey: key) }
            conversion.equalKeys += keys.count - entries.count
            return .dictionary(entries)
        case .null: return .null
        case .string, .mutableString: return try table.text(at: number)
        case .data, .mutableData: return try table.data(at: number).map { .data([UInt8]($0)) }
        case .number: return try table.number(at: number).map { PropertyListValue($0) }
        case .date: return try table.date(at: number).map(PropertyListValue.date)
        default: return nil
        }
    }

    private mutating func members(
        _ key: StaticString, of container: BinaryPropertyListContainer, _ depth: Int
    ) throws(PropertyListError) -> [PropertyListValue]? {
        let list = table.propertyList
        guard let value = try list.value(of: key, in: container), let members = try list.container(at: value),
            members.kind == .array
        else { return nil }
        return try values(members, depth, areReferences: true)
    }

    /// The values of a list, which in a collection has references only.
    private mutating func values(
        _ members: BinaryPropertyListContainer, _ depth: Int, areReferences: Bool
    ) throws(PropertyListError) -> [PropertyListValue]? {
        let list = table.propertyList
        var values: [PropertyListValue] = []
        for index in 0..<members.count {
            let number = list.reference(index, in: members)
            if areReferences, try list.uid(at: number) == nil { return nil }
            guard let value = try part(number, depth) else { return nil }
            values.append(value)
        }
        return values
    }

    /// The value of a reference, or of an object in place.
    private mutating func part(_ number: Int, _ depth: Int) throws(PropertyListError) -> PropertyListValue? {
        guard table.objects != nil, let uid = try table.propertyList.uid(at: number) else {
            return try node(number, depth: depth + 1, isInPlace: true).value
        }
        return try node(try table.number(of: uid), depth: depth + 1, isInPlace: false).value
    }

    /// A container of a plain property list, or one in place, which may have references.
    private mutating func plain(
        _ container: BinaryPropertyListContainer, _ depth: Int
    ) throws(PropertyListError) -> PropertyListValue? {
        if table.objects != nil { conversion.metOtherForm = true }
        if container.kind == .array {
            return try values(container, depth, areReferences: false).map(PropertyListValue.array)
        }
        guard container.kind == .dictionary else { return nil }
        let list = table.propertyList
        var entries = PropertyListDictionary()
        for index in 0..<container.count {
            guard let key = try part(list.reference(index, in: container), depth),
                let value = try part(list.valueReference(index, in: container), depth)
            else { return nil }
            entries.insert(value, forKey: key)
        }
        conversion.equalKeys += container.count - entries.count
        return .dictionary(entries)
    }
}
