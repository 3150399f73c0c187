public import Application
import CPlatform
package import Files
public import Images
public import Items
package import Logging
public import Lua
import PropertyList
import SharedItems
import TimeZones
@_exported import Wording

/// A scripted application: a Lua state with the stores, the life cycle and the sandbox.
///
/// The command, the REPL and an embedding program use the same host. One thread owns it.
public final class ScriptHost {
    /// The host's options.
    public let options: ScriptHostOptions
    let sandbox: Sandbox
    let stores: Stores
    let runtime: Runtime
    /// Notifications between scripts, the host and the embedding program.
    public let notifications = ApplicationNotificationCenter()
    var initScript = InitScript()
    /// The write failures already reported.
    var writeFailures = WriteFailures()
    /// Whether the current failure of saves was reported.
    var hasReportedFailedSave = false
    var machine = LifeCycleMachine()
    /// The state as handlers see it: it changes at the same times as in Cocoa.
    public internal(set) var applicationState = ApplicationState.notRunning
    /// Set when the application has ended: the process's exit status.
    public internal(set) var exitCode: Int32?
    /// The cause of the application's end; nil while it runs.
    public internal(set) var exitCause: LifeCycleCause?
    /// The failure of the last save before the background or the end; nil when it succeeded, or nothing had to be
    /// saved.
    public internal(set) var saveFailure: (any Error)?
    /// The chunk that Ctrl-C cancels: that of the user or the command.
    var foreground: ScriptTask?
    /// The entry of an attached prompt that has just ended, while its last commit is made.
    var endedEntry: ScriptEntry?
    var commitListeners: [any CommitListener] = []
    var lifeCycle = LifeCycleContext()
    /// The save in progress on another thread.
    var saveUnderWay: SaveUnderWay?
    /// Handles Ctrl-C without running code, for the prompt.
    package var onInterrupt: (() -> Void)?
    /// Handles signals outside the life cycle: a change of the window's size.
    package var onOtherSignal: ((UnixSignal) -> Void)?
    /// The memory that scripts cause; nil without a limit.
    var scriptMemory: ScriptMemory?
    private(set) var signals: SignalSource?
    private var itemEvents: ItemEvents?
    /// The host's part in a shared collection; nil without one.
    private(set) var shared: SharedSession?
    private var itemClasses: ItemClasses?
    /// The debugger, with the breakpoints.
    package private(set) lazy var debugger = ScriptDebugger(self)
    /// Takes calls of functions of scripts from other threads.
    private(set) var calls: HostCalls?
    /// Standard input, for scripts.
    package private(set) lazy var input = StandardInput(self)

    /// The classes of items and pictures; available after the initializer.
    var classes: ItemClasses {
        guard let itemClasses else { preconditionFailure("the host's modules are not installed yet") }
        return itemClasses
    }

    /// The global `items` as the host made it.
    package var itemsValue: LuaValue { classes.value }

    /// The user interface: shows the host's text, and puts its questions to the user.
    public weak var frontEnd: (any HostFrontEnd)? {
        didSet { output.frontEnd = frontEnd }
    }

    /// Opens the container and the stores, and creates the state with all modules. Nothing is launched yet.
    ///
    /// - Throws: `FolderLockError` when another host, or another process, has the container, `FileError`, `StoreError`,
    ///   with `newerFormat` when a newer program wrote the container, `LuaError`.
    public init(_ options: ScriptHostOptions) throws {
        self.options = options
        let log = HostLog(options)
        let opened: OpenedContainer
        do { opened = try OpenedContainer(options.container, isReadOnly: options.isReadOnly) } catch let error
            as ContainerFormatError
        {
            throw StoreError(.newerFormat, error.description, path: options.container.path, cause: error)
        }
        sandbox = try Sandbox(opened, options, log.logger)
        stores = try Stores(sandbox, options, log.logger)
        runtime = try Runtime(options, log)
        stores.report(opened.restoreNotice, to: log.logger, isStrict: options.isStrict)
        wire()
        let calls = HostCalls(self)
        self.calls = calls
        state.functionCaller = calls
        state.waiter = { [unowned self] call, operation in try wait(call, for: operation) }
        let classes = ItemClasses(self, HookBinding(self))
        itemClasses = classes
        StandardModules.install(in: self, classes)
        if let persistence = sandbox.persistence as? SharedPersistence {
            shared = SharedSession(self, persistence, sandbox.waiter)
        }
        scheduler.watchdog = runtime.makeWatchdog(options.watchdog)
        if options.handlesSignals { try takeSignals() }
        if options.limitsProcess { limitProcess() }
    }

