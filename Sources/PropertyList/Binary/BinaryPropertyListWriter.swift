/// Writes a binary property list straight into its object table, without a tree of values.
///
/// Objects are numbered in the order in which they are added. Leaves are kept once each, by kind and exact content:
/// adding a string twice gives the same number, unless hundreds of thousands of others came between. Containers are added before or after their contents, as the caller
/// likes; `references` are filled in later. Nothing is written about an object but its bytes, so the result depends on
/// the calls alone.
///
/// References are held in four bytes while objects are added, and narrowed to what the final count needs by `finish`.
public final class BinaryPropertyListWriter {
    /// The number of an object in this writer's table.
    public typealias ObjectNumber = UInt32
    /// The number of a dictionary key that `key(_:)` has registered.
    public typealias KeyNumber = UInt32

    let body: GrowableBuffer<UInt8>
    let places: ObjectPlaces
    /// Where the body goes piece by piece, when it is not kept.
    let stream: ObjectStream?
    let leaves: LeafTable
    /// The slot of the leaf that was added last; below 0 the small integer of that number, counted from -1 down.
    @exclusivity(unchecked) private var lastLeaf = 0
    /// The tag of that leaf: looking it up again would wait for memory.
    @exclusivity(unchecked) private var lastTag: UInt32 = 0
    private let smallIntegerTags = GrowableBuffer<UInt32>(capacity: 1024)
    private let uidObjects: GrowableBuffer<UInt32>
    /// Those of the first UIDs, when the others are forgotten: classes have them, and stand in every record.
    @exclusivity(unchecked) private var lowUIDs: [UInt32] = []
    /// Leaves that wait for `commitStaged`: their bytes, and where each is.
    let staging = GrowableBuffer<UInt8>(capacity: 256)
    let staged = GrowableBuffer<StagedLeaf>(capacity: 16)
    /// Where looked-at slots go, so that looking at them is not optimised away.
    @exclusivity(unchecked) var peeked: UInt32 = 0
    @exclusivity(unchecked) private var keyTexts: [String] = []
    /// The objects of the registered keys' strings; no access overlaps another.
    @exclusivity(unchecked) private var keyObjects: [UInt32] = []
    @exclusivity(unchecked) private var keyNumbers: [String: KeyNumber] = [:]
    /// The objects of the integers below 1024, which are most.
    private let smallIntegers = GrowableBuffer<UInt32>(capacity: 1024)
    /// The number of the first object: what stands before this table once it is joined to others.
    package let firstNumber: UInt32
    @exclusivity(unchecked) private(set) var isFull = false

    static let none = UInt32.max

    struct StagedLeaf: BitwiseCopyable {
        var hash: UInt32
        var start: Int
        var length: Int
    }

    /// - Parameters:
    ///   - firstNumber: the number that the first object gets.
    ///   - expectedObjects: how many objects to make room for at once; more may come.
    ///   - expectedBytes: how many bytes they take.
    ///   - expectedLeaves: how many of them are shared leaves.
    public init(
        firstNumber: ObjectNumber = 0, expectedObjects: Int = 64, expectedBytes: Int = 1024, expectedLeaves: Int = 64
    ) {
        self.firstNumber = firstNumber
        stream = nil
        body = GrowableBuffer(capacity: expectedBytes)
        places = ObjectPlaces(capacity: expectedObjects)
        leaves = LeafTable(
            capacity: min(expectedLeaves, LeafTable.capacity(ofBytes: expectedBytes / Self.bodyToLeaves)),
            firstNumber: firstNumber)
        uidObjects = GrowableBuffer(capacity: min(expectedObjects / 2, Self.rememberedUIDs))
        forgetSmallIntegers()
    }

    /// A table whose objects go to a file while more are added; see `flush`.
    ///
    /// - Parameters:
    ///   - output: where the file goes.
    ///   - firstNumber: the number that the first object gets.
    package init(writingTo output: any PropertyListOutput, firstNumber: ObjectNumber) {
        self.firstNumber = firstNumber
        let stream = ObjectStream(output)
        self.stream = stream
        body = GrowableBuffer(capacity: 1024)
        places = ObjectPlaces(capacity: 64, recorder: stream.places)
        leaves = LeafTable(firstNumber: firstNumber)
        uidObjects = GrowableBuffer()
        forgetSmallIntegers()
    }

    private func forgetSmallIntegers() {
        for _ in 0..<1024 {
            smallIntegers.append(Self.none)
            smallIntegerTags.append(0)
        }
    }

    /// How many objects have been added.
    public var objectCount: Int { places.count }

    // MARK: - Leaves

