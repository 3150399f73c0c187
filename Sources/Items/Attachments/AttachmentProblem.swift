public import Files

/// A failure with an attachment where no error can be thrown: after a commit, in an undo, or while keeping the previous
/// content for undo.
public struct AttachmentProblem: Sendable {
    /// The operation that failed.
    public enum Step: Sendable {
        /// Removing it at the end of a transaction; it still exists.
        case removal
        /// Writing it at the end of a transaction; the previous content is unchanged.
        case writing
        /// Keeping the previous content: an undo will not restore it.
        case keeping
        /// Restoring it in an undo, or removing it again.
        case reversal
        /// Syncing the folder to the disk.
        case sync
    }

    /// The operation that failed.
    public let step: Step
    /// The attachment's key; nil for the folder.
    public let key: String?
    /// The error of the file system.
    public let error: FileError

    /// Describes the problem.
    ///
    /// - Parameter noun: the word for an attachment.
    /// - Returns: a sentence without a full stop.
    public func message(of noun: String = "attachment") -> String {
        let subject = "the \(noun) \(key ?? "")"
        return switch step {
        case .removal: "\(subject) could not be removed: \(error.message)"
        case .writing: "\(subject) could not be written: \(error.message)"
        case .keeping: "an undo will not bring \(subject) back: \(error.message)"
        case .reversal: "\(subject) could not be brought back: \(error.message)"
        case .sync: error.message
        }
    }
}
