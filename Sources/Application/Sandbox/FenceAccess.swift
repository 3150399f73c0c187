/// The granted or wanted access to a path.
public enum FenceAccess: Sendable, Hashable {
    /// Reading only.
    case read
    /// Reading, writing, creating and removing.
    case readWrite

    /// Whether this access includes the wanted one.
    func allows(_ wanted: FenceAccess) -> Bool { self == .readWrite || wanted == .read }
}
