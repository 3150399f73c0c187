import LineEditor
import Lua
import Scripting

/// The debugger of the host's own prompt: shows breaks there, and performs the debugger commands.
final class PromptDebugger: DebuggerFrontEnd {
    private unowned let repl: HostPrompt
    /// The current break.
    private(set) var current: BreakSession?
    /// Expressions shown at each break.
    private(set) var watches: [String] = []
    /// The step that an empty line repeats at a break.
    var lastStep: LuaDebugger.Resume?

    init(_ repl: HostPrompt) { self.repl = repl }

    private var session: PromptSession { repl.session }
    private var breakpoints: LuaDebugger { repl.host.debugger.core }

    // MARK: Breaks

    var canLook: Bool { repl.canRead }

    func look(at stop: ScriptBreak) -> LuaDebugger.Resume {
        let current = BreakSession(self, session, stop)
        self.current = current
        defer { self.current = nil }
        repl.readAtBreak(current)
        switch stop.ending {
        case .timeIsUp: session.print("the break ends: the handler's time is up\n", toStandardError: true)
        case .eventWaits: session.print("the break ends: the next event waits\n", toStandardError: true)
        case .interrupted, .ended, nil: break
        }
        return current.resume ?? .resume
    }

    func show(message: String) { session.print(message + "\n") }

    // MARK: Commands

    /// Answers a command that needs a break.
    func missBreak(_ end: () -> Void) {
        session.complain(
            "no script stands at a break: :break and :debug make one, and breakpoint() in a script", then: end)
    }

    /// `:debug`: breaks at the first line of an entry.
    func debug(_ entry: String, then end: @escaping () -> Void) {
        guard canLook, !entry.isEmpty else {
            return session.complain(
                canLook ? ":debug needs an entry: `:debug report(items)`" : ":debug needs a terminal", then: end)
        }
        breakpoints.breakAtNextLine()
        session.run(entry, timed: false) { [breakpoints] in
            breakpoints.cancelStep()
            end()
        }
    }

    /// `:watch`: the expressions shown at each break.
    func watch(_ expression: String) {
        switch expression {
        case "": session.page(watches.isEmpty ? "nothing is watched\n" : watches.map { "  \($0)\n" }.joined())
        case "off": watches = []
        default:
            do throws(LuaError) {
                _ = try repl.host.state.loadExpression(expression, name: "=(watch)", environment: nil)
            } catch { return session.complain(error.message) }
            if !watches.contains(expression) { watches.append(expression) }
        }
    }

    /// `:break`: lists, sets and removes breakpoints.
    ///
    /// - Parameters:
    ///   - text: the command's arguments.
    ///   - chunk: the chunk for a line without a file.
    func setBreakpoint(_ text: String, chunk: String? = nil) {
        guard let command = BreakpointCommand(text, current: chunk) else {
            return session.complain(
                ":break takes FILE:LINE [if CONDITION], off N, off all, error, error all or error off")
        }
        switch command {
        case .list: list()
        case .set(let path, let line, let condition):
            guard repl.console.isInputTerminal else { return session.complain(":break needs a terminal") }
            let wanted = LuaBreakpoint(path: path, line: line, condition: condition)
            do throws(LuaError) {
                guard let added = try repl.host.debugger.add(wanted) else {
                    return session.complain("\(path) has no code from line \(line) on")
                }
                let suffix = added.isPlaced ? "" : ", as soon as a chunk of that name is loaded"
                session.print("breakpoint \(added.number): \(Self.text(added))\(suffix)\n")
            } catch { session.complain(error.message) }
        case .remove(let number?):
            if !breakpoints.remove(number) { session.complain("there is no breakpoint \(number); :break lists them") }
        case .remove(nil): breakpoints.removeAll()
        case .errors(let errors):
            breakpoints.errors = errors
            session.print(Self.text(errors) + "\n")
        }
    }

    private func list() {
        var lines = breakpoints.breakpoints.map {
            "  \($0.number)  \(Self.text($0)) · \($0.hits.counted("hit"))\n"
        }
        if breakpoints.errors != .none { lines.append("  \(Self.text(breakpoints.errors))\n") }
        session.page(lines.isEmpty ? "no breakpoints\n" : lines.joined())
    }

    private static func text(_ breakpoint: LuaBreakpoint) -> String {
        "\(breakpoint.path):\(breakpoint.line)" + (breakpoint.condition.map { " if \($0)" } ?? "")
    }

    private static func text(_ errors: LuaDebugger.Errors) -> String {
        switch errors {
        case .none: "no errors break"
        case .uncaught: "uncaught errors break"
        case .all: "all errors break"
        }
    }
}

/// The arguments of `:break`.
enum BreakpointCommand: Equatable {
    case list
    case set(path: String, line: Int, condition: String?)
    /// A breakpoint's number; nil for all.
    case remove(Int?)
    case errors(LuaDebugger.Errors)

    /// Nil for invalid arguments.
    ///
    /// - Parameters:
    ///   - text: `main.lua:12 if total > 3`, `off 2`, `off all`, `error`, `error all`, `error off`.
    ///   - current: the chunk for a line without a file.
    init?(_ text: String, current: String? = nil) {
        let words = text.split(separator: " ", maxSplits: 2, omittingEmptySubsequences: true).map(String.init)
        switch words.first {
        case nil: self = .list
        case "off"? where words.count == 2:
            if words[1] == "all" {
                self = .remove(nil)
            } else if let number = Int(words[1]) {
                self = .remove(number)
            } else {
                return nil
            }
        case "error"?:
            switch words.dropFirst().joined(separator: " ") {
            case "": self = .errors(.uncaught)
            case "all": self = .errors(.all)
            case "off": self = .errors(.none)
            default: return nil
            }
        case let place?:
            guard words.count == 1 || (words.count == 3 && words[1] == "if") else { return nil }
            let colon = place.lastIndex(of: ":")
            let path = colon.map { String(place[..<$0]) } ?? current
            guard let path, !path.isEmpty, let line = Int(colon.map { place[place.index(after: $0)...] } ?? place[...]),
                line > 0
            else { return nil }
            self = .set(path: path, line: line, condition: words.count == 3 ? words[2] : nil)
        }
    }
}
