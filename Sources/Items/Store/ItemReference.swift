import ColumnEngine

/// An item as a number: its row, and how many items had the row before.
///
/// For callers that hold many items, or hold them where objects cost too much: it is eight bytes, keeps nothing alive, and
/// never names another item, even when the item is gone for good and its row given to a new one. The store answers
/// for references as an ``Item`` answers for itself.
package struct ItemReference: Hashable, Sendable {
    /// The reference as a word of which 48 bits are in use.
    package let bits: UInt64

    /// The reference that was kept as a word.
    @inline(__always)
    package init(bits: UInt64) {
        self.bits = bits
    }

    @inline(__always)
    init(row: UInt32, generation: UInt16) {
        bits = UInt64(row) | UInt64(generation) << 32
    }

    /// A reference that never was an item's: no store has so many rows.
    static let ofNoItem = ItemReference(bits: UInt64(UInt32.max))

    @inline(__always)
    var row: UInt32 { UInt32(truncatingIfNeeded: bits) }

    @inline(__always)
    var generation: UInt16 { UInt16(truncatingIfNeeded: bits >> 32) }
}
