public import Application
import CPlatform
package import Files
public import Images
public import Items
public import Logging
public import Lua
import PropertyList

/// An application for scripts: a Lua state with the stores, the life cycle and the sandbox around it.
///
/// The command, the REPL and an embedding program use the same host. One thread owns it.
public final class ScriptHost {
    public let options: ScriptHostOptions
    public let state: LuaState
    public let loop: EventLoop
    public let container: Container
    public let fence: PathFence
    public let logger: Logger
    public let items: ItemStore
    public let images: ImageStore
    /// Settings that outlive the run.
    public let defaults: Defaults
    /// Messages between scripts, the host and the program around it.
    public let notifications = ApplicationNotificationCenter()
    /// The folders of read-only resources.
    public let bundles: [ApplicationBundle]
    /// Which fences stand around scripts.
    public let fences: FenceReport
    /// Where `cubby attach` connects; nil when it may not.
    public let socket: ContainerSocket?

    /// The file system of the container, for the host's own work in it.
    package let files: BeneathFileLayer
    /// What keeps other hosts out of the container; nil read-only.
    private let lock: FolderLock?
    let restoration: RestorationArchive
    let service: ServiceManager
    let memoryPressure: MemoryPressureSource?
    let modules = LoadedModules()
    var initScript = InitScript()

    /// What the container remembers of how its items are kept: the fields with an index.
    let itemPreferences: Defaults
    /// What `require` may read, and nothing else: the modules beside a script are no grant for `fs` and `io`.
    let moduleFence = PathFence()
    let output = ScriptOutput()
    let scheduler: TaskScheduler
    let hooks: HookCenter
    /// The failures to write that were told.
    var writeFailures = WriteFailures()
    /// Whether that a save failed was told since the last one that did not.
    var hasToldFailedSave = false
    let values: ValueBridge
    var machine = LifeCycleMachine()
    /// The state as handlers see it: it changes at the moments at which Cocoa's does.
    public internal(set) var applicationState = ApplicationState.notRunning
    /// Set when the application has ended: the process's exit status.
    public internal(set) var exitCode: Int32?
    /// What ended the application; nil while it lives.
    public internal(set) var exitCause: LifeCycleCause?
    /// Why the last save on the way to the background or out failed; nil when it succeeded, or there was nothing to save.
    public internal(set) var saveFailure: (any Error)?
    /// What Ctrl-C cancels: the chunk that a person or the command started.
    var foreground: ScriptTask?
    var lifeCycle = LifeCycleContext()
    /// The save whose archive another thread is writing.
    var saveUnderWay: SaveUnderWay?
    /// Ctrl-C when nothing runs: the prompt's matter.
    public var onInterrupt: (() -> Void)?
    /// Signals that are not the life cycle's: the window changed its size.
    public var onOtherSignal: ((UnixSignal) -> Void)?
    /// What scripts make the process hold; nil without a limit.
    var scriptMemory: ScriptMemory?
    private var signals: SignalSource?
    private var itemEvents: ItemEvents?
    private var itemClasses: ItemClasses?

    /// The classes of items and pictures; there from the end of the initializer on.
    var classes: ItemClasses {
        guard let itemClasses else { preconditionFailure("the host's modules are not installed yet") }
        return itemClasses
    }

    /// Who shows the host's text and answers its questions.
    public weak var frontEnd: (any HostFrontEnd)? {
        didSet { output.frontEnd = frontEnd }
    }