    deinit {
        // The store may outlive the host.
        itemEvents?.end(items)
        signals?.stop()
        scheduler.watchdog?.close()
        calls?.end()
        state.close()
    }

    private func wire() {
        scheduler.isEnding = { [unowned self] in exitCode != nil || lifeCycle.skipsHandlers }
        scheduler.entryChanged = { [unowned self] entry in
            output.entry = entry
            warnedNames.removeAll()
        }
        hooks.skipsHandlers = { [unowned self] in lifeCycle.skipsHandlers }
        hooks.hasEnded = { [unowned self] in
            // A second SIGTERM stops running handlers, which is reported.
            exitCode != nil || lifeCycle.deferredTermination != nil
                || (lifeCycle.requestedExitCode != nil && !lifeCycle.skipsHandlers)
        }
        hooks.report = { [unowned self] failure in report(failure) }
        hooks.warn = { [unowned self] text in logger.warning("\(text)") }
        // A nested handler shares the sync of its caller: a loop that a handler observes waits for the disk once.
        hooks.handlerFailed = { [unowned self] in endBackgroundTasks(of: $0) }
        hooks.handlerEnded = { [unowned self] in commit(inGroup: state.depth > 0) }
        state.interruptHandler = { [unowned self] reasons in interrupted(reasons) }
        loop.onSignal = { [unowned self] signal in received(signal) }
        let events = ItemEvents(self)
        itemEvents = events
        items.commitGeneration = { [weak scheduler] in scheduler?.generation ?? 0 }
    }

    /// Called at the first handler of an event: without handlers the store is not observed.
    func observeItems(for event: String, as itemClass: LuaClass<Item>) {
        itemEvents?.observe(items, for: event, as: itemClass)
    }

    private func takeSignals() throws {
        let interrupter = state.interrupter
        signals = try SignalSource(poster: loop.poster) { [watchdog = scheduler.watchdog] signal in
            let stops = [.interrupt, .terminate, .hangUp].contains(signal)
            interrupter.interrupt(stops ? [.events, .urgent] : .events)
            if stops { watchdog?.stopNow() }
        }
    }

    // MARK: Running chunks

    /// Compiles a chunk and runs it to its end; its changes are then committed, also after an error.
    ///
    /// - Parameters:
    ///   - source: Lua text.
    ///   - name: in Lua's notation: `@file`, `=literal name`. A first line that begins with `#` is skipped in a file
    ///     and in `=stdin`.
    ///   - arguments: the values of `…`.
    /// - Returns: the chunk's results, or the error.
    public func run(
        _ source: some Collection<UInt8>, name: String, arguments: [LuaValue] = []
    ) -> Result<[LuaValue], LuaError> {
        do throws(LuaError) {
            let isFile = name.hasPrefix("@") || name == "=stdin"
            let text = isFile ? Self.withoutShebang(Array(source)) : Array(source)
            return run(try state.load(text, name: name), arguments)
        } catch {
            return .failure(error)
        }
    }

    /// The same for a function.
    public func run(_ function: LuaFunction, _ arguments: [LuaValue] = []) -> Result<[LuaValue], LuaError> {
        let outer = foreground
        if outer == nil {
            state.resetOutput()
            output.hasData = false
            shared?.apply()
        }
        classes.imageClasses.forgetFailure()
        defer { foreground = outer }
        // Until it waits, Ctrl-C applies to this code, not to a waiting script around it.
        foreground = nil
        if outer == nil { scriptMemory?.renew() }
        let task = scheduler.start(function, arguments, seconds: options.timeLimit, generation: 0)
        foreground = task
        let result = scheduler.finish(task)
        endIfDeferred()
        let committed = commit()
        output.flush()
        guard case .failure(let error) = committed else { return result }
        guard case .success = result else {
            // The script's own error is shown instead.
            report(error.underlying ?? error, of: .items)
            return result
        }
        var failure = error
        failure.message = writeFailures.textOfCaller(.items, error.underlying ?? error)
        return .failure(failure)
    }

