import Lua

/// Work of many steps in one call of the host: Ctrl-C and time limits interrupt it, and a terminal shows its progress
/// if it is slow.
final class LongWork {
    private let host: ScriptHost
    private let checkpoint: LuaFunction
    private let bar: ProgressBar

    init(_ label: String, total: Int, on host: ScriptHost) throws {
        self.host = host
        // The VM checks for interrupts and limits when it enters a function.
        checkpoint = try host.state.load(Array("".utf8), name: "=checkpoint")
        bar = ProgressBar(total: Int64(total), label: label)
    }

    /// Reports the number of completed steps.
    ///
    /// - Throws: the error that ends the script.
    func step(_ done: Int) throws {
        _ = try checkpoint.call()
        bar.show(Int64(done), host.output)
    }

    func finish() { bar.finish(host.output) }
}
