/// What a transaction, or a savepoint within one, does with pictures; nothing of it is in the folder before the end.
struct ImageTransaction {
    enum Change: Equatable {
        /// A new picture, in a temporary file beside its place.
        case staged(path: String)
        /// A new picture that is in its place already, where there was none.
        case placed
        case deleted

        var stagedPath: String? {
            if case .staged(let path) = self { path } else { nil }
        }
    }

    /// By key; the last counts.
    var changes: [String: Change] = [:]
    /// The keys of which what was there before is kept: told when they changed, for the items may be gone at the end.
    var keptKeys: Set<String> = []
}