    /// Adds a string. O(length), amortised.
    public func string(_ value: String) -> ObjectNumber {
        if let number = value.utf8.withContiguousStorageIfAvailable({ string(validUTF8: $0) }) { return number }
        var copy = value
        return copy.withUTF8 { string(validUTF8: $0) }
    }

    /// Adds a string given as UTF-8 that is known to be valid.
    public func string(validUTF8 text: UnsafeBufferPointer<UInt8>) -> ObjectNumber {
        let start = body.count
        guard writeString(text), let source = text.baseAddress else { return commitLeaf(from: start) }
        return commitLeaf(from: start, hash: LeafTable.hash(source, text.count))
    }

    /// Writes a string's object.
    ///
    /// - Returns: whether it is text of the one-byte form. Its hash is that of the text then: reading again at once what was
    ///   just written, at other boundaries, makes the processor wait.
    @inline(__always)
    func writeString(_ text: UnsafeBufferPointer<UInt8>) -> Bool {
        let length = text.count
        body.ensure(length + 16)
        let start = body.count
        appendHeader(0x50, count: length)
        guard let source = text.baseAddress, length > 0 else { return false }
        guard Self.copyASCII(source, to: body.base + body.count, count: length) else {
            body.truncate(to: start)
            writeWideString(text)
            return false
        }
        body.advance(length)
        return true
    }

    /// Adds a string given as UTF-8, or nil when it is not valid.
    public func string(validatingUTF8 text: UnsafeBufferPointer<UInt8>) -> ObjectNumber? {
        guard let value = String(validating: text, as: UTF8.self) else { return nil }
        return string(value)
    }

    public func boolean(_ value: Bool) -> ObjectNumber {
        leaf(value ? 0x09 : 0x08)
    }

    /// Adds null, which a keyed archive never holds.
    public func null() -> ObjectNumber {
        leaf(0x00)
    }

    /// Adds an integer in the fewest bytes: 1, 2 or 4 unsigned, else 8.
    public func integer(_ value: Int64) -> ObjectNumber {
        if UInt64(bitPattern: value) < 1024 {
            let index = Int(truncatingIfNeeded: value)
            let known = smallIntegers[index]
            if known != Self.none {
                lastLeaf = -1 - index
                lastTag = smallIntegerTags[index]
                return known
            }
            let number = sharedInteger(value)
            smallIntegers[index] = number
            lastLeaf = -1 - index
            lastTag = 0
            return number
        }
        return sharedInteger(value)
    }

    private func sharedInteger(_ value: Int64) -> ObjectNumber {
        body.ensure(16)
        let start = body.count
        appendInteger(value)
        return commitLeaf(from: start)
    }

    /// Adds an integer that `Int64` cannot hold, in 16 bytes.
    public func integer(_ value: Int128) -> ObjectNumber {
        if let small = Int64(exactly: value) { return integer(small) }
        body.ensure(24)
        let start = body.count
        appendByte(0x14)
        appendBigEndian(UInt64(truncatingIfNeeded: value >> 64))
        appendBigEndian(UInt64(truncatingIfNeeded: value))
        return commitLeaf(from: start)
    }

    public func real(_ value: Double) -> ObjectNumber {
        eightBytes(0x23, value.bitPattern)
    }

    public func real(_ value: Float) -> ObjectNumber {
        body.ensure(8)
        let start = body.count
        appendByte(0x22)
        appendBigEndian(value.bitPattern)
        return commitLeaf(from: start)
    }

    /// Adds a date; the caller has seen to it that it is finite.
    public func date(_ value: PropertyListDate) -> ObjectNumber {
        eightBytes(0x33, value.secondsSinceReferenceDate.bitPattern)
    }

    public func data(_ value: UnsafeRawBufferPointer) -> ObjectNumber {
        body.ensure(value.count + 16)
        let start = body.count
        appendHeader(0x40, count: value.count)
        if let source = value.baseAddress, !value.isEmpty {
            UnsafeMutableRawPointer(body.base + body.count).copyMemory(from: source, byteCount: value.count)
            body.advance(value.count)
        }
        return commitLeaf(from: start)
    }

    /// Adds a reference into `$objects` of a keyed archive. Each value is kept once.
    public func uid(_ value: UInt32) -> ObjectNumber {
        let index = Int(value)
        // Archives number their objects densely; a reference out of all proportion goes through the common table.
        guard index < uidObjects.count &+ (1 << 16) else { return sparseUID(value) }
        guard index >= uidObjects.origin else { return index < lowUIDs.count ? lowUIDs[index] : sparseUID(value) }
        while index >= uidObjects.count { uidObjects.append(Self.none) }
        let known = uidObjects[index]
        if known != Self.none { return known }
        body.ensure(8)
        let start = body.count
        appendUID(value)
        let number = appendObject(at: start)
        uidObjects[index] = number
        return number
    }

