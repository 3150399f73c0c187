import Application
import Files
import Glibc
import Logging
package import Lua

/// The debugger of a host: sets breakpoints, and passes breaks to the front end.
package final class ScriptDebugger {
    /// Time limit of a condition or a watch in seconds.
    package static let evaluationLimit = 1.0

    /// Breakpoints and steps.
    package let core: LuaDebugger
    /// Shows breaks; without a front end, scripts do not break.
    package weak var frontEnd: (any DebuggerFrontEnd)?
    private unowned let host: ScriptHost
    /// The current break.
    private var current: ScriptBreak?
    /// The places of skipped calls of `breakpoint()`, each logged once.
    private var passedOver: NameSet = []

    init(_ host: ScriptHost) {
        self.host = host
        core = host.state.debugger
        core.isOfChunk = Self.isFile
        core.onBreak = { [unowned self] stop in broke(stop) }
        core.onMessage = { [unowned self] text, _ in frontEnd?.show(message: text) }
        core.evaluate = { [unowned host] function, arguments in
            let scheduler = host.scheduler
            return scheduler.standStill(timeRunsOn: host.lifeCycle.isHandling) {
                scheduler.finish(
                    scheduler.start(function, arguments, seconds: Self.evaluationLimit, generation: 0))
            }
        }
    }

    /// Whether a break would be shown. Entries of attached prompts do not break: their prompt is another one.
    var canBreak: Bool {
        current == nil && host.exitCode == nil && host.scheduler.entry == nil && frontEnd?.canLook ?? false
    }

    /// Logs a skipped `breakpoint()`, once for each place.
    func passOver(_ place: String) {
        guard current == nil, passedOver.insert(place).inserted else { return }
        let name = place.drop { $0.is("@") || $0.is("=") }
        host.logger.warning("breakpoint() in \(name) is passed over: there is no prompt, and no debugger")
    }

    /// Sets a breakpoint, at the next line with code if the text is known: of a chunk that has run, or of a file.
    ///
    /// - Returns: the breakpoint with its number and line; nil if no code follows its line.
    /// - Throws: the error of a condition or a message that is not made of expressions.
    package func add(_ breakpoint: LuaBreakpoint) throws(LuaError) -> LuaBreakpoint? {
        try core.check(breakpoint)
        let path = breakpoint.path
        let text =
            host.sources.text { $0 == path || Self.isFile(path, of: $0) }
            ?? (try? PosixFileLayer().contents(of: Self.expanded(path), limit: 16 << 20)).map {
                String(decoding: $0, as: UTF8.self)
            }
        let lines = text.flatMap { text -> [Int]? in
            let chunk = String(decoding: ScriptHost.withoutShebang(Array(text.utf8)), as: UTF8.self)
            return try? host.state.loadEntry(chunk, name: "=(lines)", environment: nil).codeLines
        }
        return core.add(breakpoint, lines: lines?.isEmpty ?? true ? nil : lines)
    }

    // MARK: Paths

    /// Whether a breakpoint's path and a chunk's name are one file, through links and however they are spelled. A
    /// relative path may also be the end of the chunk's.
    static func isFile(_ path: String, of chunk: String) -> Bool {
        let (wanted, found) = (expanded(path), expanded(chunk))
        if isSame(wanted, found) { return true }
        guard !path.isEmpty, !path.hasPrefix("/"), !path.hasPrefix("~/") else { return false }
        return PathText.absolute(found, from: "/").hasSuffix(PathText.absolute(path, from: "/"))
    }

    /// Whether two absolute paths name one file: by its identity, so that the file system decides about the case of
    /// letters; by its path without links, if it is gone.
    private static func isSame(_ a: String, _ b: String) -> Bool {
        if a == b || PathText.absolute(a, from: "/") == PathText.absolute(b, from: "/") { return true }
        var (first, second) = (stat(), stat())
        if stat(a, &first) == 0, stat(b, &second) == 0 {
            return first.st_ino == second.st_ino && first.st_dev == second.st_dev
        }
        return RealPath.ofExistingPart(of: a) == RealPath.ofExistingPart(of: b)
    }

    /// An absolute path with its `..`, which the kernel resolves after the links before it.
    private static func expanded(_ path: String) -> String {
        if path.hasPrefix("/") { return path }
        if path.hasPrefix("~/"), let home = HomeFolder.path { return PathText.join(home, String(path.dropFirst(2))) }
        return (WorkingDirectory.path ?? "") + "/" + path
    }

    private func broke(_ stop: LuaBreak) -> LuaDebugger.Resume {
        guard canBreak, let frontEnd else { return .resume }
        // As before a wait: the script's changes are safe during the break.
        host.lifeCycle.saver.commitForHost()
        host.output.flush()
        let isInLifeCycle = host.lifeCycle.isHandling
        let deadlines = [host.scheduler.nearestDeadline, host.lifeCycle.backgroundTasks.deadline].compactMap { $0 }
        let shown = ScriptBreak(host, stop, deadline: isInLifeCycle ? deadlines.min() : nil)
        current = shown
        defer { current = nil }
        let resume = host.scheduler.standStill(timeRunsOn: isInLifeCycle) { frontEnd.look(at: shown) }
        return shown.decision(resume)
    }
}