    /// Opens the container and the stores, and makes the state with all modules. Nothing has been launched yet.
    ///
    /// - Throws: `FolderLockError` when another host, or another process, has the container, `FileError`, `StoreError`, `LuaError`.
    public init(_ options: ScriptHostOptions) throws {
        self.options = options
        container = options.container
        let opened = try OpenedContainer(container, isReadOnly: options.isReadOnly)
        let files = opened.files
        self.files = files
        lock = opened.lock
        let output = self.output
        logger = Logger(label: options.applicationName) { label in
            StandardErrorLogHandler(
                label: label, level: options.logLevel, form: options.logForm, processName: options.applicationName,
                sink: { text in output.writeError(text) })
        }
        if !options.isReadOnly {
            try container.emptyTemporaryFolder(using: files)
        }
        bundles = options.bundles.filter { PosixFileLayer().exists($0 + "/.") }.map { ApplicationBundle(path: $0) }
        fence = try PathFence(container, access: options.isReadOnly ? .read : .readWrite)
        if !options.hasPathFence { try fence.grant("/", .readWrite) }
        fence.close(container.socketFile)
        for path in options.readable + bundles.map(\.path) { try fence.grant(path, .read) }
        for path in options.writable { try fence.grant(path, .readWrite) }
        for folder in options.modulePaths + [container.scripts] { try moduleFence.grant(folder, .read) }
        if options.usesLuaTrees {
            for folder in LuaTrees.granted where PosixFileLayer().exists(folder) {
                do { try moduleFence.grant(folder, .read) } catch { logger.debug("\(error.message)") }
            }
        }
        let persistence = try options.persistence(opened)
        for path in (persistence as? any FilePersistence)?.closedPaths ?? [] { fence.close(path) }
        socket = try Self.makeSocket(options, logger)
        service = options.handlesSignals ? ServiceManager() : ServiceManager(environment: { _ in nil })
        memoryPressure = options.handlesSignals ? MemoryPressureSource.find() : nil
        // Everything that lies outside and is needed is open: from here on the kernel sees to it.
        fences = try FenceReport.closing(options, bundles: bundles, fence: fence)
        defaults = Defaults(
            folder: container.preferences, domain: options.applicationName, using: files)
        if case .file(let error)? = defaults.problem, error.isMisplaced { throw error }
        restoration = RestorationArchive(
            folder: container.applicationSupport, version: options.applicationVersion,
            isReadOnly: options.isReadOnly, using: files)
        items = try ItemStore.open(persistence, durability: options.durability)
        // Only of a store that opened: where the archive is lost, a leftover may be what is left of it. A look into each folder
        // takes as long as there are pictures: only when there is reason for it.
        if let lock, lock.isDisordered {
            container.removeLeftovers(using: files)
            lock.noteOrder()
        }
        itemPreferences = Defaults(folder: container.preferences, domain: "items", using: files)
        images = ImageStore(
            directory: container.documents, caches: container.caches, using: files, logger: logger)
        items.attachments = images.attachments

        state = try LuaState(limits: LuaLimits(memory: options.memoryLimit, output: options.outputLimit))
        loop = try EventLoop()
        scheduler = TaskScheduler(state, loop: loop)
        values = ValueBridge(state)
        hooks = HookCenter(scheduler, eventClass: ScriptEvent.makeClass(in: state))

        restoreIndexes()
        logStore()
        for notice in items.loadReport.notices { logger.warning("\(notice)") }
        if let problem = defaults.problem { logger.warning("\(problem.message)") }
        items.onDamage = { [logger] notice in logger.warning("\(notice)") }
        wire()
        let classes = ItemClasses(self, HookBinding(self))
        itemClasses = classes
        StandardModules.install(in: self, classes)
        if options.handlesSignals { try takeSignals() }
        if options.limitsProcess { limitProcess() }
    }

    /// The socket is an addition: a file system that has none, or a path that is too long, keeps no script from running.
    private static func makeSocket(_ options: ScriptHostOptions, _ logger: Logger) throws(FileError) -> ContainerSocket?
    {
        guard options.acceptsAttachments, !options.isReadOnly else { return nil }
        do throws(FileError) { return try ContainerSocket(listeningIn: options.container) } catch {
            if error.isMisplaced { throw error }
            logger.debug("No prompt can be attached: \(error.message)")
            return nil
        }
    }

