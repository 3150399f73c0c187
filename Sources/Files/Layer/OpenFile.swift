/// An open file: its descriptor, and its path for errors.
///
/// It does not own the descriptor: the caller closes it through the same `FileLayer`.
public struct OpenFile: Sendable, Hashable {
    /// The open descriptor.
    public let descriptor: Int32
    /// The path for messages.
    public let path: String

    /// Wraps a descriptor, which the caller that opened it closes.
    public init(descriptor: Int32, path: String) {
        self.descriptor = descriptor
        self.path = path
    }
}
