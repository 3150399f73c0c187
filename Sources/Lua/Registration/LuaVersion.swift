/// Says when the texts that Lua keeps for the handles of a class are old: advance it with each change of any of them.
///
/// It belongs to the thread of the state that it is used in, and has to be there as long as that: classes see to it.
public final class LuaVersion {
    let word: UnsafeMutablePointer<UInt64>

    public init() {
        word = .allocate(capacity: 1)
        word.initialize(to: 1)  // 0 stands for no text at all.
    }

    deinit { word.deallocate() }

    /// From now on the texts are asked for again, once.
    public func advance() { word.pointee &+= 1 }
}
