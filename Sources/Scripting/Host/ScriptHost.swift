public import Application
package import Files
public import Images
public import Items
package import Logging
public import Lua
package import PropertyList
import SharedItems
@_exported import Wording

/// A scripted application: a Lua state with the stores, the life cycle and the sandbox.
///
/// The command, the REPL and an embedding program use the same host. One thread owns it.
public final class ScriptHost {
    /// The host's options.
    package let options: ScriptHostOptions
    package let sandbox: Sandbox
    package let stores: Stores
    package let runtime: Runtime
    package let lifeCycle: LifeCycle
    let commitListeners: CommitListeners
    package private(set) lazy var initScript = InitScript(self)
    /// The debugger, with the breakpoints.
    package private(set) lazy var debugger = ScriptDebugger(self)
    /// SQL over the items, and over files; its connection is made by the first statement.
    package private(set) lazy var sql = makeSQL()
    /// The registration of handlers, for the `on` of a module's object.
    package let handlers: HookBinding
    /// The number of chunks and entries that have begun.
    package internal(set) var chunkCount = 0
    private var endings: [() -> Void] = []
    private var statusParts: [StatusPart] = []
    /// The memory of rows of databases that scripts hold.
    package private(set) lazy var rowMemory = RowMemory(self)

    /// Opens the container and the stores, and creates the state with some modules. Nothing is launched yet.
    ///
    /// - Parameters:
    ///   - options: the options.
    ///   - modules: what scripts see beside Lua's own library, in the order of their needs.
    /// - Throws: `FolderLockError` when another host, or another process, has the container, `FileError`, `StoreError`,
    ///   with `newerFormat` when a newer program wrote the container, `LuaError`.
    package init(_ options: ScriptHostOptions, modules: [any ScriptModule.Type]) throws {
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
        stores.report(opened.notice, to: log.logger, isStrict: options.isStrict)
        lifeCycle = LifeCycle(sandbox, stores, runtime, options)
        commitListeners = CommitListeners(stores.items, runtime.scheduler)
        handlers = HookBinding(runtime)
        state.functionCaller = lifeCycle.calls
        state.waiter = { [unowned self] call, operation in try wait(call, for: operation) }
        StandardLibrary.install(in: self, modules: StandardLibrary.values(of: self) + (try declare(modules)))
        if let persistence = sandbox.persistence as? SharedPersistence {
            lifeCycle.saver.shared = SharedSession(
                persistence, items, runtime, sandbox.waiter, reportsChanges: options.isInteractive)
        }
        scheduler.watchdog = runtime.makeWatchdog(options.watchdog)
        if options.handlesSignals { try lifeCycle.takeSignals() }
        // A row of the columns with the caches of queries.
        if options.limitsProcess { scheduler.memory = ScriptMemory(state, retained: items.count * 256) }
    }

    deinit {
        for end in endings { end() }
        lifeCycle.close()
        state.close()
    }

    /// Has a module end what it holds of objects that may outlive the host.
    package func atEnd(_ end: @escaping () -> Void) { endings.append(end) }

    /// Has a module add a list of its own to the host's status, such as what it watches.
    ///
    /// - Parameters:
    ///   - name: the list's name in the JSON object.
    ///   - entries: gives the entries when they are asked for; it runs no code of scripts.
    package func addStatus(_ name: String, _ entries: @escaping () -> [PropertyListFields]) {
        statusParts.append(StatusPart(name: name, entries: entries))
    }

