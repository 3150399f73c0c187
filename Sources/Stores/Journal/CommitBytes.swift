/// The encoded changes of one commit, with room in front for a persistence's own header: they may be many, and are not
/// to be copied for it.
public struct CommitBytes: Sendable {
    /// The bytes of room.
    public static let room = JournalRecord.headerLength

    /// The room, then the changes.
    public var storage: [UInt8]

    /// The changes.
    public var changes: ArraySlice<UInt8> { storage[Self.room...] }

    init(storage: [UInt8]) {
        self.storage = storage
    }
}
