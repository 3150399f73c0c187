import LineEditor
import Lua
import Scripting
import Wording

/// The debugger of the host's own prompt: shows breaks there, and performs the debugger commands.
final class PromptDebugger: DebuggerFrontEnd {
    private unowned let repl: REPL
    /// The current break.
    private(set) var session: BreakSession?
    /// Expressions shown at each break.
    private(set) var watches: [String] = []
    /// The step that an empty line repeats at a break.
    var lastStep: LuaDebugger.Resume?

    init(_ repl: REPL) { self.repl = repl }

    private var breakpoints: LuaDebugger { repl.host.debugger.core }

    // MARK: Breaks

    var canLook: Bool { repl.canRead }

    func look(at stop: ScriptBreak) -> LuaDebugger.Resume {
        let session = BreakSession(repl, stop)
        self.session = session
        defer { self.session = nil }
        repl.readAtBreak(session)
        switch stop.ending {
        case .timeIsUp: repl.print("the break ends: the handler's time is up\n", toStandardError: true)
        case .eventWaits: repl.print("the break ends: the next event waits\n", toStandardError: true)
        case .interrupted, .ended, nil: break
        }
        return session.resume ?? .goOn
    }

    func show(message: String) { repl.print(message + "\n") }

    // MARK: Commands

    /// Performs a debugger command outside a break.
    func perform(_ name: String, _ argument: String, then end: @escaping () -> Void) {
        switch name {
        case "break": setBreakpoint(argument)
        case "debug": return debug(argument, then: end)
        case "watch": watch(argument)
        default: repl.complain("no script stands at a break: :break and :debug make one, and breakpoint() in a script")
        }
        end()
    }

    /// `:debug`: breaks at the first line of an entry.
    private func debug(_ entry: String, then end: @escaping () -> Void) {
        guard canLook, !entry.isEmpty else {
            repl.complain(canLook ? ":debug needs an entry: `:debug report(items)`" : ":debug needs a terminal")
            return end()
        }
        breakpoints.breakAtNextLine()
        repl.run(entry, timed: false) { [breakpoints] in
            breakpoints.cancelStep()
            end()
        }
    }

    /// `:watch`: the expressions shown at each break.
    func watch(_ expression: String) {
        switch expression {
        case "": repl.page(watches.isEmpty ? "nothing is watched\n" : watches.map { "  \($0)\n" }.joined())
        case "off": watches = []
        default:
            do throws(LuaError) {
                _ = try repl.host.state.loadExpression(expression, name: "=(watch)", environment: nil)
            } catch { return repl.complain(error.message) }
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
            return repl.complain(
                ":break takes FILE:LINE [if CONDITION], off N, off all, error, error all or error off")
        }
        switch command {
        case .list: list()
        case .set(let path, let line, let condition):
            guard repl.isInputTerminal else { return repl.complain(":break needs a terminal") }
            let wanted = LuaBreakpoint(path: path, line: line, condition: condition)
            do throws(LuaError) {
                guard let added = try repl.host.debugger.add(wanted) else {
                    return repl.complain("\(path) has no code from line \(line) on")
                }
                let note = added.isPlaced ? "" : ", as soon as a chunk of that name is loaded"
                repl.print("breakpoint \(added.number): \(Self.text(added))\(note)\n")
            } catch { repl.complain(error.message) }
        case .remove(let number?):
            if !breakpoints.remove(number) { repl.complain("there is no breakpoint \(number); :break lists them") }
        case .remove(nil): breakpoints.removeAll()
        case .errors(let errors):
            breakpoints.errors = errors
            repl.print(Self.text(errors) + "\n")
        }
    }

    private func list() {
        var lines = breakpoints.breakpoints.map {
            "  \($0.number)  \(Self.text($0)) · \($0.hits.counted("hit"))\n"
        }
        if breakpoints.errors != .none { lines.append("  \(Self.text(breakpoints.errors))\n") }
        repl.page(lines.isEmpty ? "no breakpoints\n" : lines.joined())
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
