/// The records of an array that are encoded and not yet written: a few at a time, so that the lookups of their leaves,
/// each of which waits for memory, overlap.
///
/// No access to a property overlaps another, so the run-time check for that is left out.
final class RecordBatch {
    struct Record: BitwiseCopyable {
        var uid: UInt32
        var firstField: Int
    }

    struct StagedDate: BitwiseCopyable {
        var field: Int
        var bits: UInt64
    }

    /// How many records are held back.
    static let capacity = 16

    @exclusivity(unchecked) var records: [Record] = []
    /// The fields that the staged strings belong to, in order.
    @exclusivity(unchecked) var strings: [Int] = []
    @exclusivity(unchecked) var dates: [StagedDate] = []
    /// Where looked-at slots go, so that looking at them is not optimised away.
    @exclusivity(unchecked) var peeked: UInt32 = 0

    func removeAll() {
        records.removeAll(keepingCapacity: true)
        strings.removeAll(keepingCapacity: true)
        dates.removeAll(keepingCapacity: true)
    }
}
