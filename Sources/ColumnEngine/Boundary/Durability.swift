/// When a commit is safe.
public enum Durability: String, Sendable, CaseIterable {
    /// Each commit survives the process: it is with the kernel.
    case process
    /// Each commit survives a power cut: it is on the disk.
    case power
}
