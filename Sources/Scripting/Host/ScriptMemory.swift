import Application
import CPlatform
import Lua

/// What scripts make the process hold, whoever in it holds it: Lua, a picture, an item's text, the history.
///
/// Lua's allocator counts Lua's own memory and refuses. For all the rest the process itself is measured while a script runs:
/// it may grow to the limit and a quarter beyond what it had at the launch and what the stores read from their files.
final class ScriptMemory {
    private let state: LuaState
    private let limit: Int
    private let watch: MemoryWatch
    /// What the process had before the first script, and the stores are still to read.
    private let base: Int
    private var allowed: Int
    /// Whether a function of the host gave up for want of memory since this was last asked.
    private var gaveUp = false

    /// Nil where nothing is limited, or the system does not tell what the process has.
    ///
    /// - Parameters:
    ///   - state: the scripts'.
    ///   - kept: the bytes that the stores take up as they read their files, which is none of a script's doing.
    init?(_ state: LuaState, kept: Int) {
        guard let limit = state.memory.limit, let base = MemoryWatch.ownMemory() else { return nil }
        self.state = state
        self.limit = limit
        self.base = base + kept
        allowed = base + kept + limit + limit / 4
        let interrupter = state.interrupter
        watch = MemoryWatch { interrupter.interrupt(.memory) }
    }

    /// A chunk begins. At a prompt what the entries before it made stays: it may take half of the limit all the same.
    func renew() {
        allowed = max(base + limit + limit / 4, (MemoryWatch.ownMemory() ?? base) + limit / 2)
    }

    /// A script's code runs from here on.
    func begin() { watch.begin(limit: allowed) }

    func end() { watch.end() }

    /// How many bytes a script may still make the host take; less than 0 when it has taken too many.
    func room() -> Int {
        guard let own = MemoryWatch.ownMemory() else { return .max }
        let room = allowed - own
        if room < 0 { gaveUp = true }
        return min(room, max(limit - state.memory.used, 0))
    }

    /// Looks again, once what is garbage has gone.
    ///
    /// - Returns: why the script has to stop; nil when there is room.
    func check() -> LuaError? {
        let hadGivenUp = gaveUp
        gaveUp = false
        guard let own = MemoryWatch.ownMemory(), own > allowed || hadGivenUp else { return nil }
        _ = cubby_trim_memory()
        guard hadGivenUp || (MemoryWatch.ownMemory() ?? 0) > allowed else { return nil }
        return LuaError(
            .memory,
            "not enough memory: the script made the host hold more than the limit of \(limit / 1_048_576) MB")
    }
}
