import Items
import Wording

/// What the commits of an entry, an undo or a redo changed: `41 items created`, `2 items removed, 69,202 changed`.
struct ChangeNotice {
    /// What code changed.
    private(set) var own = ItemCommitTally()
    /// What was undone, or done again.
    private(set) var history = ItemCommitTally()

    /// Adds a commit. Those of other hosts are told of elsewhere.
    mutating func add(_ cause: ItemStoreCommit.Cause, _ tally: ItemCommitTally) {
        switch cause {
        case .script, .import: own = own + tally
        case .undo: history = history + tally.inverted
        case .redo: history = history + tally
        case .remote: break
        }
    }

    /// The words for a tally; the noun stands once.
    static func text(_ tally: ItemCommitTally) -> String {
        let parts = [
            (tally.created, "created"), (tally.removed, "removed"), (tally.changed, "changed"), (tally.moved, "moved"),
        ].filter { $0.0 > 0 }
        return parts.enumerated().map { place, part in
            "\(place == 0 ? part.0.counted("item") : part.0.grouped) \(part.1)"
        }.joined(separator: ", ")
    }
}
