/// The attachment changes of a transaction or savepoint; replacements and removals reach the folder at its end.
struct AttachmentTransaction {
    enum Deed: Equatable {
        /// New bytes in a temporary file beside their final path.
        case staged(path: String)
        /// New bytes already at their final path, which was free.
        case placed
        case removed

        var stagedPath: String? {
            if case .staged(let path) = self { path } else { nil }
        }
    }

    /// By file name; a later deed replaces an earlier one.
    var deeds: [String: Deed] = [:]
    /// The names whose previous content is kept for undo: decided at the change, since items may be gone at the end.
    var keptKeys: Set<String> = []
}
