/// The version of texts cached in a class's handles: advancing it invalidates them.
///
/// Belongs to the thread of its state. Retained by classes.
public final class LuaVersion {
    let word: UnsafeMutablePointer<UInt64>

    /// Creates a version.
    public init() {
        word = .allocate(capacity: 1)
        word.initialize(to: 1)  // 0 marks a handle without a cached text
    }

    deinit { word.deallocate() }

    /// Invalidates the cached texts.
    public func advance() { word.pointee &+= 1 }
}