    /// Blanks a first line with `#`, so that line numbers match the file. A byte order mark is removed, as in Lua's own
    /// command.
    static func withoutShebang(_ source: [UInt8]) -> [UInt8] {
        let source = source.starts(with: [0xEF, 0xBB, 0xBF]) ? Array(source[3...]) : source
        guard source.first == UInt8(ascii: "#") else { return source }
        return [UInt8(ascii: "-"), UInt8(ascii: "-")] + source.dropFirst()
    }

    /// Commits the changes since the last commit. A failure is reported, and the changes stay for the next attempt.
    ///
    /// - Parameter inGroup: whether an outer commit follows and waits for the disk for both.
    /// - Returns: the failure as a Lua value.
    @discardableResult
    func commit(inGroup: Bool = false) -> Result<Void, LuaError> {
        UnstoppableWork.during { commitNow(inGroup) }
    }

    private func commitNow(_ inGroup: Bool) -> Result<Void, LuaError> {
        // Changes are stored even when the script's time is up.
        let watch = cubby_watch_work(cubby_watch())
        defer { _ = cubby_watch_work(watch) }
        if defaults.hasChanges {
            do {
                try defaults.synchronize(durable: options.durability == .power)
                writeFailures.noteSuccess(.preferences)
            } catch {
                report(error, of: .preferences)
            }
        }
        guard !items.isInTransaction else { return .success(()) }
        do {
            try items.tellingCommitsAtEnd { () throws(StoreError) in
                // Never waits during an outage of the server: queued commits are sent when it is connected again.
                if items.hasUncommittedChanges, items.takesCommits {
                    if inGroup { try items.commitInGroup() } else { try items.commit() }
                    writeFailures.noteSuccess(.items)
                    saveIfJournalIsLong()
                }
                if !inGroup { try items.endGroup() }
            }
            shared?.apply()
            return .success(())
        } catch {
            var failure = LuaError(.runtime, error.message)
            failure.underlying = error
            return .failure(failure)
        }
    }

    // MARK: Interrupts

    private func interrupted(_ reasons: LuaInterrupter.Reason) -> LuaState.InterruptDecision {
        if let error = scheduler.takeStop() {
            lifeCycle.cancelRequested = false
            return scheduler.stopCurrent(error)
        }
        if reasons.contains(.memory), let error = scriptMemoryIsShort() { return scheduler.stopCurrent(error) }
        if reasons.contains(.events) {
            lifeCycle.cancelRequested = false
            scheduler.outsideOfEntries { loop.drainPending() }
            if lifeCycle.skipsHandlers, exitCode == nil, lifeCycle.isHandling {
                return scheduler.stopCurrent(LuaError(.cancelled, "stopped: a second SIGTERM came"))
            }
            if exitCode != nil || lifeCycle.deferredTermination != nil {
                return .stop(LuaError(.cancelled, "the application has ended"), depth: 1)
            }
            if lifeCycle.cancelRequested {
                lifeCycle.cancelRequested = false
                return scheduler.stopCurrent(LuaError(.cancelled, "interrupted"))
            }
            if let decision = scheduler.stopRequested() { return decision }
        }
        return reasons.contains(.deadline) ? scheduler.stopExpired() : .goOn
    }

    /// Ctrl-C: stops running code and cancels waiting code; the session continues. For a running entry of an attached
    /// prompt it stops that entry alone.
    public func cancelForeground() {
        if let current = scheduler.current, current.entry != nil { return scheduler.requestCancel(current) }
        if state.depth > 0 { lifeCycle.cancelRequested = true }
        scheduler.interruptWaiting(foreground)
    }

    /// Whether Ctrl-C came during a script, which has not stopped yet.
    public var isCancelRequested: Bool { lifeCycle.cancelRequested }

    // MARK: Text