    /// What modules tell of themselves in the host's status.
    func partsOfStatus() -> [StatusPart] { statusParts }

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
        run(function, arguments, isEntry: false)
    }

    /// The same for a function that may be an entry of the host's own prompt.
    package func run(
        _ function: LuaFunction, _ arguments: [LuaValue] = [], isEntry: Bool
    ) -> Result<[LuaValue], LuaError> {
        let entry = isEntry ? runtime.entryWarnings.begin() : nil
        defer { if let entry { runtime.entryWarnings.end(entry) } }
        let isOutermost = lifeCycle.foreground.isEmpty
        if isOutermost {
            resetOutput()
            lifeCycle.saver.shared?.apply()
        }
        chunkCount += 1
        if isOutermost { scheduler.memory?.renew() }
        let outer = lifeCycle.foreground.begin()
        defer { lifeCycle.foreground.end(outer) }
        let task = scheduler.start(
            function, arguments, seconds: options.timeLimit?.inSeconds, generation: 0,
            onStart: { $0.countsRealTime = replacements.scene != nil })
        let result = lifeCycle.foreground.finish(task)
        lifeCycle.endIfDeferred()
        reportFailedProgram()
        let committed = commit()
        output.flush()
        return lifeCycle.saver.result(of: result, after: committed)
    }

    /// Begins to count the output of a chunk.
    func resetOutput() {
        state.resetOutput()
        output.hasData = false
    }

    /// Blanks a first line with `#`, so that line numbers match the file. A byte order mark is removed, as in Lua's own
    /// command.
    package static func withoutShebang(_ source: [UInt8]) -> [UInt8] {
        let source = source.starts(with: [0xEF, 0xBB, 0xBF]) ? Array(source[3...]) : source
        guard source.first == UInt8(ascii: "#") else { return source }
        return [UInt8(ascii: "-"), UInt8(ascii: "-")] + source.dropFirst()
    }

    /// Commits the changes since the last commit.
    package func commit() -> Result<Void, StoreError> { lifeCycle.saver.commit() }

    /// Ctrl-C: stops running code and cancels waiting code; the session continues. For a running entry of an attached
    /// prompt it stops that entry alone.
    package func cancelForeground() { lifeCycle.foreground.cancel() }

    // MARK: Text

    /// Writes text to the scripts' output. What fails is said when the run ends.
    package func write(_ bytes: [UInt8], toStandardError: Bool = false) {
        output.put(bytes, toStandardError: toStandardError)
    }

    /// Flushes buffered output.
    package func flushOutput() { output.flush() }

    /// Reports an error on standard error: as it is, or as a line of the log if the log's format is for programs.
    package func report(_ error: String) { runtime.log.report(error) }

    /// Says on standard error what a command has done: as it is, or as a line of the log if the log's format is for
    /// programs; not at all below the log's level.
    package func inform(_ text: String) { runtime.log.inform(text) }
}

/// The life cycle of a host.
extension ScriptHost {
    /// The state as handlers see it: it changes at the same times as in Cocoa.
    package var applicationState: ApplicationState { runtime.status.state }
    /// Set when the application has ended: the process's exit status.
    public var exitCode: Int32? { runtime.status.exitCode }
    /// The cause of the application's end; nil while it runs.
    public var exitCause: LifeCycleCause? { runtime.status.exitCause }
    /// The failure of the last save before the background or the end; nil when it succeeded, or nothing had to be
    /// saved.
    public var saveFailure: (any Error)? { runtime.status.saveFailure }
    /// Whether Ctrl-C came during a script, which has not stopped yet.
    package var isCancelRequested: Bool { lifeCycle.foreground.isInterrupted }

    /// Launches the application: `init.lua`, the launch handlers, then the foreground (or the background).
    public func launch() {
        if options.runsInitScript { initScript.run() }
        // It may have ended the application, or a signal that came meanwhile.
        guard exitCode == nil else { return }
        lifeCycle.launch()
        if exitCode == nil, options.handlesSignals, options.watchesInitScript { initScript.watch() }
    }

    /// Handles an event and performs its actions in order before it returns. Events received meanwhile follow.
    public func handle(_ event: ApplicationEvent, cause: LifeCycleCause, simulated: Bool = false) {
        lifeCycle.handle(event, cause: cause, simulated: simulated)
    }

    /// Terminates in order: the handlers run, the items are saved. The host is unusable afterwards.
    public func terminate(_ code: Int32 = 0, cause: LifeCycleCause, explicitly: Bool) {
        lifeCycle.terminate(code, cause: cause, explicitly: explicitly)
        reportFailedProgram()
    }

    /// Says that the network is closed, if a program of a pipe has failed.
    private func reportFailedProgram() {
        guard let (command, status) = state.failedProgram else { return }
        sandbox.programs.didEnd(command, status, in: self)
    }

    /// Serves events and timers until the application has ended.
    public func runUntilTerminated() {
        output.flush()
        loop.run(until: { exitCode != nil })
    }

    /// Serves what is ready: one turn of the event loop, for a program with a loop of its own.
    ///
    /// - Parameter timeout: the longest wait; nil for no limit, zero for none.
    /// - Returns: whether there was anything.
    @discardableResult
    public func runOnce(timeout: Duration? = nil) -> Bool { loop.runOnce(timeout: timeout?.inSeconds) }

    /// Whether a signal, the terminal's end or Home ended the application, rather than its script or the end of its
    /// input.
    package var wasEndedBySystem: Bool { [.sigterm, .sighup, .sigtstp, .terminal].contains(exitCause) }

    /// Polls the process's relation to the terminal, as before each prompt: the shell's `fg` of a running job sends no
    /// signal. Handlers learn of a change before this returns, unless they are already running.
    ///
    /// - Returns: the state; one system call.
    @discardableResult
    package func pollTerminal() -> Terminal.JobState { lifeCycle.pollTerminal() }

    // MARK: A front end that waits for the user

    /// Handles Ctrl-C without running code, for the prompt.
    package var onInterrupt: (() -> Void)? {
        get { lifeCycle.onInterrupt }
        set { lifeCycle.onInterrupt = newValue }
    }