    deinit {
        // The store may outlive the host.
        itemEvents?.end(items)
        signals?.stop()
        state.close()
    }

    private func wire() {
        scheduler.isEnding = { [unowned self] in exitCode != nil || lifeCycle.isHurried }
        scheduler.entryChanged = { [unowned self] entry in
            output.entry = entry
            warnedNames.removeAll()
        }
        hooks.observerLimit = min(options.timeLimit ?? hooks.observerLimit, hooks.observerLimit)
        hooks.isHurried = { [unowned self] in lifeCycle.isHurried }
        hooks.hasEnded = { [unowned self] in
            // A second SIGTERM stops handlers that had not ended: that is told.
            exitCode != nil || lifeCycle.deferredTermination != nil
                || (lifeCycle.requestedExitCode != nil && !lifeCycle.isHurried)
        }
        hooks.report = { [unowned self] failure in report(failure) }
        hooks.warn = { [unowned self] text in logger.warning("\(text)") }
        // A handler that runs within other code shares its sync: a loop that a handler watches waits for the disk once.
        hooks.handlerEnded = { [unowned self] in commit(inGroup: state.depth > 0) }
        state.interruptHandler = { [unowned self] reasons in interrupted(reasons) }
        loop.onSignal = { [unowned self] signal in received(signal) }
        let events = ItemEvents(self)
        itemEvents = events
        items.commitGeneration = { [weak scheduler] in scheduler?.generation ?? 0 }
    }

    /// From the first handler of its kind on: without any, the store need not tell.
    func observeItems(for event: String, as itemClass: LuaClass<Item>) {
        itemEvents?.observe(items, for: event, as: itemClass)
    }

    private func takeSignals() throws {
        let interrupter = state.interrupter
        signals = try SignalSource(poster: loop.poster) { signal in
            interrupter.interrupt([.interrupt, .terminate, .hangUp].contains(signal) ? [.events, .urgent] : .events)
        }
    }

    // MARK: Running chunks

