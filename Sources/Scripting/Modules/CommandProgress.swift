/// The bar of a command's long work that runs no script: on a terminal, on standard error.
package struct CommandProgress {
    private let bar: ProgressBar
    private let output = ScriptOutput()

    /// - Parameters:
    ///   - label: what is done.
    ///   - total: how many steps there are.
    package init(_ label: String, total: Int) { bar = ProgressBar(total: Int64(total), label: label) }

    /// Shows how many steps are done.
    package func show(_ done: Int) { bar.show(Int64(done), output) }

    package func finish() { bar.finish(output) }
}
