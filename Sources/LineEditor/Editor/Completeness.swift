/// Whether a text is a complete chunk.
public enum Completeness: Hashable, Sendable {
    /// The text can run.
    case complete
    /// More lines must follow; the next line is indented by this many columns.
    case incomplete(indent: Int)
    /// No continuation can make it valid: running it reports the error.
    case invalid
}
