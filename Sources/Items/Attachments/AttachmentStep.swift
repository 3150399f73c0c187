/// The changes to attachments since the last commit, oldest first.
struct AttachmentStep {
    private(set) var changes: [AttachmentChange]
    private var keys: NameSet = []

    init(_ changes: [AttachmentChange] = []) {
        self.changes = changes
    }

    var isEmpty: Bool { changes.isEmpty }

    /// Adds a change, unless an earlier one for its key holds the original content: reversing that one is enough.
    mutating func note(_ change: AttachmentChange) {
        if keys.insert(change.key).inserted { changes.append(change) }
    }

    /// Returns the changes and starts a new step.
    mutating func take() -> [AttachmentChange] {
        if isEmpty { return [] }
        defer { self = AttachmentStep() }
        return changes
    }
}
