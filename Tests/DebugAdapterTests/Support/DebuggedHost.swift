import Application
import Cubby
import Foundation
import Glibc
import Lua
import Scripting
import Synchronization
import TestSupport

@testable import DebugAdapter

/// A host on a separate thread that runs a script for a debugger's client.
final class DebuggedHost: Sendable {
    private let ended = Mutex<String?>(nil)
    private let done = DispatchSemaphore(value: 0)

    /// Starts a host.
    ///
    /// - Returns: the host and its client.
    static func start(_ text: String, in container: String) throws -> (host: DebuggedHost, client: DebugClient) {
        var ends: [Int32] = [-1, -1]
        guard socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0, &ends) == 0 else {
            throw TestFailure("no pair of sockets")
        }
        let (host, descriptor) = (DebuggedHost(), ends[1])
        Thread.detachNewThread {
            let result = Result { try run(text, in: container, descriptor) }
            host.ended.withLock { $0 = "\(result)" }
            host.done.signal()
        }
        return (host, DebugClient(input: ends[0], output: ends[0]))
    }

    private static func run(_ text: String, in container: String, _ descriptor: Int32) throws -> String {
        var options = ScriptHostOptions(container: ApplicationContainer(path: container))
        options.handlesSignals = false
        let host = try ScriptHost(options)
        let adapter = DebugAdapterServer(DebugConnection(input: descriptor, output: descriptor))
        guard case .program = adapter.awaitTarget(program: "main.lua", arguments: []) else { return "nothing" }
        let session = adapter.begin(host)
        guard adapter.startsProgram else { return "not started" }
        host.launch()
        session.programWillRun()
        var result = ""
        switch host.run(text.utf8, name: "@main.lua") {
        case .success(let values): result = values.map { host.state.describe($0).description }.joined(separator: " ")
        case .failure(let error): result = "error: \(error.message)"
        }
        host.terminate(0, cause: .eof, explicitly: false)
        adapter.leave()
        adapter.end(status: 0)
        return result
    }

    /// Waits for the end.
    ///
    /// - Returns: the script's values, or its error.
    func result() throws -> String {
        guard done.wait(timeout: .now() + 60 * Project.patience) == .success else { throw TestFailure("it goes on") }
        return ended.withLock { $0 ?? "" }
    }
}
