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
    private var passedOver: Set<String> = []

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
        guard canBreak, let frontEnd else { return .goOn }
        // As before a wait: the script's changes are safe during the break.
        host.commit()
        host.output.flush()
        let isInLifeCycle = host.lifeCycle.isHandling
        let deadlines = [host.scheduler.nearestDeadline, host.lifeCycle.backgroundDeadline].compactMap { $0 }
        let shown = ScriptBreak(host, stop, deadline: isInLifeCycle ? deadlines.min() : nil)
        current = shown
        defer { current = nil }
        let resume = host.scheduler.standStill(timeRunsOn: isInLifeCycle) { frontEnd.look(at: shown) }
        return shown.decision(resume)
    }
}
