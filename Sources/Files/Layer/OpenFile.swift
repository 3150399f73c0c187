/// An open file: the kernel's descriptor, and the path it was opened by, so that errors can name it.
///
/// A value that does not own the descriptor: whoever opened it closes it through the same `FileLayer`.
public struct OpenFile: Sendable, Hashable {
    public let descriptor: Int32
    public let path: String

    public init(descriptor: Int32, path: String) {
        self.descriptor = descriptor
        self.path = path
    }
}