    /// Handles signals outside the life cycle: a change of the window's size.
    package var onOtherSignal: ((UnixSignal) -> Void)? {
        get { lifeCycle.onOtherSignal }
        set { lifeCycle.onOtherSignal = newValue }
    }

    /// One turn of the loop for a front end's question or pager; false if the code that it is for must stop: the
    /// application ends, its time is up.
    package func turn(timeout: Double?) -> Bool { scheduler.turn(timeout: timeout) }

    /// Whether the running code must stop, and a question on its behalf with it.
    package var mustEndWait: Bool { scheduler.mustEndWait }

    /// Runs a body that waits for the user. The time of handlers of the life cycle runs on; other code's does not.
    package func waitingForUser<Value>(_ body: () -> Value) -> Value {
        lifeCycle.isHandling ? body() : scheduler.withoutTime(body)
    }
}

/// What a host has to tell.
extension ScriptHost {
    /// The fences in force, for display.
    package var sandboxDescription: String { fences.text }

    /// The help on a declared name, an event, a member (`items.createItem`), or a declared field of the items (`price`,
    /// `Item.price`); nil when there is none.
    package func helpText(on subject: String) -> String? {
        let text = HelpModule.lookUp(subject, state.declarations)
        if subject == "Item" { return text.map { $0 + FieldHelp.list(items) } }
        guard let field = FieldHelp.text(subject, items) else { return text }
        return (text.map { $0 + "\n" } ?? "") + field
    }

    /// The names and descriptions of all declarations, and of the declared fields, for a search.
    package var helpIndex: [(name: String, text: String)] {
        HelpModule.index(state.declarations)
            + items.declaredFields.map { ("Item.\(FieldHelp.name($0))", $0.documentation) }
    }

    /// The text of `help()`.
    package var helpOverview: String { HelpModule.overview(state.declarations, items.schema) }

    /// The latest errors of handlers and timers, newest first.
    package var handlerFailures: [(title: String, message: String, time: Double)] {
        hooks.failures.map { ($0.title, $0.error.message, $0.time) }
    }

    /// Whether `init.lua` failed at the launch.
    package var hasSkippedInitScript: Bool { initScript.isSkipped }

    /// Whether a script was refused a program whose file has changed since it was approved.
    package var hasDeniedChangedProgram: Bool { sandbox.programs.hasDeniedChange }

    /// The number of errors of handlers and timers since the launch.
    public var handlerFailureCount: Int { hooks.failureCount }

    /// The handlers of scripts that are registered now.
    package var scriptHandlers: ScriptHandlers { ScriptHandlers(hooks: hooks.all.filter { $0.function != nil }) }

    /// Removes handlers and returns their number.
    package func remove(_ handlers: ScriptHandlers) -> Int {
        hooks.remove { hook in handlers.hooks.contains { $0 === hook } }
    }
}

/// The parts of a host.
extension ScriptHost {
    /// The user interface: shows the host's text, and puts its questions to the user.
    package var frontEnd: (any HostFrontEnd)? {
        get { output.frontEnd }
        set { output.frontEnd = newValue }
    }

    /// The global `items` as the host made it.
    package var itemsValue: LuaValue { state.luaClass(of: ItemStore.self)?.value(items) ?? .nil }
    /// The Lua state in which the scripts run.
    public var state: LuaState { runtime.state }
    /// The event loop, with timers and watched descriptors.
    package var loop: EventLoop { runtime.loop }
    /// The container.
    public var container: ApplicationContainer { sandbox.opened.container }
    /// The fence that checks each path of a script.
    public var fence: PathFence { sandbox.fence }
    /// The fences in force around scripts.
    package var fences: FenceReport { sandbox.report }
    /// The items.
    public var items: ItemStore { stores.items }
    /// The pictures of the items.
    public var images: ImageStore { stores.images }
    /// Settings that outlive the run.
    package var defaults: Defaults { stores.defaults }
    /// Notifications between scripts, the host and the embedding program.
    package var notifications: ApplicationNotificationCenter { runtime.notifications }
    /// Standard input, for scripts.
    package var input: StandardInput { lifeCycle.input }
    /// The file system of the container, for the host's own files.
    package var files: BeneathFileLayer { sandbox.opened.files }
    /// The socket of `cubby attach`; nil when that is disabled.
    package var socket: ContainerSocket? { sandbox.socket }
    package var logger: Logger { runtime.log.logger }
    /// The texts of chunks by name, for excerpts in error messages.
    package var sources: SourceTexts { runtime.sources }
    package var values: ValueBridge { runtime.values }
    package var scheduler: TaskScheduler { runtime.scheduler }
    package var hooks: HookCenter { runtime.hooks }
    package var output: ScriptOutput { runtime.output }
    /// What a host under test has in place of programs, requests and time.
    package var replacements: Replacements { runtime.replacements }
}
