import ColumnEngine

/// The changes of one commit, oldest first: what `undo` takes back as one.
struct ChangeGroup {
    var changes: [Change]
    /// The changes of attachments, oldest first.
    var attachments: [AttachmentChange] = []
    /// The bytes of the files that are kept for them.
    var keptBytes = 0
    /// The moment at which it was made, by ``ForeignChanges``.
    var epoch: UInt64 = 0

    var byteCount: Int { changes.count * MemoryLayout<Change>.stride + keptBytes }
}