    // MARK: - Containers

    /// Adds an array whose `count` references are set later by `setReference`.
    ///
    /// - Returns: its number, and the place of its first reference.
    public func array(count: Int) -> (number: ObjectNumber, references: Int) {
        container(0xA0, count: count, references: count)
    }

    /// Adds a set whose `count` references are set later.
    public func set(count: Int) -> (number: ObjectNumber, references: Int) {
        container(0xC0, count: count, references: count)
    }

    /// Adds a dictionary of `count` entries: first the references of all keys, then those of all values.
    public func dictionary(count: Int) -> (number: ObjectNumber, references: Int) {
        container(0xD0, count: count, references: count * 2)
    }

    /// Adds an array of references into `$objects`: the form of a keyed archive's collections.
    public func array(ofUIDs uids: UnsafeBufferPointer<UInt32>) -> ObjectNumber {
        let (number, references) = array(count: uids.count)
        for index in 0..<uids.count { setReference(index, in: references, to: uid(uids[index])) }
        return number
    }

    /// Adds an array of objects that are in the table already.
    public func array(of objects: UnsafeBufferPointer<ObjectNumber>) -> ObjectNumber {
        let (number, references) = array(count: objects.count)
        for index in 0..<objects.count { setReference(index, in: references, to: objects[index]) }
        return number
    }

    /// Sets the reference at `index` behind `references`, which came from `array`, `set` or `dictionary`.
    @inline(__always)
    public func setReference(_ index: Int, in references: Int, to number: ObjectNumber) {
        precondition(references + index * 4 + 4 <= body.count, "a reference outside its container")
        UnsafeMutableRawPointer(body.base + references + index * 4)
            .storeBytes(of: number.bigEndian, as: UInt32.self)
    }

    /// Sets the references from `references` on to the numbers of another table, moved by `shift`.
    public func setReferences(_ numbers: UnsafeBufferPointer<ObjectNumber>, shift: ObjectNumber, in references: Int) {
        precondition(references + numbers.count * 4 <= body.count, "references outside their container")
        let target = UnsafeMutableRawPointer(body.base + references)
        for index in 0..<numbers.count {
            target.storeBytes(of: (numbers[index] &+ shift).bigEndian, toByteOffset: index * 4, as: UInt32.self)
        }
    }

    /// Registers a dictionary key; its string is added to the table when first used.
    public func key(_ text: String) -> KeyNumber {
        if let known = keyNumbers[text] { return known }
        let number = KeyNumber(truncatingIfNeeded: keyTexts.count)
        keyTexts.append(text)
        keyObjects.append(Self.none)
        keyNumbers[text] = number
        return number
    }

    /// The text of a registered key.
    public func text(ofKey key: KeyNumber) -> String { keyTexts[Int(key)] }

    /// Adds a dictionary of leaves and known objects: itself first, then its keys, then its values, those that are new.
    public func dictionary(_ fields: UnsafeBufferPointer<BinaryPropertyListField>) -> ObjectNumber {
        let count = fields.count
        let (number, references) = container(0xD0, count: count, references: count * 2, isCleared: false)
        for index in 0..<count {
            let key = Int(fields[index].key)
            var object = keyObjects[key]
            if object == Self.none {
                object = string(keyTexts[key])
                keyObjects[key] = object
            }
            setReference(index, in: references, to: object)
        }
        for index in 0..<count {
            setReference(count + index, in: references, to: add(fields[index]))
        }
        return number
    }

    /// Adds the scalar of a field.
    public func scalar(_ field: BinaryPropertyListField) -> ObjectNumber { add(field) }

    @inline(__always)
    private func add(_ field: BinaryPropertyListField) -> ObjectNumber {
        switch field.kind {
        case .object: UInt32(truncatingIfNeeded: field.payload)
        case .uid: uid(UInt32(truncatingIfNeeded: field.payload))
        case .boolean: boolean(field.payload != 0)
        case .integer: integer(Int64(bitPattern: field.payload))
        case .real: eightBytes(0x23, field.payload)
        case .unsharedReal: unsharedReal(field.payload)
        case .single: real(Float(bitPattern: UInt32(truncatingIfNeeded: field.payload)))
        }
    }

    /// By how much the objects themselves take more memory than the table that finds equal leaves again.
    static let bodyToLeaves = 10

    /// Holds what is remembered of leaves and UIDs to a small part of the whole.
    @inline(__always)
    func limitMemory() {
        leaves.limit(toBytes: body.count / Self.bodyToLeaves)
        if uidObjects.count - uidObjects.origin > Self.rememberedUIDs { forgetUIDs() }
    }

