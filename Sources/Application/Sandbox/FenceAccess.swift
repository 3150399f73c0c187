/// What a fence grants, or is asked for.
public enum FenceAccess: Sendable, Hashable {
    case read
    /// Reading, writing, making and removing.
    case readWrite

    /// Whether who has this may do that.
    func allows(_ wanted: FenceAccess) -> Bool { self == .readWrite || wanted == .read }
}
