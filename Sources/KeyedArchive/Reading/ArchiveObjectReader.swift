package import PropertyList

/// Reads an archive's objects one field at a time, where they lie.
///
/// Opening costs O(1), each object is checked when it is read, and of what many objects have in common, classes and keys,
/// nothing is read twice. A value: each thread reads with a copy of its own.
package struct ArchiveObjectReader: @unchecked Sendable {
    // Unchecked: what its tables point to is in the storage, which is immutable and held.

    package let table: ArchiveObjectTable
    let limits: ArchiveLimits
    var shapes = ArchiveShapeTable()
    private var classes: ArchiveClassTable
    /// The keys of the element read last.
    private var run = ArchiveKeyRun()
    /// The keys of the dates met lately.
    private var dateKeys: BinaryPropertyListReader.KnownKeys?
    var conversion: PropertyListConversion
    /// Whether a value was of a class other than the archiver writes for it: a mutable one, say.
    package var metOtherForm: Bool { conversion.metOtherForm }

    /// - Parameters:
    ///   - table: the objects.
    ///   - limits: how much to take.
    ///   - isReadWhole: whether all values of the archive are to be in memory, so that they have one limit together.
    package init(_ table: ArchiveObjectTable, limits: ArchiveLimits = .standard, isReadWhole: Bool = false) {
        self.table = table
        self.limits = limits
        classes = ArchiveClassTable(table.propertyList, limits)
        conversion = PropertyListConversion(table, limits, isReadWhole: isReadWhole)
    }

    /// The shape of a dictionary: its keys.
    package mutating func shape(
        of container: BinaryPropertyListContainer
    ) throws(PropertyListError) -> ArchiveShape {
        try shapes.shape(of: container, in: table.propertyList)
    }

    // MARK: Classes

    /// The class description at a UID.
    package mutating func archivedClass(at uid: UInt32) throws(PropertyListError) -> ArchivedClass {
        try classes.archivedClass(at: uid, in: table)
    }

    /// The class of an instance; nil when it names none.
    package mutating func archivedClass(
        of container: BinaryPropertyListContainer
    ) throws(PropertyListError) -> ArchivedClass? {
        guard let value = try table.propertyList.value(of: "$class", in: container),
            let uid = try table.propertyList.uid(at: value)
        else { return nil }
        return try archivedClass(at: uid)
    }

    /// What an object is, in words.
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

    // What is read of each of many objects mutates, if only for speed: a reader that does not is copied for each call.

    /// Which run of elements that have the same keys the last one belongs to; -1 before there is one.
    package var runNumber: Int { run.number }

    /// The dictionary that an element of a list of references names; nil for another object.
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

    /// What a value stands for: the object that it names, or itself.
    package mutating func resolve(_ value: Int) throws(PropertyListError) -> Int { try table.resolve(value) }

    /// What the value under a slot of a dictionary stands for.
    package mutating func object(
        at slot: Int, in container: BinaryPropertyListContainer
    ) throws(PropertyListError) -> Int {
        try table.value(at: slot, in: container)
    }

    /// The date under a slot of a dictionary; nil for another object.
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

    /// Finds a text of each of some elements of an array, where they lie.
    ///
    /// - Parameters:
    ///   - indexes: which elements.
    ///   - elements: the array.
    ///   - slot: the place of the text among the keys of the element read last.
    ///   - texts: gets the bytes of each, which live as long as the storage. One without an address cannot be read in
    ///     this way: the element has other keys, its value is no plain ASCII text, or something is wrong.
    /// - Returns: whether there is something to be found.
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