    /// The number of bytes that could not be written to standard output, by scripts or others; `cubby` says so at its end.
    public var lostOutput: Int { output.output.loss?.lost ?? 0 }

    /// Writes text to the scripts' output. A failure is counted in ``lostOutput``.
    public func write(_ bytes: [UInt8], toStandardError: Bool = false) {
        output.put(bytes, toStandardError: toStandardError)
    }

    /// Flushes buffered output.
    public func flushOutput() { output.flush() }

    /// The fences in force, for display.
    package var sandboxDescription: String { fences.text }

    private func report(_ failure: HookFailure) {
        report("error in the handler \(failure.title): \(ErrorText.describe(failure.error, sources: sources))")
    }

    /// Reports an error on standard error: as it is, or as a line of the log if the log's format is for programs.
    package func report(_ error: String) { runtime.log.report(error) }

    /// Says on standard error what a command has done: as it is, or as a line of the log if the log's format is for
    /// programs; not at all below the log's level.
    package func inform(_ text: String) { runtime.log.inform(text) }

    /// Whether an entry of a prompt is running: undefined globals are warnings there.
    package var isRunningEntry = false {
        didSet { warnedNames.removeAll() }
    }
    /// The undefined globals already warned about in this entry.
    var warnedNames: NameSet = []

    /// The help on a declared name, an event, or a member (`items.createItem`); nil when there is none.
    package func helpText(on subject: String) -> String? { HelpModule.lookUp(subject, state.declarations) }

    /// The names and descriptions of all declarations, for a search.
    package var helpIndex: [(name: String, text: String)] { HelpModule.index(state.declarations) }

    /// The text of `help()`.
    package var helpOverview: String { HelpModule.overview(state.declarations) }

    /// The latest errors of handlers and timers, newest first.
    package var handlerFailures: [(title: String, message: String, time: Double)] {
        hooks.failures.map { ($0.title, $0.error.message, $0.time) }
    }

    /// Whether `init.lua` failed at the launch.
    public internal(set) var hasSkippedInitScript = false

    /// Whether a script was refused a program whose file has changed since it was approved.
    public var hasRefusedChangedProgram: Bool { sandbox.programs.hasRefusedChange }

    /// The number of errors of handlers and timers since the launch.
    public var handlerFailureCount: Int { hooks.failureCount }

    /// The handlers for a table: their registration and statistics.
    package var handlerStatistics: [HandlerStatistics] { hooks.all.map(HandlerStatistics.init) }

    /// The handlers of scripts that are registered now.
    package var scriptHandlers: ScriptHandlers { ScriptHandlers(hooks: hooks.all.filter { $0.function != nil }) }

    /// Removes handlers and returns their number.
    package func remove(_ handlers: ScriptHandlers) -> Int {
        hooks.remove { hook in handlers.hooks.contains { $0 === hook } }
    }
}

/// The parts of a host.
extension ScriptHost {
    /// The Lua state in which the scripts run.
    public var state: LuaState { runtime.state }
    /// The event loop, with timers and watched descriptors.
    public var loop: EventLoop { runtime.loop }
    /// The container.
    public var container: Container { sandbox.opened.container }
    /// The fence that checks each path of a script.
    public var fence: PathFence { sandbox.fence }
    /// The fences in force around scripts.
    public var fences: FenceReport { sandbox.report }
    /// The items.
    public var items: ItemStore { stores.items }
    /// The pictures of the items.
    public var images: ImageStore { stores.images }
    /// Settings that outlive the run.
    public var defaults: Defaults { stores.defaults }
    /// The file system of the container, for the host's own files.
    package var files: BeneathFileLayer { sandbox.opened.files }
    /// The socket of `cubby attach`; nil when that is disabled.
    package var socket: ContainerSocket? { sandbox.socket }
    package var logger: Logger { runtime.log.logger }
    /// The texts of chunks by name, for excerpts in error messages.
    package var sources: SourceTexts { runtime.sources }
    var values: ValueBridge { runtime.values }
    var scheduler: TaskScheduler { runtime.scheduler }
    var hooks: HookCenter { runtime.hooks }
    var output: ScriptOutput { runtime.output }
}
