/// A key that an archiver has registered, so that encoding with it looks nothing up.
public struct ArchiveKey: Sendable, Hashable {
    let number: UInt32
}
