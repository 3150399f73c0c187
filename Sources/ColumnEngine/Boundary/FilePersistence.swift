/// A persistence with files in the container that are its own: scripts neither read nor write them.
public protocol FilePersistence: ItemPersistence {
    /// The files' absolute paths; they need not exist yet.
    var closedPaths: [String] { get }
}
