import Application
import Items
import LineEditor
import Lua
import Scripting

@testable import REPL

/// A session's screen without a terminal, whose output is kept.
final class KeptPrompt: PromptTerminal {
    let trial: TestHost
    let host: ScriptHost
    private(set) lazy var session = PromptSession(
        host, on: self, settings: PromptSettings(allowed: TerminalPalette([:]), environment: { _ in nil }))
    let reportsChanges = false
    let isEditing = false
    let isTerminal = false
    let palette = TerminalPalette([:])
    var output = ""

    init(columns: Int = 80) throws {
        trial = try TestHost()
        host = trial.host
        session.printer.columns = columns
        host.frontEnd = self
    }

    func draw(_ text: String, toStandardError: Bool) { output += text }
    func page(_ printed: PrintedValues) { output += printed.text }
    func write(_ bytes: [UInt8], toStandardError: Bool) -> Bool {
        output += String(decoding: bytes, as: UTF8.self)
        return true
    }
    func environment(_ name: String) -> String? { nil }
    func run(
        _ function: LuaFunction, isEntry: Bool, completion: @escaping (Result<[LuaValue], LuaError>) -> Void
    ) { completion(host.run(function, isEntry: isEntry)) }
    func request(_ request: TerminalRequest, then: @escaping (TerminalAnswer) -> Void) {
        then(TerminalAnswer(isDone: false))
    }
    func leave() { host.terminate(cause: .script, explicitly: true) }
    func applicationWillTerminate() { session.endTutorial() }

    /// Performs entries; what they showed.
    @discardableResult
    func enter(_ entries: String...) -> String {
        output = ""
        for entry in entries { session.perform(entry: entry) {} }
        return output
    }

    /// The number of the lesson from 1; nil after the end.
    var lesson: Int? { session.tutorial.map { $0.lesson + 1 } }
    var hooks: [String] { host.hooks.all.map(\.name) }
    var lamps: Int { host.items.count }
}
