import Application
import Lua

/// What the life cycle needs to remember between two events.
struct LifeCycleContext {
    /// What of the time for `didEnterBackground` or `willTerminate` is the host's own, for the save; seconds.
    static let reservedForSave = 1.0
    /// When the time for the callback that is under way, and the save after it, is up.
    var phaseDeadline: MonotonicTime?
    /// A second SIGTERM came on the way out: handlers are passed over, the save is not.
    var isHurried = false
    /// What the next launch finds in `app.restoration`.
    var restoration: LuaTable?
    /// Whether the state of the last run was handed back in this launch.
    var hasRestored = false
    /// Scripts were told that they are close to their own limit, and still are.
    var hasWarnedScripts = false
    /// Who said that memory is short.
    var memorySource = "script"
    /// Ctrl-C came while a script ran.
    var cancelRequested = false
    /// The way out that waits until a transaction has been rolled back: half of one is never saved.
    var deferredTermination: LifeCycleCause?
    /// Events that came while another was being handled; they follow it.
    var queue: [(event: ApplicationEvent, cause: LifeCycleCause, simulated: Bool)] = []
    var isHandling = false
    /// The status that the first `terminate` asked for; nil before it.
    var requestedExitCode: Int32?
    var backgroundDeadline: MonotonicTime?
    /// The script's table of Cocoa's delegate methods, and `app` for their argument.
    var delegate: LuaTable?
    /// The names of the delegate's functions that were looked at.
    var checkedMethods: Set<String> = []
    var applicationValue = LuaValue.nil
    /// Tasks that scripts finish in the background, by number.
    var backgroundTasks: [Int: BackgroundTask] = [:]
    var lastBackgroundTask = 0
    /// The process has a controlling terminal whose foreground it may leave.
    var terminal = Terminal()
    var poller: PresencePoller?
}
