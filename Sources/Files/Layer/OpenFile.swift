/// An open file: its descriptor, and its path for errors.
///
/// It does not own the descriptor: the caller closes it through the same `FileLayer`.
public struct OpenFile: Sendable, Hashable {
    public let descriptor: Int32
    public let path: String

    public init(descriptor: Int32, path: String) {
        self.descriptor = descriptor
        self.path = path
    }
}
