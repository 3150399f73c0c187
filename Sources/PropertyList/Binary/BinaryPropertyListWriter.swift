/// Writes a binary property list straight into its object table, without a tree of values.
///
/// Objects are numbered in the order in which they are added. Leaves are kept once each, by kind and exact content:
/// adding a string twice gives the same number, unless hundreds of thousands of others came between. Containers are added
/// before or after their contents, as the caller likes; `references` are filled in later. Nothing is written about an
/// object but its bytes, so the result depends on the calls alone.
///
/// References are held in four bytes while objects are added, and narrowed to what the final count needs by `finish`. A
/// table of which few objects are expected can hold them in two from the beginning, and widens them when they become many.
package final class BinaryPropertyListWriter {
    /// The number of an object in this writer's table.
    package typealias ObjectNumber = UInt32
    /// The number of a dictionary key that `key(_:)` has registered.
    package typealias KeyNumber = UInt32

    // No access to a property of the inner loops overlaps another, so the run-time check for that is left out of them.
    @exclusivity(unchecked) var body: GrowableBuffer<UInt8>
    @exclusivity(unchecked) var places: ObjectPlaces
    /// Of this width the references are, for the time being.
    @exclusivity(unchecked) private(set) var sizes: ObjectSizes
    /// Where the body goes piece by piece, when it is not kept.
    let stream: ObjectStream?
    /// The length of the body from which on more of it is passed on; out of reach when the body is kept.
    @exclusivity(unchecked) var nextFlush: Int
    let leaves: LeafTable
    /// The slot of the leaf that was added last; below 0 the small integer of that number, counted from -1 down.
    @exclusivity(unchecked) var lastLeaf = 0
    /// The tag of that leaf: looking it up again would wait for memory.
    @exclusivity(unchecked) var lastTag: UInt32 = 0
    /// The integers below 1024, which are most.
    @exclusivity(unchecked) var smallIntegers: GrowableBuffer<SmallInteger>
    @exclusivity(unchecked) var uidObjects: GrowableBuffer<ObjectNumber>
    /// Those of the first UIDs, when the others are forgotten: classes have them, and stand in every record.
    @exclusivity(unchecked) var lowUIDs: [ObjectNumber] = []
    @exclusivity(unchecked) private var keyTexts: [String] = []
    @exclusivity(unchecked) private var keyNumbers: [String: KeyNumber] = [:]
    /// The objects of the registered keys' strings.
    @exclusivity(unchecked) var keyObjects = GrowableBuffer<ObjectNumber>()
    /// The number of the first object: what stands before this table once it is joined to others.
    package let firstNumber: UInt32
    @exclusivity(unchecked) private(set) var isFull = false

    static let none = UInt32.max

    struct SmallInteger: BitwiseCopyable {
        var number = none
        var tag: UInt32 = 0
    }

    /// - Parameters:
    ///   - firstNumber: the number that the first object gets.
    ///   - expectedObjects: how many objects to make room for at once; more may come.
    ///   - expectedBytes: how many bytes they take.
    ///   - expectedLeaves: how many of them are shared leaves.
    package convenience init(
        firstNumber: ObjectNumber = 0, expectedObjects: Int = 64, expectedBytes: Int = 1024, expectedLeaves: Int = 64
    ) {
        self.init(
            nil, firstNumber, ObjectSizes.wide, objects: expectedObjects, bytes: expectedBytes, leaves: expectedLeaves)
    }

    /// A table of which few objects are expected: its references take two bytes each until there are 65536 objects.
    ///
    /// References that are to be set later belong in a table that does not become so large, because they move then.
    package convenience init(
        narrowFrom firstNumber: ObjectNumber, expectedObjects: Int = 64, expectedBytes: Int = 1024,
        expectedLeaves: Int = 64
    ) {
        self.init(
            nil, firstNumber, ObjectSizes.narrow, objects: expectedObjects, bytes: expectedBytes,
            leaves: expectedLeaves)
    }

    /// A table whose objects go to a file while more are added; see `flush`.
    ///
    /// - Parameters:
    ///   - output: where the file goes.
    ///   - firstNumber: the number that the first object gets.
    ///   - expectedObjects: how many objects to make room for at once, as far as all of them are remembered.
    ///   - expectedLeaves: how many of them are shared leaves.
    package convenience init(
        writingTo output: any PropertyListOutput, firstNumber: ObjectNumber, expectedObjects: Int = 64,
        expectedLeaves: Int = 64
    ) {
        self.init(
            ObjectStream(output), firstNumber, ObjectSizes.wide, objects: min(expectedObjects, 4 * Self.rememberedUIDs),
            bytes: ObjectStream.room, leaves: expectedLeaves)
    }

    private init(
        _ stream: ObjectStream?, _ firstNumber: ObjectNumber, _ sizes: ObjectSizes, objects: Int, bytes: Int,
        leaves: Int
    ) {
        self.stream = stream
        // What turns out to be small is written as a whole, in the form that it has in memory. What will not be small is
        // passed on at once, so that the disk need not wait for it.
        let willBeLarge = objects * Self.leastBytes > ObjectStream.held
        nextFlush = stream == nil ? .max : willBeLarge ? ObjectStream.piece : ObjectStream.held
        self.firstNumber = firstNumber
        self.sizes = sizes
        body = GrowableBuffer(capacity: bytes)
        places = ObjectPlaces(capacity: objects, isDense: sizes.referenceSize == 2, isRecorded: stream != nil)
        self.leaves = LeafTable(
            capacity: min(leaves, LeafTable.capacity(ofBytes: bytes / Self.bodyToLeaves)), firstNumber: firstNumber)
        // A record's references come before the older ones are forgotten.
        uidObjects = GrowableBuffer(capacity: min(objects / 2, Self.rememberedUIDs + 1024))
        smallIntegers = GrowableBuffer(capacity: 1024)
        for _ in 0..<1024 { smallIntegers.append(SmallInteger()) }
    }

    /// How many objects have been added.
    package var objectCount: Int { places.count }

    /// The number that the next object gets.
    @inline(__always)
    var nextNumber: ObjectNumber { ObjectNumber(truncatingIfNeeded: places.count) &+ firstNumber }

    /// Adds an object, whose bytes are written behind the body's end already.
    @inline(__always)
    func appendObject(ofSize size: Int) -> ObjectNumber {
        let number = nextNumber
        if number >= UInt32.max - 256 { isFull = true }
        places.append(body.count)
        body.advance(size)
        return number
    }

    /// Registers a dictionary key; its string is added to the table when first used.
    package func key(_ text: String) -> KeyNumber {
        if let known = keyNumbers[text] { return known }
        let number = KeyNumber(truncatingIfNeeded: keyTexts.count)
        keyTexts.append(text)
        keyObjects.append(Self.none)
        keyNumbers[text] = number
        return number
    }

    /// The text of a registered key.
    package func text(ofKey key: KeyNumber) -> String { keyTexts[Int(key)] }

    // MARK: - Memory

    /// By how much the objects themselves take more memory than the table that finds equal leaves again.
    static let bodyToLeaves = 10
    /// What an object of a large table usually takes at the least, its share of the references to it counted.
    static let leastBytes = 28
    /// How many of the last UIDs have one object each.
    static let rememberedUIDs = 1 << 18

    /// Holds what is remembered of leaves and UIDs to a small part of the whole.
    @inline(__always)
    func limitMemory() {
        leaves.limit(toBytes: body.count / Self.bodyToLeaves)
        if uidObjects.count - uidObjects.origin > Self.rememberedUIDs { forgetUIDs() }
    }

    /// Forgets the objects of the lower UIDs: another reference to one of them gets an object of its own.
    @inline(never)
    private func forgetUIDs() {
        if lowUIDs.isEmpty { for index in 0..<64 { lowUIDs.append(uidObjects[index]) } }
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

    /// Sees to it that references to so many objects more can be set without moving those that were set before: makes all
    /// references four bytes long when there would be an object whose number takes more than two.
    @inline(__always)
    package func reserveReferences(toMore count: Int) {
        if sizes.referenceSize == 2, Int(nextNumber) &+ count > 0x1_0000 { widen() }
    }

    @inline(never)
    private func widen() {
        var wide = GrowableBuffer<UInt8>(capacity: body.count * 2 + 64)
        var widePlaces = ObjectPlaces(capacity: places.count * 2)
        var emission = ObjectEmission(out: wide.base, position: 0, referenceSize: 4)
        let end = UnsafePointer(body.base) + body.count
        var start = UnsafePointer(body.base)
        while start < end {
            let size = sizes.size(of: start)
            widePlaces.append(emission.position)
            emission.append(start, size, of: sizes.referenceSize, shift: 0, end: end)
            start += size
        }
        wide.advance(emission.position)
        body = wide
        places = widePlaces
        sizes = ObjectSizes.wide
    }
}
