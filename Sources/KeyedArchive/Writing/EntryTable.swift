import Platform
import PropertyList

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
