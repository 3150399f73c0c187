import Lua
import Scripting

/// What a command of the host's own has done in Lua: no line of it is shown in an error, since nobody who sees it wrote it.
struct HostWork {
    let chunk: [UInt8]
    let name: String
    /// Tells what came of it.
    let report: ([LuaValue], ScriptHost) -> Void

    init(_ chunk: String, name: String, report: @escaping ([LuaValue], ScriptHost) -> Void) {
        self.chunk = Array(chunk.utf8)
        self.name = name
        self.report = report
    }

    /// Runs it.
    ///
    /// - Returns: nil when it went well.
    func run(_ arguments: [String], on host: ScriptHost) -> LuaError? {
        switch host.run(chunk, name: "=" + name, arguments: arguments.map(LuaValue.text)) {
        case .success(let results):
            report(results, host)
            return nil
        case .failure(var error):
            // The place is one in the chunk.
            if let place = ErrorText.place(in: error.message), place.chunk == name {
                error.message.removeFirst("\(name):\(place.line): ".count)
            }
            error.traceback = nil
            return error
        }
    }
}
