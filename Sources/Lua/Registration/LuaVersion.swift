/// The version of the texts that handles of a class cache: advancing it invalidates them.
///
/// Belongs to the thread of its state. Classes retain it.
public final class LuaVersion {
    let word: UnsafeMutablePointer<UInt64>

    /// A first version.
    public init() {
        word = .allocate(capacity: 1)
        word.initialize(to: 1)  // 0 marks a handle without a cached text
    }

    deinit { word.deallocate() }

    /// Invalidates the cached texts.
    public func advance() { word.pointee &+= 1 }
}
