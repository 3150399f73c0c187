/// The failures that a commit survives.
public enum Durability: String, Sendable, CaseIterable {
    /// Each commit survives the end of the process: the kernel has it.
    case process
    /// Each commit survives a power cut: the disk has it.
    case power
}
