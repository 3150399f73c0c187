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
    /// The Lua state in which the scripts run.
    public let state: LuaState
    /// The event loop, with timers and watched descriptors.
    public let loop: EventLoop
    /// The container.
    public let container: Container
    /// The fence that checks each path of a script.
    public let fence: PathFence
    package let logger: Logger
    let logForm: StandardErrorLogHandler.Form
    /// The items.
    public let items: ItemStore
    /// The pictures of the items.
    public let images: ImageStore
    /// Settings that outlive the run.
    public let defaults: Defaults
    /// Notifications between scripts, the host and the embedding program.
    public let notifications = ApplicationNotificationCenter()
    /// The folders of read-only resources.
    package let bundles: [ApplicationBundle]
    /// The fences in force around scripts.
    public let fences: FenceReport
    /// The socket of `cubby attach`; nil when that is disabled.
    package let socket: ContainerSocket?

    /// The file system of the container, for the host's own files.
    package let files: BeneathFileLayer
    /// The container's lock; nil when read-only.
    private let lock: FolderLock?
    let restoration: RestorationArchive
    let service: ServiceManager
    let memoryPressure: MemoryPressureSource?
    let modules = LoadedModules()
    let programs: ProgramStarter
    var initScript = InitScript()

    /// The container's settings for its items: the indexed fields.
    let itemPreferences: Defaults
    /// The grants of `require` alone: `fs` and `io` do not read its search path.
    let moduleFence = PathFence()
    let output = ScriptOutput()
    let scheduler: TaskScheduler
    let hooks: HookCenter
    /// The write failures already reported.
    var writeFailures = WriteFailures()
    /// Whether the current failure of saves was reported.
    var hasReportedFailedSave = false
    let values: ValueBridge
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
        container = options.container
        let opened: OpenedContainer
        do { opened = try OpenedContainer(container, isReadOnly: options.isReadOnly) } catch let error
            as ContainerFormatError
        {
            throw StoreError(.newerFormat, error.description, path: container.path, cause: error)
        }
        let files = opened.files
        self.files = files
        lock = opened.lock
        let output = self.output
        let form = options.logForm ?? StandardErrorLogHandler.fittingForm
        logForm = form
        logger = Logger(label: options.applicationName) { label in
            StandardErrorLogHandler(
                label: label, level: options.logLevel, form: form, processName: options.applicationName,
                sink: { text in output.putError(text) })
        }
        if !options.isReadOnly {
            try container.emptyTemporaryFolder(using: files)
        }
        bundles = options.bundles.filter { PosixFileLayer().exists($0 + "/.") }.map { ApplicationBundle(path: $0) }
        fence = try PathFence(container, access: options.isReadOnly ? .read : .readWrite)
        if !options.hasPathFence { try fence.grant("/", .readWrite) }
        fence.closeLayout(of: container)
        if let folder = ConfigurationFolder.locate() { fence.close(folder: folder) }
        for path in options.readable + bundles.map(\.path) { try fence.grant(path, .read) }
        for path in options.writable { try fence.grant(path, .readWrite) }
        for folder in options.modulePaths + [container.scripts] { try moduleFence.grant(folder, .read) }
        if options.usesLuaTrees {
            for folder in LuaTrees.granted where PosixFileLayer().exists(folder) {
                do { try moduleFence.grant(folder, .read) } catch { logger.debug("\(error.message)") }
            }
        }
        programs = ProgramStarter(options.programs)
        let waiter = LoopWaiter()
        let persistence: any ItemPersistence
        var others = LandlockRules()
        if let address = options.shared {
            let shared = SharedHost.persistence(
                address, of: opened, hostName: options.hostName, keepsCommits: options.keepsCommits, waiter: waiter)
            try shared.prepare()
            others = LandlockRules(readOnly: shared.files, optional: Set(shared.files))
            others.connectedPorts = shared.ports
            persistence = shared
        } else {
            persistence = try options.persistence(opened)
        }
        for path in persistence.closedPaths { fence.close(path) }
        socket = try Self.makeSocket(options, logger)
        service = options.handlesSignals ? ServiceManager() : ServiceManager(environment: { _ in nil })
        memoryPressure = options.handlesSignals ? MemoryPressureSource.find() : nil
        // All outside files are open: from here on the kernel enforces the fence.
        fences = try FenceReport.closing(options, bundles: bundles, fence: fence, others: others)
        defaults = Defaults(
            folder: container.preferences, domain: options.applicationName, using: files)
        if case .file(let error)? = defaults.problem, error.isMisplaced { throw error }
        restoration = RestorationArchive(
            folder: container.applicationSupport, version: options.applicationVersion,
            isReadOnly: options.isReadOnly, using: files)
        items = try ItemStore.open(persistence, durability: options.durability)
        itemPreferences = Defaults(folder: container.preferences, domain: "items", using: files)
        images = ImageStore(
            directory: container.documents, caches: container.caches,
            outgoing: container.outgoingImages, using: files, logger: logger)
        // It completes the pictures of a transaction whose process was killed.
        items.attachments = images.attachments
        // Only after the store has opened: a leftover may be the last copy of a lost archive. Listing the folders takes
        // time in proportion to the pictures, so it is done only when needed.
        if let lock, lock.isDisordered {
            container.removeLeftovers(using: files)
            lock.noteOrder()
        }

        state = try LuaState(limits: LuaLimits(memory: options.memoryLimit, output: options.outputLimit))
        loop = try EventLoop()
        scheduler = TaskScheduler(state, loop: loop)
        values = ValueBridge(state, zones: ZoneDatabase(variable: options.timeZone ?? Environment.value("TZ")))
        hooks = HookCenter(scheduler, eventClass: ScriptEvent.makeClass(in: state))

        restoreIndexes()
        logStore()
        for notice in [opened.restoreNotice].compactMap({ $0 }) + items.loadReport.notices + items.carriedNotices {
            logger.warning("\(notice)")
        }
        if let problem = defaults.problem { logger.warning("\(problem.message)") }
        items.onDamage = { [logger] notice in logger.warning("\(notice)") }
        items.onLeftOut = { [logger, isStrict = options.isStrict] all throws in
            let text = all.map(\.description).joined(separator: "; ")
            if isStrict { throw StoreError(.invalidValue(field: all[0].subject), "with --strict: " + text) }
            logger.warning("\(text)")
        }
        wire()
        let calls = HostCalls(self)
        self.calls = calls
        state.functionCaller = calls
        state.waiter = { [unowned self] call, operation in try wait(call, for: operation) }
        let classes = ItemClasses(self, HookBinding(self))
        itemClasses = classes
        StandardModules.install(in: self, classes)
        if let persistence = persistence as? SharedPersistence {
            shared = SharedSession(self, persistence, waiter)
        }
        scheduler.watchdog = makeWatchdog()
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
        hooks.observerLimit = min(options.timeLimit ?? hooks.observerLimit, hooks.observerLimit)
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
    ///
    /// - Parameter error: its message, which a terminal gets wrapped at words, and below it lines of code and calls.
    package func report(_ error: String) {
        if logForm.isForPrograms { return logger.error("\(error)") }
        let message = error.prefix { !$0.is("\n") }
        let shown = StandardErrorLogHandler.wrapped(String(message)) + error[message.endIndex...]
        output.putError(shown + "\n")
    }

    /// Says on standard error what a command has done: as it is, or as a line of the log if the log's format is for
    /// programs; not at all below the log's level.
    package func inform(_ text: String) {
        guard options.logLevel <= .info else { return }
        if logForm.isForPrograms { logger.info("\(text)") } else { output.putError(text + "\n") }
    }

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
    public var hasRefusedChangedProgram: Bool { programs.hasRefusedChange }

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

    /// The texts of chunks by name, for excerpts in error messages.
    package var sources = SourceTexts()
}
