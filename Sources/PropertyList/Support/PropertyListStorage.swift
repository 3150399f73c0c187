/// Bytes that stay where they are for as long as someone reads them.
///
/// A reader holds its storage, so that it can give out values lazily. The bytes never change.
public final class PropertyListStorage: @unchecked Sendable {
    // Unchecked: the bytes are never written after init, and freed when nobody holds the storage any more.

    /// The bytes; valid while the storage lives.
    public let bytes: UnsafeRawBufferPointer
    private let deallocator: (@Sendable (UnsafeRawBufferPointer) -> Void)?

    /// Copies the bytes.
    public init(copying source: UnsafeRawBufferPointer) {
        let copy = UnsafeMutableRawBufferPointer.allocate(byteCount: max(source.count, 1), alignment: 16)
        copy.copyMemory(from: source)
        bytes = UnsafeRawBufferPointer(rebasing: copy[..<source.count])
        deallocator = { $0.deallocate() }
    }

    /// Holds an array, whose bytes stay where they are: they lie in one allocation, which is only ever changed by those
    /// who hold it alone.
    public convenience init(_ source: [UInt8]) {
        let bytes = source.withUnsafeBytes { UnsafeRawBufferPointer($0) }
        self.init(adopting: bytes) { _ in withExtendedLifetime(source) {} }
    }

    /// Takes bytes that the caller promises to leave unchanged until `deallocator` is called with them: a mapped file.
    public init(
        adopting source: UnsafeRawBufferPointer,
        deallocator: (@Sendable (UnsafeRawBufferPointer) -> Void)?
    ) {
        bytes = source
        self.deallocator = deallocator
    }

    deinit {
        deallocator?(bytes)
    }
}
