import Application
import CPlatform
import Lua
import TimeZones

/// What scripts run in: the step after the stores.
struct Runtime {
    /// The Lua state in which the scripts run.
    let state: LuaState
    /// The event loop, with timers and watched descriptors.
    let loop: EventLoop
    let scheduler: TaskScheduler
    let hooks: HookCenter
    /// Values of property lists, dates and the like in the state.
    let values: ValueBridge
    /// What the host says.
    let log: HostLog
    /// The texts of chunks by name, for excerpts in error messages.
    let sources = SourceTexts()
    /// The modules that `require` has read.
    let modules = LoadedModules()

    var output: ScriptOutput { log.output }

    /// - Throws: `LuaError`, `FileError`.
    init(_ options: ScriptHostOptions, _ log: HostLog) throws {
        self.log = log
        state = try LuaState(limits: LuaLimits(memory: options.memoryLimit, output: options.outputLimit))
        loop = try EventLoop()
        scheduler = TaskScheduler(state, loop: loop)
        values = ValueBridge(state, zones: ZoneDatabase(variable: options.timeZone ?? Environment.value("TZ")))
        hooks = HookCenter(scheduler, eventClass: ScriptEvent.makeClass(in: state))
        hooks.observerLimit = min(options.timeLimit ?? hooks.observerLimit, hooks.observerLimit)
    }

    /// The watchdog of this thread, if there is a plan for one.
    func makeWatchdog(_ plan: StopWatchdog.Plan?) -> StopWatchdog? {
        guard let plan else { return nil }
        let interrupter = state.interrupter
        let subject = StopWatchdog.Subject(beats: { interrupter.beats }, place: { interrupter.place(within: 1) })
        return StopWatchdog(plan, subject, loop.pulse)
    }

    /// Returns the memory that handlers freed to the system.
    func returnMemory() {
        state.collectGarbage()
        _ = cubby_trim_memory()
    }
}
