import Items
import Wording

/// The changes in the commits of an entry, an undo or a redo: `41 items created`, `2 items removed, 69,202 changed`.
struct ChangeNotice {
    /// The changes by code.
    private(set) var own = ItemCommitTally()
    /// The changes by undo and redo.
    private(set) var history = ItemCommitTally()

    /// Adds a commit. Those of other hosts are reported elsewhere.
    mutating func add(_ cause: ItemStoreCommit.Cause, _ tally: ItemCommitTally) {
        switch cause {
        case .script, .import: own = own + tally
        case .undo: history = history + tally.inverted
        case .redo: history = history + tally
        case .remote: break
        }
    }

    /// The text for a tally; the noun is written once.
    static func text(_ tally: ItemCommitTally) -> String {
        let parts = [
            (tally.created, "created"), (tally.removed, "removed"), (tally.changed, "changed"), (tally.moved, "moved"),
        ].filter { $0.0 > 0 }
        return parts.enumerated().map { place, part in
            "\(place == 0 ? part.0.counted("item") : part.0.grouped) \(part.1)"
        }.joined(separator: ", ")
    }
}