    /// How many of the last UIDs have one object each.
    static let rememberedUIDs = 1 << 18

    /// Forgets the objects of the lower UIDs: another reference to one of them gets an object of its own.
    @inline(never)
    private func forgetUIDs() {
        if lowUIDs.isEmpty {
            for index in 0..<64 {
                lowUIDs.append(uidObjects[index] == Self.none ? sparseUID(UInt32(index)) : uidObjects[index])
            }
        }
        uidObjects.dropFirst(upTo: uidObjects.count - Self.rememberedUIDs / 2)
    }

    /// Gives back the tables that only adding needs.
    func endAdding() {
        forgetLeaves()
        isFull = true
    }

    /// Gives back what finds leaves again: those that are added afterwards are written once more.
    package func forgetLeaves() {
        leaves.removeAll()
        uidObjects.removeAll()
    }

    // MARK: - Bytes

    private func sparseUID(_ value: UInt32) -> ObjectNumber {
        body.ensure(8)
        let start = body.count
        appendUID(value)
        return commitLeaf(from: start)
    }

    /// Adds a container; with `isCleared` its references are 0 until they are set.
    @inline(__always)
    private func container(
        _ marker: UInt8, count: Int, references: Int, isCleared: Bool = true
    ) -> (number: ObjectNumber, references: Int) {
        body.ensure(references * 4 + 16)
        let start = body.count
        appendHeader(marker, count: count)
        let place = body.count
        if isCleared {
            UnsafeMutableRawPointer(body.base + place)
                .initializeMemory(as: UInt8.self, repeating: 0, count: references * 4)
        }
        body.advance(references * 4)
        return (appendObject(at: start), place)
    }

    private func leaf(_ marker: UInt8) -> ObjectNumber {
        body.ensure(1)
        let start = body.count
        appendByte(marker)
        return commitLeaf(from: start)
    }

    @inline(__always)
    private func eightBytes(_ marker: UInt8, _ bits: UInt64) -> ObjectNumber {
        body.ensure(16)
        let start = body.count
        appendByte(marker)
        appendBigEndian(bits)
        return commitLeaf(from: start)
    }

    private func unsharedReal(_ bits: UInt64) -> ObjectNumber {
        body.ensure(16)
        let start = body.count
        appendByte(0x23)
        appendBigEndian(bits)
        return appendObject(at: start)
    }

    @inline(never)
    private func writeWideString(_ text: UnsafeBufferPointer<UInt8>) {
        let string = String(decoding: text, as: UTF8.self)
        let units = string.utf16.count
        body.ensure(units * 2 + 16)
        appendHeader(0x60, count: units)
        for unit in string.utf16 { appendBigEndian(unit) }
    }

    /// Keeps the leaf that was just written, or takes it back and gives the number of its equal.
    @inline(__always)
    private func commitLeaf(from start: Int) -> ObjectNumber {
        commitLeaf(from: start, hash: LeafTable.hash(body.base + start, body.count - start))
    }

    @inline(__always)
    func commitLeaf(from start: Int, hash: UInt32) -> ObjectNumber {
        let base = body.base
        let length = body.count - start
        let newNumber = UInt32(truncatingIfNeeded: places.count) &+ firstNumber
        let (known, slot) = leaves.find(hash: hash, newNumber: newNumber) { number in
            let index = Int(number &- firstNumber)
            guard index >= places.firstKept else { return places.isPinned(index, with: base + start, length) }
            let other = places.start(of: index, in: base)
            // A leaf's bytes tell its length, so that equal bytes are an equal leaf even if `other` is a shorter one.
            return other + length <= start && Self.areEqual(base + start, base + other, length)
        }
        lastLeaf = slot
        if let known {
            lastTag = leaves.tag(at: slot)
            body.truncate(to: start)
            return known
        }
        lastTag = 0
        return appendObject(at: start)
    }

    /// What the owner notes with the leaf that was added last: in an archive, its UID. 0 for nothing.
    package var leafTag: UInt32 {
        @inline(__always) get { lastTag }
        @inline(__always) set {
            lastTag = newValue
            if lastLeaf >= 0 {
                leaves.setTag(newValue, at: lastLeaf)
            } else {
                smallIntegerTags[-1 - lastLeaf] = newValue
            }
        }
    }

    @inline(__always)
    func appendObject(at start: Int) -> ObjectNumber {
        let number = UInt32(truncatingIfNeeded: places.count) &+ firstNumber
        if places.count >= Int(UInt32.max) - 256 - Int(firstNumber) { isFull = true }
        places.append(start)
        return number
    }
}
