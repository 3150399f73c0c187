/// The changes to attachments since the last commit, oldest first.
struct AttachmentStep {
    private(set) var changes: [AttachmentChange]
    private var keys: Set<String> = []

    init(_ changes: [AttachmentChange] = []) {
        self.changes = changes
    }

    var isEmpty: Bool { changes.isEmpty }

    /// Adds a change, unless an earlier one of its key has what was there before: taking that one back is enough.
    mutating func note(_ change: AttachmentChange) {
        if keys.insert(change.key).inserted { changes.append(change) }
    }

    /// Ends the step.
    mutating func take() -> [AttachmentChange] {
        if isEmpty { return [] }
        defer { self = AttachmentStep() }
        return changes
    }
}
