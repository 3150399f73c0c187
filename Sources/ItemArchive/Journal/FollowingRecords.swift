import ColumnEngine

/// The commits since a snapshot, sealed for the journal that will follow its archive.
struct FollowingRecords {
    let identifier: UInt64
    let firstSequence: UInt64
    private(set) var nextSequence: UInt64
    private(set) var bytes: [UInt8] = []
    private(set) var count = 0

    init(identifier: UInt64, firstSequence: UInt64) {
        self.identifier = identifier
        self.firstSequence = firstSequence
        nextSequence = firstSequence
    }

    /// - Parameter record: with space for its header in front, whose content is ignored.
    mutating func add(_ record: consuming [UInt8]) {
        JournalRecord.seal(&record, kind: .changes, sequence: nextSequence, identifier: identifier)
        bytes += record
        nextSequence &+= 1
        count += 1
    }
}
