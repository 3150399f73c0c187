import Application
import Lua

/// The state of the life cycle between two events.
struct LifeCycleContext {
    /// Seconds reserved for the save, out of the time for `didEnterBackground` or `willTerminate`.
    static let reservedForSave = 1.0
    /// The deadline of the current callback and the save after it.
    var phaseDeadline: MonotonicTime?
    /// Whether a second SIGTERM came during the exit: handlers are skipped, the save is not.
    var skipsHandlers = false
    /// The value of `app.restoration` for the next launch.
    var restoration: LuaTable?
    /// Whether the state of the last run was restored in this launch.
    var hasRestored = false
    /// Whether scripts were warned about their own limit and still exceed it.
    var hasWarnedScripts = false
    /// The source of the memory warning.
    var memorySource = "script"
    /// When a warning of the machine was last shown.
    var lastMachineWarning: MonotonicTime?
    /// Whether Ctrl-C came while a script was running.
    var cancelRequested = false
    /// The cause of an exit that waits for the rollback of a transaction: half a transaction is never saved.
    var deferredTermination: LifeCycleCause?
    /// Events received while another one is handled; they follow it.
    var queue: [(event: ApplicationEvent, cause: LifeCycleCause, simulated: Bool)] = []
    var isHandling = false
    /// The status of the first `terminate`; nil before it.
    var requestedExitCode: Int32?
    /// Whether a script has chosen the status.
    var hasChosenExitCode = false
    var backgroundDeadline: MonotonicTime?
    /// The script's table of Cocoa's delegate methods, and `app` as their argument.
    var delegate: LuaTable?
    /// The names of the delegate's functions already checked.
    var checkedMethods: Set<String> = []
    var applicationValue = LuaValue.nil
    /// Background tasks of scripts, by number.
    var backgroundTasks: [Int: BackgroundTask] = [:]
    var lastBackgroundTask = 0
    /// The controlling terminal.
    var terminal = Terminal()
    var poller: PresencePoller?
}
