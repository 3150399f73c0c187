import Application
import CPlatform
import Files
import Glibc
import Logging
import Lua

/// The memory that scripts cause anywhere in the process: Lua, a picture, an item's text, the history.
///
/// Lua's allocator counts and limits Lua's own memory. For the rest the process is measured while a script runs: it may
/// grow by the limit and a quarter beyond its size at launch and the data that the stores load.
final class ScriptMemory {
    private let state: LuaState
    private let limit: Int
    private let watch: MemoryWatch
    /// The process's size before the first script, plus the data that the stores will load.
    private let base: Int
    private var allowed: Int
    /// Whether a function of the host stopped for lack of memory since the last check.
    private var gaveUp = false

    /// Nil without a limit, or where the system does not report the process's size.
    ///
    /// - Parameters:
    ///   - state: the scripts' state.
    ///   - retained: the bytes of data that the stores load from their files.
    init?(_ state: LuaState, retained: Int) {
        guard let limit = state.memory.limit, let base = MemoryWatch.processMemory() else { return nil }
        self.state = state
        self.limit = limit
        self.base = base + retained
        allowed = base + retained + limit + limit / 4
        let interrupter = state.interrupter
        watch = MemoryWatch { interrupter.interrupt(.memory) }
    }

    /// Starts a new chunk. At a prompt the memory of earlier entries stays: the chunk may still use half the limit.
    func renew() {
        allowed = max(base + limit + limit / 4, (MemoryWatch.processMemory() ?? base) + limit / 2)
    }

    /// Starts measuring while a script's code runs.
    func begin() { watch.begin(limit: allowed) }

    func end() { watch.end() }

    /// The bytes that a script may still cause; negative beyond the limit.
    func capacity() -> Int {
        guard let own = MemoryWatch.processMemory() else { return .max }
        let capacity = allowed - own
        if capacity < 0 { gaveUp = true }
        return min(capacity, max(limit - state.memory.used, 0))
    }

    /// Checks the limit again after a collection.
    ///
    /// - Returns: the error that stops the script; nil within the limit.
    func check() -> LuaError? {
        let hadGivenUp = gaveUp
        gaveUp = false
        guard let own = MemoryWatch.processMemory(), own > allowed || hadGivenUp else { return nil }
        _ = cubby_trim_memory()
        guard hadGivenUp || (MemoryWatch.processMemory() ?? 0) > allowed else { return nil }
        return LuaError(
            .memory,
            "not enough memory: the script made the host hold more than the limit of \(limit / 1_048_576) MB")
    }
}

/// Warnings that memory is short: their sources and the response.
final class MemoryWarnings {
    private let runtime: Runtime
    private let pressure: MemoryPressureSource?
    /// Whether scripts were warned about their own limit and still exceed it.
    private var hasWarnedScripts = false
    /// When a warning of the machine was last shown.
    private var lastOfMachine: MonotonicTime?
    /// The source of the warning, for handlers.
    var source = "script"
    /// Begins the event.
    private let deliver: () -> Void

    init(_ runtime: Runtime, _ pressure: MemoryPressureSource?, deliver: @escaping () -> Void) {
        (self.runtime, self.pressure, self.deliver) = (runtime, pressure, deliver)
    }

    /// Arms the kernel's source at the first wait: a short script does not need it, and would pay for it at its end.
    func watch() {
        guard let pressure else { return }
        runtime.loop.onFirstWait = { [unowned self] in
            pressure.start(on: runtime.loop) { [unowned self] origin in warn(origin.rawValue) }
        }
    }

    /// How loud the warning is. Those of the machine come every two seconds where other programs need its memory: one a
    /// minute is shown, and none where nobody looks.
    func level() -> Logger.Level {
        if ["script", "scripts"].contains(source) { return .info }
        let now = MonotonicTime.now()
        let isRecent = lastOfMachine.map { now.seconds(since: $0) < 60 } ?? false
        guard runtime.output.frontEnd != nil || runtime.output.error.isTerminal, !isRecent else { return .debug }
        lastOfMachine = now
        return .info
    }

    private func warn(_ source: String) {
        guard runtime.status.exitCode == nil else { return }
        self.source = source
        deliver()
    }

    /// Handles scripts near their own limit, or a process beyond its limit: collects garbage first, and then warns or
    /// stops them.
    ///
    /// - Returns: the error for the running script.
    func scriptsAreShort() -> LuaError? {
        runtime.state.collectGarbage()
        warnScripts()
        return runtime.scheduler.memory?.check()
    }

    private func warnScripts() {
        let memory = runtime.state.memory
        guard let limit = memory.limit, memory.used >= limit / 8 * 5 else {
            hasWarnedScripts = false
            return
        }
        // Once until memory is available again, not with each collection.
        guard !hasWarnedScripts else { return }
        hasWarnedScripts = true
        warn("scripts")
    }
}
