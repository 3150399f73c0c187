import PropertyList

/// An object with a UID that is not written yet.
enum QueuedObject {
    case object(any KeyedEncodable, uid: UInt32)
    case value(ArchiveValue, uid: UInt32)
    case propertyList(PropertyListValue, uid: UInt32)
}

/// The UIDs of the objects that are written once, by identity or value, and the queue of those that are not written yet.
struct ObjectUniquing {
    private let entries: EntryTable
    private var identities: [ObjectIdentifier: UInt32] = [:]
    /// Retains encoded objects, so that their addresses stay unique.
    private var retained: [AnyObject] = []
    private var values: [FoundationValue: UInt32] = [:]
    private var null: UInt32 = 0
    private var literalNull: UInt32 = 0
    private var queue: [QueuedObject] = []
    /// The index of the next object of the queue.
    private var next = 0
    /// Whether the queued objects are being written.
    private(set) var isDraining = false

    init(_ entries: EntryTable) { self.entries = entries }

    // MARK: - UIDs

    /// The UID of an object with an identity. The object is queued at its first unconditional occurrence.
    mutating func uid(of object: AnyObject, queued: (UInt32) -> QueuedObject) -> UInt32 {
        if let known = identities[ObjectIdentifier(object)] {
            if entries.get(known) == EntryTable.vacant {
                entries.set(known, EntryTable.awaited)
                queue.append(queued(known))
            }
            return known
        }
        let uid = newUID(of: object, EntryTable.awaited)
        queue.append(queued(uid))
        return uid
    }

    /// The UID of an object that is written only if something refers to it unconditionally.
    mutating func conditionalUID(of object: AnyObject) -> UInt32 {
        identities[ObjectIdentifier(object)] ?? newUID(of: object, EntryTable.vacant)
    }

    private mutating func newUID(of object: AnyObject, _ state: UInt32) -> UInt32 {
        let uid = entries.append(state)
        identities[ObjectIdentifier(object)] = uid
        retained.append(object)
        return uid
    }

    /// The UID of an immutable value of Foundation.
    mutating func uid(of shared: FoundationValue, queued value: ArchiveValue) -> UInt32 {
        if let known = values[shared] { return known }
        let uid = newUID { .value(value, uid: $0) }
        values[shared] = uid
        return uid
    }

    /// The UID of NSNull.
    mutating func uidOfNull() -> UInt32 {
        if null == 0 { null = newUID { .value(.null, uid: $0) } }
        return null
    }

    /// The UID of an NSMutableString with the text “$null”, the only way to store it.
    mutating func uidOfLiteralNull() -> UInt32 {
        if literalNull == 0 {
            literalNull = newUID(EntryTable.vacant) { .value(.mutableString(ArchivedMutableString("$null")), uid: $0) }
        }
        return literalNull
    }

    /// Queues an object of its own.
    ///
    /// - Returns: its UID.
    mutating func newUID(_ state: UInt32 = EntryTable.awaited, queued: (UInt32) -> QueuedObject) -> UInt32 {
        let uid = entries.append(state)
        queue.append(queued(uid))
        return uid
    }

    // MARK: - The queue

    /// Whether objects wait to be written and nobody writes them.
    var needsDraining: Bool {
        @inline(__always) get { !isDraining && !queue.isEmpty }
    }

    mutating func beginDraining() {
        isDraining = true
        next = 0
    }

    /// The next object to write; nil when all are written.
    mutating func dequeue() -> QueuedObject? {
        // Bounds the memory of the queue of a large graph.
        if next == 4096 {
            queue.removeFirst(next)
            next = 0
        }
        guard next < queue.count else {
            queue.removeAll(keepingCapacity: true)
            return nil
        }
        defer { next += 1 }
        return queue[next]
    }

    mutating func endDraining() { isDraining = false }
}
