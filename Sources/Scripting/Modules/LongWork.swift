import Lua

/// Work of many steps in one call of the host, which Ctrl-C and time limits reach all the same, and which shows a bar on a
/// terminal when it takes long.
final class LongWork {
    private let host: ScriptHost
    private let checkpoint: LuaFunction
    private let bar: ProgressBar

    init(_ label: String, total: Int, on host: ScriptHost) throws {
        self.host = host
        // The VM looks for what is pending, Ctrl-C or a limit, as it enters a function.
        checkpoint = try host.state.load(Array("".utf8), name: "=checkpoint")
        bar = ProgressBar(total: Int64(total), label: label)
    }

    /// So many steps are done.
    ///
    /// - Throws: what ends the script.
    func step(_ done: Int) throws {
        _ = try checkpoint.call()
        bar.show(Int64(done), host.output)
    }

    func finish() { bar.finish(host.output) }
}