    /// Compiles a chunk and runs it to its end; its changes are committed then, after an error too.
    ///
    /// - Parameters:
    ///   - source: Lua text.
    ///   - name: as Lua's chunk names: `@file`, `=shown as it is`. A file's first line is skipped when it begins with `#`;
    ///     so is that of `=stdin`.
    ///   - arguments: what the chunk finds in `…`.
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
        if outer == nil { state.resetOutput() }
        classes.imageClasses.forgetFailure()
        defer { foreground = outer }
        // Until it waits, Ctrl-C is for what runs, and not for a script around it that waits.
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
            // The script's own error is what is shown.
            tell(error.underlying ?? error, of: .items)
            return result
        }
        var failure = error
        failure.message = writeFailures.textOfCaller(.items, error.underlying ?? error)
        return .failure(failure)
    }

    /// The line stays, so that line numbers are the file's. A byte order mark goes, as Lua's own command has it.
    static func withoutShebang(_ source: [UInt8]) -> [UInt8] {
        let source = source.starts(with: [0xEF, 0xBB, 0xBF]) ? Array(source[3...]) : source
        guard source.first == UInt8(ascii: "#") else { return source }
        return [UInt8(ascii: "-"), UInt8(ascii: "-")] + source.dropFirst()
    }

    /// Commits what changed since the last commit; a failure is shown, the changes stay for the next try.
    ///
    /// - Parameter inGroup: whether an outer commit follows that waits for the disk for both.
    /// - Returns: the failure, as Lua has it.
    @discardableResult
    func commit(inGroup: Bool = false) -> Result<Void, LuaError> {
        // What was changed is kept, whoever has no time left.
        let watch = cubby_watch_work(cubby_watch())
        defer { _ = cubby_watch_work(watch) }
        if defaults.hasChanges {
            do {
                try defaults.synchronize(durable: options.durability == .power)
                writeFailures.noteSuccess(.preferences)
            } catch {
                tell(error, of: .preferences)
            }
        }
        guard !items.isInTransaction else { return .success(()) }
        do {
            try items.tellingCommitsAtEnd { () throws(StoreError) in
                if items.hasUncommittedChanges {
                    if inGroup { try items.commitInGroup() } else { try items.commit() }
                    writeFailures.noteSuccess(.items)
                    saveIfJournalIsLong()
                }
                if !inGroup { try items.endGroup() }
            }
            return .success(())
        } catch {
            var failure = LuaError(.runtime, error.message)
            failure.underlying = error
            return .failure(failure)
        }
    }

    // MARK: What happens meanwhile

    private func interrupted(_ reasons: LuaInterrupter.Reason) -> LuaState.InterruptDecision {
        if let error = scheduler.takeStop() {
            lifeCycle.cancelRequested = false
            return scheduler.stopCurrent(error)
        }
        if reasons.contains(.memory), let error = scriptMemoryIsShort() { return scheduler.stopCurrent(error) }
        if reasons.contains(.events) {
            lifeCycle.cancelRequested = false
            scheduler.outsideOfEntries { loop.drainPending() }
            if lifeCycle.isHurried, exitCode == nil, lifeCycle.isHandling {
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

    /// Ctrl-C: what runs is stopped, what waits is cancelled; the session goes on. An attached prompt's entry that runs is
    /// stopped alone.
    public func cancelForeground() {
        if let current = scheduler.current, current.entry != nil { return scheduler.requestCancel(current) }
        if state.depth > 0 { lifeCycle.cancelRequested = true }
        scheduler.interruptWaiting(foreground)
    }

    /// Whether Ctrl-C came while a script runs, and has not stopped it yet.
    public var isCancelRequested: Bool { lifeCycle.cancelRequested }

    // MARK: Text

    /// Writes text where scripts' text goes.
    public func write(_ bytes: [UInt8], toStandardError: Bool = false) {
        if toStandardError { output.writeError(bytes) } else { output.write(bytes) }
    }

    /// Whether reading standard input waits in the loop; a prompt, which has its keys, turns it off.
    public var waitsForInput = true

    /// Writes out what is held back.
    public func flushOutput() { output.flush() }

    /// Which fences stand, for people.
    public var sandboxDescription: String { fences.text }

    private func report(_ failure: HookFailure) {
        let text = ErrorText.describe(failure.error, sources: sources)
        output.writeError("error in the handler \(failure.title): \(text)\n")
    }

    /// Whether what a person typed at a prompt runs now: names that nothing assigned are a warning there.
    public var isRunningEntry = false {
        didSet { warnedNames.removeAll() }
    }
    /// The names that were warned about since the entry began: a loop tells once.
    var warnedNames: Set<String> = []

    /// What a front end knows of a value that no declaration describes: a script's own function. Asked by `help` first.
    public var describeUnknown: ((LuaValue) -> String?)?

    /// What `help` says of a declared name, an event, or a member (`items.createItem`); nil when nothing is known.
    public func helpText(on subject: String) -> String? { HelpModule.lookUp(subject, state.declarations) }

    /// Names and descriptions of all that is declared, for a search.
    public var helpIndex: [(name: String, text: String)] { HelpModule.index(state.declarations) }

    /// What `help()` says.
    public var helpOverview: String { HelpModule.overview(state.declarations) }

    /// The latest errors of handlers and timers, newest first: which one, and what happened.
    public var handlerFailures: [(title: String, message: String, time: Double)] {
        hooks.failures.map { ($0.title, $0.error.message, $0.time) }
    }

    /// How many errors of handlers and timers there were since the launch.
    public var handlerFailureCount: Int { hooks.failureCount }

    /// The handlers as a table shows them: the registration, and what came of its calls.
    public var handlerStatistics: [HandlerStatistics] { hooks.all.map(HandlerStatistics.init) }

    /// The texts of chunks by name, for excerpts in error messages.
    public var sources = SourceTexts()
}