/// Shows breaks to the user: a prompt, or the client of a debug adapter.
package protocol DebuggerFrontEnd: AnyObject {
    /// Whether a break can be shown now.
    var canLook: Bool { get }
    /// Lets the user examine a paused script. Serves events by `ScriptBreak.turn()`, and returns when the user resumes
    /// the script, or the break has an `ending`.
    func look(at stop: ScriptBreak) -> LuaDebugger.Resume
    /// Shows the message of a breakpoint.
    func show(message: String)
}

/// The function `breakpoint`, which breaks at its call.
enum BreakpointFunction {
    static func install(in host: ScriptHost) {
        let declaration = LuaFunctionDeclaration(
            "breakpoint", [],
            doc:
                "Breaks here, so that variables can be examined; at the prompt, `:help` then lists the commands of a break. Without a prompt or a debugger the script continues, and one warning for the line is logged.",
            example: "local total = 40 breakpoint() return total")
        host.state.setGlobal(declaration) { [unowned host] call in
            if host.debugger.canBreak {
                host.debugger.core.breakNow(call)
            } else {
                host.debugger.passOver(call.place(ofLevel: 1) ?? "?")
            }
            return call.returnsNothing()
        }
    }
}

/// A script that is paused at a break, for its front end.
package final class ScriptBreak {
    /// Why a break ends without the user's decision.
    package enum Ending: Sendable {
        /// Ctrl-C: the script is stopped.
        case interrupted
        /// The application ends, or the script is being stopped already.
        case ended
        /// The time limit of a life-cycle handler has expired: it also counts the time of the break.
        case timeIsUp
        /// The next life-cycle event waits for the handler.
        case eventWaits
    }

    /// The stack frames and their variables.
    package let stop: LuaBreak
    /// The title of the running task: `the timer every 2.0 s`; nil for a chunk.
    package let title: String?
    unowned let host: ScriptHost
    /// The deadline of the life-cycle handler or the background time, in the life cycle.
    private let deadline: MonotonicTime?

    init(_ host: ScriptHost, _ stop: LuaBreak, deadline: MonotonicTime?) {
        self.host = host
        self.stop = stop
        self.deadline = deadline
        title = host.scheduler.current?.title
    }

    /// Set when the break must end, regardless of the user.
    package var ending: Ending? {
        let status = host.runtime.status
        if status.isEnding { return .ended }
        if host.lifeCycle.foreground.isInterrupted { return .interrupted }
        if let deadline, deadline <= .now() { return .timeIsUp }
        if host.state.isUnwinding { return .ended }
        return host.lifeCycle.hasUrgentEvent ? .eventWaits : nil
    }

    /// Runs the loop once: signals, the life cycle, the front end's input.
    package func turn() {
        host.loop.runOnce(timeout: deadline.map { max($0.seconds(since: .now()), 0) })
    }

    /// Whether an evaluation runs or waits: stopping it does not stop the paused script.
    package private(set) var isEvaluating = false

    /// Discards a Ctrl-C that is meant for the line being typed.
    package func dropInterrupt() { host.lifeCycle.foreground.dropInterrupt() }

    /// Evaluates a text in a function.
    ///
    /// - Parameters:
    ///   - text: an expression or statements.
    ///   - call: the function's position in `stop.calls`.
    ///   - kind: what the text may be.
    ///   - seconds: the time limit; nil for none: Ctrl-C stops it, and a handler's deadline.
    ///   - willRun: called after compilation, just before it runs.
    /// - Returns: its values, or its error.
    package func evaluate(
        _ text: String, in call: Int, as kind: LuaBreakText = .entry, seconds: Double? = nil,
        willRun: () -> Void = {}
    ) -> Result<[LuaValue], LuaError> {
        // Ctrl-C stops only the evaluation, also while it waits. Its changes are committed like those of an entry.
        defer { host.lifeCycle.foreground.dropInterrupt() }
        let outer = host.lifeCycle.foreground.begin()
        defer { host.lifeCycle.foreground.end(outer) }
        do throws(LuaError) {
            let function = try stop.compile(text, in: call, as: kind)
            willRun()
            let commit = host.lifeCycle.saver.beginChanges(inGroup: false)
            let values = run(function, stop.varargs(of: call), seconds)
            guard let loss = commit() else { return values }
            if case .success = values { throw loss }
            // The text's own error is shown instead.
            host.logger.error("\(loss.message)")
            return values
        } catch { return .failure(error) }
    }

    private func run(
        _ function: LuaFunction, _ arguments: [LuaValue], _ seconds: Double?
    ) -> Result<[LuaValue], LuaError> {
        isEvaluating = true
        defer { isEvaluating = false }
        return host.lifeCycle.foreground.finish(
            host.scheduler.start(function, arguments, seconds: seconds, generation: 0))
    }

    /// How the script resumes: an ending comes first.
    func decision(_ resume: LuaDebugger.Resume) -> LuaDebugger.Resume {
        // The script is being stopped already, to the required depth.
        if host.state.isUnwinding { return .resume }
        switch ending {
        case .interrupted:
            host.lifeCycle.foreground.dropInterrupt()
            return stopping
        case .ended:
            return .stop(LuaError(.cancelled, "the application has ended"), depth: 1)
        case .timeIsUp, .eventWaits: return .resume
        case nil: return resume
        }
    }

    /// The decision that stops the script.
    package var stopping: LuaDebugger.Resume {
        .stop(TaskScheduler.interruption, depth: host.scheduler.current?.depth ?? 1)
    }
}

/// Reads values at a break by code with a time limit: a script's accessor may never end.
extension ScriptBreak {
    /// Evaluates an expression of some arguments.
    ///
    /// - Parameters:
    ///   - expression: Lua text in which `...` stands for the arguments: `tostring(...)`.
    ///   - arguments: the arguments.
    /// - Returns: its first value, or its error.
    package func value(of expression: String, _ arguments: LuaValue...) -> Result<LuaValue, LuaError> {
        // Ctrl-C stops only this evaluation.
        let outer = host.lifeCycle.foreground.begin()
        defer { host.lifeCycle.foreground.end(outer) }
        do throws(LuaError) {
            let function = try host.state.load(Array("return \(expression)".utf8), name: "=(debugger)")
            return run(function, arguments, ScriptDebugger.evaluationLimit).map { $0.first ?? .nil }
        } catch { return .failure(error) }
    }
}

/// Work that is deferred until the end of a break.
struct HeldWork {
    /// The owner: a timer is deferred once, however often it fires.
    let owner: AnyObject
    let perform: () -> Void
}
