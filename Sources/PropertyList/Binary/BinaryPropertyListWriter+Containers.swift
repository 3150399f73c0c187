internal import CPlatform

extension BinaryPropertyListWriter {
    // MARK: - References set later

    /// Adds an array whose `count` references are set later by `setReference`.
    ///
    /// - Returns: its number, and the offset of its first reference.
    package func array(count: Int) -> (number: ObjectNumber, references: Int) {
        openContainer(0xA0, count: count, references: count)
    }

    /// Adds a set whose `count` references are set later.
    package func set(count: Int) -> (number: ObjectNumber, references: Int) {
        openContainer(0xC0, count: count, references: count)
    }

    /// Adds a dictionary of `count` entries: the references of all keys, then those of all values.
    package func dictionary(count: Int) -> (number: ObjectNumber, references: Int) {
        openContainer(0xD0, count: count, references: count * 2)
    }

    /// Adds a dictionary of objects of the table.
    package func dictionary(of entries: [(key: ObjectNumber, value: ObjectNumber)]) -> ObjectNumber {
        let (number, references) = dictionary(count: entries.count)
        for (index, entry) in entries.enumerated() {
            setReference(index, in: references, to: entry.key)
            setReference(entries.count + index, in: references, to: entry.value)
        }
        return number
    }

    /// Sets the reference at `index` of `references`, which `array`, `set` or `dictionary` returned.
    @inline(__always)
    package func setReference(_ index: Int, in references: Int, to number: ObjectNumber) {
        let place = references + index * ObjectSizes.reference
        precondition(place + ObjectSizes.reference <= body.count, "a reference outside its container")
        store(number, at: place)
    }

    /// Adds a container; with `isCleared` its references are initially 0.
    @inline(__always)
    private func openContainer(
        _ marker: UInt8, count: Int, references: Int, isCleared: Bool = true
    ) -> (number: ObjectNumber, references: Int) {
        let size = references &* ObjectSizes.reference
        body.ensure(size &+ 16)
        let start = UnsafeMutableRawPointer(body.base + body.count)
        let header = Self.storeHeader(marker, count: count, at: start)
        if isCleared { (start + header).initializeMemory(as: UInt8.self, repeating: 0, count: size) }
        let place = body.count &+ header
        return (appendObject(ofSize: header &+ size), place)
    }

    // MARK: - Complete containers

    /// Adds an array of objects of the table.
    package func array(of objects: UnsafeBufferPointer<ObjectNumber>) -> ObjectNumber {
        let (number, references) = openContainer(
            0xA0, count: objects.count, references: objects.count, isCleared: false)
        store(objects, at: references)
        return number
    }

    /// Adds an array of references into `$objects`: the form of a keyed archive's collections.
    package func array(ofUIDs uids: UnsafeBufferPointer<UInt32>) -> ObjectNumber {
        let (number, references) = array(count: uids.count)
        for index in 0..<uids.count { setReference(index, in: references, to: uid(uids[index])) }
        return number
    }

    /// Adds an array of a list of objects of the table, which is empty afterwards. Finished parts go to the file.
    package func array(of objects: NumberList) throws(PropertyListError) -> ObjectNumber {
        let number = openContainer(0xA0, count: objects.count, references: 0).number
        try objects.forEachPiece { piece in
            let size = piece.count * ObjectSizes.reference
            body.ensure(size)
            store(piece, at: body.count)
            body.advance(size)
            flush()
        }
        return number
    }

    /// Adds a dictionary of leaves and objects of the table: itself first, then its new keys, then its new values.
    package func dictionary(_ fields: UnsafeBufferPointer<BinaryPropertyListField>) -> ObjectNumber {
        let count = fields.count
        let (number, references) = openContainer(0xD0, count: count, references: count &* 2, isCleared: false)
        var place = references
        for index in 0..<count {
            let key = Int(fields[index].key)
            precondition(key < keyObjects.count, "a key of another table")
            var object = keyObjects[key]
            if object == Self.none {
                object = string(text(ofKey: fields[index].key))
                keyObjects[key] = object
            }
            store(object, at: place)
            place &+= ObjectSizes.reference
        }
        for index in 0..<count {
            store(scalar(fields[index]), at: place)
            place &+= ObjectSizes.reference
        }
        return number
    }

    /// Adds the scalar of a field.
    @inline(__always)
    package func scalar(_ field: BinaryPropertyListField) -> ObjectNumber {
        switch field.kind {
        case .uid: uid(UInt32(truncatingIfNeeded: field.payload))
        case .object: UInt32(truncatingIfNeeded: field.payload)
        case .boolean: boolean(field.payload != 0)
        case .integer: integer(Int64(bitPattern: field.payload))
        case .real: real(Double(bitPattern: field.payload))
        case .unsharedReal: unsharedReal(field.payload)
        case .single: real(Float(bitPattern: UInt32(truncatingIfNeeded: field.payload)))
        }
    }

    @inline(__always)
    private func store(_ numbers: UnsafeBufferPointer<ObjectNumber>, at place: Int) {
        for (index, number) in numbers.enumerated() { store(number, at: place &+ index &* ObjectSizes.reference) }
    }

    @inline(__always)
    private func store(_ number: ObjectNumber, at place: Int) {
        UnsafeMutableRawPointer(body.base + place).storeBytes(of: number.bigEndian, as: UInt32.self)
    }
}

