/// `$objects` of an archive: the number of each archived object in the property list, by UID.
///
/// For a streamed archive older entries are in a scratch file; only those that had no number then stay in memory.
///
/// Property accesses never overlap, so exclusivity checks are disabled.
package final class EntryTable {
    /// Marks an object with conditional references only.
    package static let vacant = UInt32.max
    /// Marks a queued object.
    package static let awaited = UInt32.max - 1
    /// Maximum number of recent entries in memory for a streamed archive; at least half of them are there.
    private static let heldCount = 1 << 19

    /// The number of “$null”, the entry of nil.
    package private(set) var nothing: UInt32 = 0
    /// The entries by UID, from the first recent one on.
    @exclusivity(unchecked) private var recent: GrowableBuffer<UInt32>
    private let older: ScratchList<UInt32>?
    /// The numbers of entries that left memory without one.
    private var late: [UInt32: UInt32] = [:]

    /// - Parameters:
    ///   - output: creates the scratch file; nil keeps all entries in memory.
    ///   - capacity: the expected number of entries.
    package init(_ output: (any PropertyListOutput)?, capacity: Int) {
        older = output.map { ScratchList($0) }
        recent = GrowableBuffer(capacity: output == nil ? capacity : min(capacity, Self.heldCount))
    }

    package var count: Int { recent.count }

    /// Adds an entry.
    ///
    /// - Returns: its UID.
    package func append(_ number: UInt32) -> UInt32 {
        let uid = UInt32(truncatingIfNeeded: count)
        if uid == 0 { nothing = number }
        recent.append(number)
        if recent.count - recent.origin >= Self.heldCount, let older { spill(to: older) }
        return uid
    }

    private func spill(to older: ScratchList<UInt32>) {
        let (start, amount) = (recent.origin, Self.heldCount / 2)
        for index in start..<start + amount where recent[index] >= Self.awaited {
            late[UInt32(truncatingIfNeeded: index)] = recent[index]
        }
        older.append(contentsOf: UnsafeBufferPointer(start: recent.base + start, count: amount))
        recent.dropFirst(upTo: start + amount)
    }

    /// An entry. For an older one with a number it is an arbitrary number, neither vacant nor awaited.
    package func get(_ uid: UInt32) -> UInt32 {
        Int(uid) >= recent.origin ? recent[Int(uid)] : late[uid] ?? nothing
    }

    package func set(_ uid: UInt32, _ number: UInt32) {
        if Int(uid) >= recent.origin { recent[Int(uid)] = number } else { late[uid] = number }
    }

    /// Calls a function with all entries, in order; a vacant one is that of “$null”. The table is empty afterwards.
    package func forEachPiece(
        _ body: (UnsafeBufferPointer<UInt32>) throws(PropertyListError) -> Void
    ) throws(PropertyListError) {
        var uid = 0
        try older?.forEachPiece { (piece) throws(PropertyListError) in
            defer { uid += piece.count }
            guard piece.contains(where: { $0 >= Self.awaited }) else { return try body(piece) }
            let resolved = piece.enumerated().map { resolve(uid + $0, $1) }
            try resolved.withUnsafeBufferPointer(body)
        }
        for index in recent.origin..<recent.count where recent[index] >= Self.awaited { recent[index] = nothing }
        try body(UnsafeBufferPointer(start: recent.base + recent.origin, count: recent.count - recent.origin))
        recent.removeAll()
    }

    private func resolve(_ uid: Int, _ number: UInt32) -> UInt32 {
        if number < Self.awaited { return number }
        let known = late[UInt32(truncatingIfNeeded: uid)] ?? number
        return known < Self.awaited ? known : nothing
    }
}
