import Platform
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

/// `$objects`: the number of each archived object in the property list, by UID.
///
/// For a streamed archive older entries are in a scratch file; only those that had no number then stay in memory.
///
/// Property accesses never overlap, so exclusivity checks are disabled.
final class EntryTable {
    /// Marks an object with conditional references only.
    static let vacant = UInt32.max
    /// Marks a queued object.
    static let awaited = UInt32.max - 1
    /// Maximum number of recent entries in memory for a streamed archive; at least half of them are there.
    private static let heldCount = 1 << 19

    /// The number of “$null”, the entry of nil.
    private(set) var nothing: UInt32 = 0
    @exclusivity(unchecked) private var recent: UnsafeMutablePointer<UInt32>
    @exclusivity(unchecked) private var recentCount = 0
    @exclusivity(unchecked) private var capacity: Int
    /// The UID of the first recent entry.
    @exclusivity(unchecked) private var origin = 0
    private let older: NumberList?
    /// The numbers of entries that left memory without one.
    private var late: [UInt32: UInt32] = [:]

    init(_ output: (any PropertyListOutput)?, capacity: Int) {
        older = output.map { NumberList($0) }
        self.capacity = max(output == nil ? capacity : min(capacity, Self.heldCount), 64)
        recent = Self.memory(self.capacity)
    }

    deinit {
        release()
    }

    private static func memory(_ capacity: Int) -> UnsafeMutablePointer<UInt32> {
        PageMemory.allocate(capacity * 4, isZeroed: false).bindMemory(to: UInt32.self, capacity: capacity)
    }

    private func release() {
        PageMemory.free(recent, capacity * 4)
    }

    @inline(never)
    private func grow() {
        let larger = Self.memory(capacity * 2)
        PageMemory.move(recent, to: larger, count: recentCount * 4, of: capacity * 4)
        release()
        recent = larger
        capacity *= 2
    }

    /// Removes all entries and releases the memory.
    private func removeAll() {
        release()
        capacity = 64
        recent = Self.memory(capacity)
        recentCount = 0
        origin = 0
    }

    var count: Int { origin &+ recentCount }

    /// Adds an entry.
    ///
    /// - Returns: its UID.
    @inline(__always)
    func append(_ number: UInt32) -> UInt32 {
        let uid = UInt32(truncatingIfNeeded: count)
        if uid == 0 { nothing = number }
        if recentCount == capacity { grow() }
        recent[recentCount] = number
        recentCount &+= 1
        if recentCount >= Self.heldCount, let older { spill(to: older) }
        return uid
    }

    @inline(never)
    private func spill(to older: NumberList) {
        let amount = Self.heldCount / 2
        for index in 0..<amount where recent[index] >= Self.awaited {
            late[UInt32(truncatingIfNeeded: origin + index)] = recent[index]
        }
        older.append(contentsOf: UnsafeBufferPointer(start: recent, count: amount))
        recent.update(from: recent + amount, count: recentCount - amount)
        recentCount -= amount
        origin += amount
    }

    /// An entry. For an older one with a number it is an arbitrary number, neither vacant nor awaited.
    @inline(__always)
    func get(_ uid: UInt32) -> UInt32 {
        let index = Int(uid) - origin
        return index >= 0 ? recent[index] : late[uid] ?? nothing
    }

    @inline(__always)
    func set(_ uid: UInt32, _ number: UInt32) {
        let index = Int(uid) - origin
        if index >= 0 { recent[index] = number } else { late[uid] = number }
    }

    /// Calls a function with all entries, in order; a vacant one is that of “$null”. The table is empty afterwards.
    func forEachPiece(
        _ body: (UnsafeBufferPointer<UInt32>) throws(PropertyListError) -> Void
    ) throws(PropertyListError) {
        var uid = 0
        try older?.forEachPiece { (piece) throws(PropertyListError) in
            defer { uid += piece.count }
            guard piece.contains(where: { $0 >= Self.awaited }) else { return try body(piece) }
            let resolved = UnsafeMutableBufferPointer<UInt32>.allocate(capacity: piece.count)
            defer { resolved.deallocate() }
            for (index, number) in piece.enumerated() { resolved[index] = resolve(uid + index, number) }
            try body(UnsafeBufferPointer(resolved))
        }
        for index in 0..<recentCount where recent[index] >= Self.awaited { recent[index] = nothing }
        try body(UnsafeBufferPointer(start: recent, count: recentCount))
        removeAll()
    }

    private func resolve(_ uid: Int, _ number: UInt32) -> UInt32 {
        if number < Self.awaited { return number }
        let known = late[UInt32(truncatingIfNeeded: uid)] ?? number
        return known < Self.awaited ? known : nothing
    }
}
