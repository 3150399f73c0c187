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

    /// A description of an object for messages.
    package mutating func describe(_ number: Int) -> String {
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
