/// What a transaction, or a savepoint within one, does with attachments; nothing of it is in the folder before the end.
struct AttachmentTransaction {
    enum Deed: Equatable {
        /// New bytes, in a temporary file beside their place.
        case staged(path: String)
        /// New bytes that are in their place already, where there were none.
        case placed
        case removed

        var stagedPath: String? {
            if case .staged(let path) = self { path } else { nil }
        }
    }

    /// By the file's name; the last counts.
    var deeds: [String: Deed] = [:]
    /// The names of which what was there before is kept: noted with the change, for the items may be gone at the end.
    var keptKeys: Set<String> = []
}
