public import Files

/// What failed with an attachment where no error can be thrown: in a commit that has happened, in an undo, in keeping what an
/// undo would need.
public struct AttachmentProblem: Sendable {
    /// What was tried.
    public enum Step: Sendable {
        /// Taking it away at the end of a transaction; it is still there.
        case removal
        /// Writing it at the end of a transaction; what was there before is there still.
        case writing
        /// Keeping what was there before: an undo will not bring it back.
        case keeping
        /// Bringing it back, or taking it away again.
        case reversal
        /// Forcing the folder to the disk.
        case sync
    }

    /// What failed.
    public let step: Step
    /// The attachment's; nil for the folder.
    public let key: String?
    /// The system's reason.
    public let error: FileError

    /// What happened.
    ///
    /// - Parameter noun: what the attachments are.
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
