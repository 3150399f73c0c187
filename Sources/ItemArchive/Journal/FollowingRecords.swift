import ColumnEngine

/// The commits since a snapshot, sealed for the journal that will follow its archive.
struct FollowingRecords {
    let identifier: UInt64
    let firstSequence: UInt64
    private(set) var nextSequence: UInt64
    private(set) var bytes: [UInt8] = []
    private(set) var count = 0
    /// Whether a record has values of other kinds than their fields'.
    private(set) var carries = false

    init(identifier: UInt64, firstSequence: UInt64) {
        self.identifier = identifier
        self.firstSequence = firstSequence
        nextSequence = firstSequence
    }

    /// - Parameters:
    ///   - record: with space for its header in front, whose content is ignored.
    ///   - carries: whether it has values of other kinds than their fields'.
    mutating func add(_ record: consuming [UInt8], carries: Bool) {
        if carries { self.carries = true }
        JournalRecord.seal(&record, kind: .changes, sequence: nextSequence, identifier: identifier)
        bytes += record
        nextSequence &+= 1
        count += 1
    }
}
