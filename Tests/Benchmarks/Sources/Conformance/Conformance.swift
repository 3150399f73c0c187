import Cubby
import Foundation

/// Runs one file of Lua's own test suite in a host of its own, as sandboxed as any, and says where it stops.
///
///     swift run -c release Conformance FILE
@main
enum Conformance {
    static func main() throws {
        guard CommandLine.arguments.count == 2 else { throw CocoaError(.fileNoSuchFile) }
        let path = CommandLine.arguments[1]
        let text = try Data(contentsOf: URL(fileURLWithPath: path))
        let folder = NSTemporaryDirectory() + "cubby-conformance-\(ProcessInfo.processInfo.processIdentifier)"
        defer { try? FileManager.default.removeItem(atPath: folder) }
        var options = ScriptHostOptions(container: ApplicationContainer(path: folder))
        options.handlesSignals = false
        options.timeLimit = .seconds(300)
        options.modulePaths = [(path as NSString).deletingLastPathComponent]
        let host = try ScriptHost(options)
        // The suite reads globals that nothing assigns (`T`), which a file of a user's may not.
        host.state.globals.setMetatable(nil)
        host.launch()
        let name = (path as NSString).lastPathComponent
        // As `all.lua` sets it up: everything, without remarks.
        _ = host.run("_soft, _port, _nomsg = false, false, true".utf8, name: "=setup")
        let outcome: String
        // Not by `host.run`, which makes a coroutine of it: the suite wants to be the main one.
        do {
            try host.state.load(text, name: "@" + name).call()
            outcome = "passes"
        } catch {
            outcome = "stops: \(error.message)\n\(error.traceback ?? "")"
        }
        host.flushOutput()
        host.terminate(0, cause: .eof, explicitly: false)
        FileHandle.standardError.write(Data("\(outcome)\n".utf8))
    }
}
