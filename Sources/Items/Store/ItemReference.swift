import ColumnEngine

/// An item as a number: its row, and how many items had the row before.
///
/// For callers that hold many items, or where objects cost too much: it has eight bytes, retains nothing, and never
/// refers to another item, even when its row is reused. The store has methods for references like those of ``Item``.
package struct ItemReference: Hashable, Sendable {
    /// The reference as a word; uses 48 bits.
    package let bits: UInt64

    /// Creates a reference from its word.
    @inline(__always)
    package init(bits: UInt64) {
        self.bits = bits
    }

    @inline(__always)
    init(row: UInt32, generation: UInt16) {
        bits = UInt64(row) | UInt64(generation) << 32
    }

    /// A reference that matches no item: no store has this many rows.
    static let ofNoItem = ItemReference(bits: UInt64(UInt32.max))

    @inline(__always)
    var row: UInt32 { UInt32(truncatingIfNeeded: bits) }

    @inline(__always)
    var generation: UInt16 { UInt16(truncatingIfNeeded: bits >> 32) }
}