extension BinaryPropertyListWriter {
    /// Adds a tree of values, containers before their contents. The keys of a dictionary are sorted.
    ///
    /// - Parameters:
    ///   - value: the value.
    ///   - maximumDepth: the limit of its nesting.
    ///   - allowsUIDs: whether it may hold UIDs, which only mean something in the archive that they come from.
    /// - Returns: its number.
    /// - Throws: `writeInvalid` for nesting beyond `maximumDepth`, and for a UID that is not allowed.
    package func add(
        _ value: PropertyListValue, maximumDepth: Int = PropertyListLimits.standard.maximumDepth,
        allowsUIDs: Bool = true
    ) throws(PropertyListError) -> ObjectNumber {
        var budget = ConversionBudget(values: PropertyListLimits.standard.maximumValues)
        return try add(within: value, maximumDepth, allowsUIDs, &budget)
    }

    private func add(
        within value: PropertyListValue, _ maximumDepth: Int, _ allowsUIDs: Bool, _ budget: inout ConversionBudget
    ) throws(PropertyListError) -> ObjectNumber {
        do throws(ConversionError) { try budget.visit() } catch { throw .unwritable(error.message) }
        switch value {
        case .null: return null()
        case .boolean(let value): return boolean(value)
        case .integer(let value): return integer(value)
        case .wideInteger(let value): return integer(value)
        case .real(let value): return real(value)
        case .single(let value): return real(value)
        case .date(let value): return date(value)
        case .data(let bytes): return data(bytes)
        case .string(let text): return string(text)
        case .utf16(let units): return string(units: units)
        case .uid(let value):
            guard allowsUIDs else { throw .unwritable("a UID has no meaning outside its own archive") }
            return uid(value)
        case .array(let elements):
            return try fill(array(count: elements.count), with: elements, maximumDepth, allowsUIDs, &budget)
        case .set(let elements):
            return try fill(set(count: elements.count), with: elements, maximumDepth, allowsUIDs, &budget)
        case .dictionary(let entries):
            let entries = entries.sortedEntries
            let contents = entries.map(\.key) + entries.map(\.value)
            return try fill(dictionary(count: entries.count), with: contents, maximumDepth, allowsUIDs, &budget)
        }
    }

    private func fill(
        _ container: (number: ObjectNumber, references: Int), with contents: [PropertyListValue], _ maximumDepth: Int,
        _ allowsUIDs: Bool, _ budget: inout ConversionBudget
    ) throws(PropertyListError) -> ObjectNumber {
        guard maximumDepth > 0, cubby_stack_is_short() == 0 else {
            throw .unwritable("containers nest too deep to be written")
        }
        for (index, content) in contents.enumerated() {
            let number = try add(within: content, maximumDepth - 1, allowsUIDs, &budget)
            setReference(index, in: container.references, to: number)
        }
        return container.number
    }
}

/// The entries of a dictionary in a text, where a key may stand twice: the last value counts, at the place of the first.
struct LastEntries<Key: Hashable> {
    private var places: [Key: Int] = [:]
    private(set) var all: [(key: UInt32, value: UInt32)] = []

    /// Adds an entry: its key, and the numbers of the key and the value.
    ///
    /// - Returns: whether the key is new.
    mutating func add(_ key: Key, _ number: UInt32, _ value: UInt32) -> Bool {
        if let place = places[key] {
            all[place].value = value
            return false
        }
        places[key] = all.count
        all.append((number, value))
        return true
    }
}

extension BinaryPropertyListWriter {
    /// Adds an object of another property list with everything below it: containers before their contents, each object
    /// and each equal leaf once. O(reachable objects).
    ///
    /// - Throws: `readCorrupt` for damaged objects and cyclic containers, `writeInvalid` for nesting beyond the
    ///   reader's limit.
    package func add(_ number: Int, of reader: BinaryPropertyListReader) throws(PropertyListError) -> ObjectNumber {
        var copying = TableCopying(reader: reader, writer: self)
        return try copying.copy(number, depth: 0)
    }
}

extension BinaryPropertyListReader {
    /// The property list in this writer's binary form: the root first, no unreferenced objects, equal leaves once.
    package func binary() throws(PropertyListError) -> [UInt8] {
        let writer = BinaryPropertyListWriter()
        let top = try writer.add(topObject, of: self)
        return try writer.finish(topObject: top)
    }
}

private struct TableCopying {
    let reader: BinaryPropertyListReader
    let writer: BinaryPropertyListWriter
    private var done: [Int: UInt32] = [:]
    private var open: Set<Int> = []
    private var budget: DecodingBudget
    private var pace = InterruptionPace()

    init(reader: BinaryPropertyListReader, writer: BinaryPropertyListWriter) {
        self.reader = reader
        self.writer = writer
        budget = DecodingBudget(reader)
    }

    mutating func copy(_ number: Int, depth: Int) throws(PropertyListError) -> UInt32 {
        if let known = done[number] {
            guard !open.contains(number) else { throw .corrupt("container number \(number) contains itself") }
            return known
        }
        if pace.isDue() { throw .unwritable(Interruption.message) }
        try budget.spend(number)
        guard let container = try reader.container(at: number) else {
            let leaf = try writer.add(try reader.value(at: number))
            done[number] = leaf
            return leaf
        }
        if let excess = reader.limits.excess(atDepth: depth) { throw .unwritable("containers nest \(excess)") }
        let (copy, references) =
            switch container.kind {
            case .dictionary: writer.dictionary(count: container.count)
            case .set: writer.set(count: container.count)
            default: writer.array(count: container.count)
            }
        done[number] = copy
        open.insert(number)
        for index in 0..<container.count {
            let element = try self.copy(reader.reference(index, in: container), depth: depth + 1)
            writer.setReference(index, in: references, to: element)
        }
        if container.kind == .dictionary {
            for index in 0..<container.count {
                let value = try self.copy(reader.valueReference(index, in: container), depth: depth + 1)
                writer.setReference(container.count + index, in: references, to: value)
            }
        }
        open.remove(number)
        return copy
    }
}
