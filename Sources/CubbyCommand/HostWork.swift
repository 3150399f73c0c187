import Lua
import Scripting

/// A command's own work in Lua. Errors show no source line, since the user did not write it.
struct HostWork {
    let chunk: [UInt8]
    let name: String
    /// The exit status of an error.
    let status: (LuaError) -> ExitStatus
    /// Reports the results.
    let report: ([LuaValue], ScriptHost) -> Void

    init(
        _ chunk: String, name: String, status: @escaping (LuaError) -> ExitStatus = { _ in .scriptError },
        report: @escaping ([LuaValue], ScriptHost) -> Void
    ) {
        self.chunk = Array(chunk.utf8)
        self.name = name
        self.status = status
        self.report = report
    }

    /// Runs the chunk.
    ///
    /// - Returns: nil on success.
    func run(_ arguments: [String], on host: ScriptHost) -> LuaError? {
        switch host.run(chunk, name: "=" + name, arguments: arguments.map(LuaValue.text)) {
        case .success(let results):
            report(results, host)
            return nil
        case .failure(var error):
            // The place is in this chunk, which the user did not write.
            if let place = ErrorText.place(in: error.message), place.chunk == name {
                error.message.removeFirst("\(name):\(place.line): ".count)
            }
            error.traceback = nil
            return error
        }
    }
}
