package import Items

/// Receives the number of items of each commit, and the attached prompt that made it.
package protocol CommitListener: AnyObject {
    /// - Parameters:
    ///   - cause: why the commit was made.
    ///   - tally: the numbers of items.
    ///   - author: the attached prompt whose entry made it; nil for the host's own scripts and prompt.
    func didCommit(_ cause: ItemStoreCommit.Cause, _ tally: ItemCommitTally, author: (any HostFrontEnd)?)
}
