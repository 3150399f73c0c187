import Application
import Lua

/// What the life cycle needs to remember between two events.
struct LifeCycleContext {
    /// Seconds for all handlers of `didEnterBackground` or `willTerminate`, and what of it is the host's own.
    var callbackLimit = 5.0
    var reservedForSave = 1.0
    /// Ctrl-C came while a script ran.
    var cancelRequested = false
    /// The way out that waits until a transaction has been rolled back: half of one is never saved.
    var deferredTermination: LifeCycleCause?
    /// Events that came while another was being handled; they follow it.
    var queue: [(event: ApplicationEvent, cause: LifeCycleCause, simulated: Bool)] = []
    var isHandling = false
    /// The status that `terminate` was asked for.
    var requestedExitCode: Int32 = 0
    /// Seconds that background tasks get before they expire: as the chapters say, about ten.
    var backgroundTaskLimit = 10.0
    var backgroundDeadline: MonotonicTime?
    /// The script's table of Cocoa's delegate methods, and `app` for their argument.
    var delegate: LuaTable?
    var applicationValue = LuaValue.nil
    /// Tasks that scripts finish in the background, by number.
    var backgroundTasks: [Int: BackgroundTask] = [:]
    var lastBackgroundTask = 0
    /// The process has a controlling terminal whose foreground it may leave.
    var terminal = Terminal()
    var poller: PresencePoller?
}
