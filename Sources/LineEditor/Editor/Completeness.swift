/// Whether a text can be run as it is.
public enum Completeness: Hashable, Sendable {
    /// It can.
    case complete
    /// More must follow; the next line is indented by so many columns.
    case incomplete(indent: Int)
    /// Nothing that follows can make it right: running it reports the error.
    case invalid
}
