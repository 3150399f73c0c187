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

    /// Copies an array's bytes.
    public convenience init(_ source: [UInt8]) {
        self.init(copying: source)
    }

    private convenience init(copying source: [UInt8]) {
        let copy = UnsafeMutableRawBufferPointer.allocate(byteCount: max(source.count, 1), alignment: 16)
        copy.copyBytes(from: source)
        self.init(adopting: UnsafeRawBufferPointer(rebasing: copy[..<source.count])) { $0.deallocate() }
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
