/// The progress bar of a command's long work that runs no script: on standard error, if it is a terminal.
package struct CommandProgress {
    private let bar: ProgressBar
    private let output = ScriptOutput()

    /// - Parameters:
    ///   - label: the name of the work.
    ///   - total: the number of steps.
    package init(_ label: String, total: Int) { bar = ProgressBar(total: Int64(total), label: label) }

    /// Shows the number of completed steps.
    package func show(_ done: Int) { bar.show(Int64(done), output) }

    package func finish() { bar.finish(output) }
}
