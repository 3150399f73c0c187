import Application
import Cubby
import Lua
import Scripting
import TestSupport

/// A host as an embedding program opens it: in a container of its own, signals left alone, text kept.
final class Embedding {
    let host: ScriptHost
    let recorder = Recorder()

    init(
        _ path: String, modules: [any ScriptModule.Type] = ScriptHost.standardModules,
        _ change: (inout ScriptHostOptions) -> Void = { _ in }
    ) throws {
        var options = ScriptHostOptions(container: ApplicationContainer(path: path))
        options.handlesSignals = false
        options.timeZone = "UTC"
        change(&options)
        host = try ScriptHost(options, modules: modules)
        host.frontEnd = recorder
    }

    /// Runs a chunk and gives its results as text, or the error's message.
    func run(_ source: String, name: String = "=chunk") -> String {
        switch host.run(Array(source.utf8), name: name) {
        case .success(let values): values.map { host.state.describe($0).description }.joined(separator: " ")
        case .failure(let error): "error: \(error.message)"
        }
    }

    /// The orderly way out.
    func end() { host.terminate(0, cause: .eof, explicitly: false) }
}
