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
        let size = sizes.referenceSize
        precondition(references + (index + 1) * size <= body.count, "a reference outside its container")
        precondition(size == 4 || number <= 0xFFFF, "a reference beyond those that were reserved")
        store(number, size, at: UnsafeMutableRawPointer(body.base + references + index * size))
    }

    /// Sets consecutive references to the numbers of another table, increased by `shift`.
    package func setReferences(_ numbers: UnsafeBufferPointer<ObjectNumber>, shift: ObjectNumber, in references: Int) {
        let size = sizes.referenceSize
        precondition(references + numbers.count * size <= body.count, "references outside their container")
        store(numbers, shift: shift, at: UnsafeMutableRawPointer(body.base + references))
    }

    /// The size of a reference in bytes.
    package var referenceSize: Int { sizes.referenceSize }

    /// Adds a container; with `isCleared` its references are initially 0.
    @inline(__always)
    private func openContainer(
        _ marker: UInt8, count: Int, references: Int, isCleared: Bool = true
    ) -> (number: ObjectNumber, references: Int) {
        let size = references &* sizes.referenceSize
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
        reserveReferences(toMore: 1)
        let (number, references) = openContainer(
            0xA0, count: objects.count, references: objects.count, isCleared: false)
        store(objects, at: UnsafeMutableRawPointer(body.base + references))
        return number
    }

    /// Adds an array of references into `$objects`: the form of a keyed archive's collections.
    package func array(ofUIDs uids: UnsafeBufferPointer<UInt32>) -> ObjectNumber {
        reserveReferences(toMore: uids.count + 1)
        let (number, references) = array(count: uids.count)
        for index in 0..<uids.count { setReference(index, in: references, to: uid(uids[index])) }
        return number
    }

    /// Adds an array of a list of objects of the table, which is empty afterwards. Finished parts go to the file.
    package func array(of objects: NumberList) throws(PropertyListError) -> ObjectNumber {
        reserveReferences(toMore: 1)
        let number = openContainer(0xA0, count: objects.count, references: 0).number
        try objects.forEachPiece { piece in
            let size = piece.count * sizes.referenceSize
            body.ensure(size)
            store(piece, at: UnsafeMutableRawPointer(body.base + body.count))
            body.advance(size)
            flush()
        }
        return number
    }

    /// Adds a dictionary of leaves and objects of the table: itself first, then its new keys, then its new values.
    package func dictionary(_ fields: UnsafeBufferPointer<BinaryPropertyListField>) -> ObjectNumber {
        let count = fields.count
        reserveReferences(toMore: count &* 2 &+ 1)
        let (number, references) = openContainer(0xD0, count: count, references: count &* 2, isCleared: false)
        let size = sizes.referenceSize
        var place = references
        for index in 0..<count {
            let key = Int(fields[index].key)
            precondition(key < keyObjects.count, "a key of another table")
            var object = keyObjects[key]
            if object == Self.none {
                object = string(text(ofKey: fields[index].key))
                keyObjects[key] = object
            }
            store(object, size, at: UnsafeMutableRawPointer(body.base + place))
            place &+= size
        }
        for index in 0..<count {
            let object = scalar(fields[index])
            store(object, size, at: UnsafeMutableRawPointer(body.base + place))
            place &+= size
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
    private func store(
        _ numbers: UnsafeBufferPointer<ObjectNumber>, shift: ObjectNumber = 0, at target: UnsafeMutableRawPointer
    ) {
        if sizes.referenceSize == 2 {
            for index in 0..<numbers.count {
                let number = UInt16(truncatingIfNeeded: numbers[index] &+ shift)
                target.storeBytes(of: number.bigEndian, toByteOffset: index &* 2, as: UInt16.self)
            }
        } else {
            for index in 0..<numbers.count {
                let number = numbers[index] &+ shift
                target.storeBytes(of: number.bigEndian, toByteOffset: index &* 4, as: UInt32.self)
            }
        }
    }

    @inline(__always)
    private func store(_ number: ObjectNumber, _ size: Int, at target: UnsafeMutableRawPointer) {
        if size == 2 {
            target.storeBytes(of: UInt16(truncatingIfNeeded: number).bigEndian, as: UInt16.self)
        } else {
            target.storeBytes(of: number.bigEndian, as: UInt32.self)
        }
    }
}

extension BinaryPropertyListWriter {
    /// Adds a tree of values, containers before their contents. The keys of a dictionary are sorted.
    ///
    /// - Throws: `writeInvalid` for nesting beyond `maximumDepth`.
    package func add(
        _ value: PropertyListValue, maximumDepth: Int = PropertyListLimits.standard.maximumDepth
    ) throws(PropertyListError) -> ObjectNumber {
        // Its containers are open while their contents are added.
        var budget = ConversionBudget(values: PropertyListLimits.standard.maximumValues)
        do throws(ConversionError) {
            reserveReferences(toMore: try Self.mostObjects(of: value, maximumDepth, &budget))
        } catch {
            throw .unwritable(error.message)
        }
        var pace = InterruptionPace()
        return try add(within: value, maximumDepth, &pace)
    }

    /// An upper bound for the objects of a tree. Values that are nested too deep are refused later.
    private static func mostObjects(
        of value: PropertyListValue, _ maximumDepth: Int, _ budget: inout ConversionBudget
    ) throws(ConversionError) -> Int {
        try budget.visit()
        guard maximumDepth > 0, cubby_stack_is_short() == 0 else { return 1 }
        var count = 1
        switch value {
        case .array(let elements), .set(let elements):
            for element in elements { count += try mostObjects(of: element, maximumDepth - 1, &budget) }
        case .dictionary(let entries):
            for entry in entries.textEntries.values {
                count += 1 + (try mostObjects(of: entry, maximumDepth - 1, &budget))
            }
            for (key, entry) in entries.sortedOtherEntries {
                count += try mostObjects(of: key, maximumDepth - 1, &budget)
                count += try mostObjects(of: entry, maximumDepth - 1, &budget)
            }
        default: break
        }
        return count
    }

    private func add(
        within value: PropertyListValue, _ maximumDepth: Int, _ pace: inout InterruptionPace
    ) throws(PropertyListError) -> ObjectNumber {
        if pace.isDue() { throw .unwritable(Interruption.message) }
        switch value {
        case .null: return null()
        case .boolean(let value): return boolean(value)
        case .integer(let value): return integer(value)
        case .wideInteger(let value): return integer(value)
        case .real(let value): return real(value)
        case .single(let value): return real(value)
        case .date(let value): return date(value)
        case .data(let bytes): return bytes.withUnsafeBytes { data($0) }
        case .string(let text): return string(text)
        case .utf16(let units): return string(units: units)
        case .uid(let value): return uid(value)
        case .array(let elements):
            let (number, references) = array(count: elements.count)
            try fill(references, with: elements, maximumDepth, &pace)
            return number
        case .set(let elements):
            let (number, references) = set(count: elements.count)
            try fill(references, with: elements, maximumDepth, &pace)
            return number
        case .dictionary(let entries):
            guard maximumDepth > 0, cubby_stack_is_short() == 0 else { throw Self.tooDeep }
            let (number, references) = dictionary(count: entries.count)
            let entries = entries.sortedEntries
            for (index, entry) in entries.enumerated() {
                let key = try add(within: entry.key, maximumDepth - 1, &pace)
                setReference(index, in: references, to: key)
            }
            for (index, entry) in entries.enumerated() {
                let object = try add(within: entry.value, maximumDepth - 1, &pace)
                setReference(entries.count + index, in: references, to: object)
            }
            return number
        }
    }

    private func fill(
        _ references: Int, with elements: [PropertyListValue], _ maximumDepth: Int, _ pace: inout InterruptionPace
    ) throws(PropertyListError) {
        guard maximumDepth > 0, cubby_stack_is_short() == 0 else { throw Self.tooDeep }
        for (index, element) in elements.enumerated() {
            setReference(index, in: references, to: try add(within: element, maximumDepth - 1, &pace))
        }
    }

    private static var tooDeep: PropertyListError {
        .unwritable("containers nest too deep to be written")
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
