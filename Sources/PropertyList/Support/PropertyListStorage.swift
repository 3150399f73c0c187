/// Immutable bytes at a fixed address.
///
/// A reader retains its storage and reads values lazily from it.
public final class PropertyListStorage: @unchecked Sendable {
    // Unchecked: the bytes are never written after init, and freed with the object.

    /// The bytes, valid as long as the storage.
    public let bytes: UnsafeRawBufferPointer
    private let deallocator: (@Sendable (UnsafeRawBufferPointer) -> Void)?

    /// Copies the bytes.
    public init(copying source: UnsafeRawBufferPointer) {
        let copy = UnsafeMutableRawBufferPointer.allocate(byteCount: max(source.count, 1), alignment: 16)
        copy.copyMemory(from: source)
        bytes = UnsafeRawBufferPointer(rebasing: copy[..<source.count])
        deallocator = { $0.deallocate() }
    }

    /// Retains an array. The address of its bytes is fixed, because only a sole owner may change them.
    public convenience init(_ source: [UInt8]) {
        let bytes = source.withUnsafeBytes { UnsafeRawBufferPointer($0) }
        self.init(adopting: bytes) { _ in withExtendedLifetime(source) {} }
    }

    /// Takes bytes that the caller keeps unchanged until `deallocator` is called with them, such as a mapped file.
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
