package import Application
import CPlatform
import Files
package import Images
package import Items
import Logging
package import Lua
import PropertyList
import SharedItems
import TimeZones

/// What scripts can reach, and what the host uses outside of the container: the step after the opened container.
///
/// Once the value is made, everything outside is open and the fences are closed; no code of a script has run.
package struct Sandbox {
    /// The socket of `cubby attach`; nil when that is disabled. The first: it is removed before the lock is released.
    let socket: ContainerSocket?
    /// The container, with its lock and the file system for the host's own files.
    let opened: OpenedContainer
    /// The fence that checks each path of a script.
    package let fence: PathFence
    /// The grants of `require` alone: `fs` and `io` do not read its search path.
    let moduleFence = PathFence()
    /// The fence that checks each connection of a script.
    package let network: NetworkFence
    /// The TCP ports that the host itself connects to.
    let hostPorts: Set<Int>
    /// The folders of read-only resources.
    package let bundles: [ApplicationBundle]
    let programs: ProgramStarter
    /// Stores the items.
    let persistence: any ItemPersistence
    /// The fields of the items: those of the container's, or of the shared collection's.
    let schema: ItemSchema
    /// Waits for the server of a shared collection.
    let waiter = LoopWaiter()
    let service: ServiceManager
    /// The controlling terminal.
    let terminal = Terminal()
    let memoryPressure: MemoryPressureSource?
    /// The fences in force around scripts.
    let report: FenceReport

    /// Opens what is outside of the container, and closes the fences.
    ///
    /// - Throws: `FileError`, `LandlockError`, `NetworkGrantError`, errors of the persistence.
    init(_ opened: OpenedContainer, _ options: ScriptHostOptions, _ logger: Logger) throws {
        self.opened = opened
        let container = opened.container
        if !options.isReadOnly { try container.emptyTemporaryFolder(using: opened.files) }
        bundles = options.bundles.filter { PosixFileLayer().exists($0 + "/.") }.map { ApplicationBundle(path: $0) }
        fence = try Self.fence(options, bundles)
        for folder in options.modulePaths + [container.scripts] { try moduleFence.grant(folder, .read) }
        if options.usesLuaTrees {
            for folder in LuaTrees.granted where PosixFileLayer().exists(folder) {
                do { try moduleFence.grant(folder, .read) } catch { logger.debug("\(error.message)") }
            }
        }
        programs = ProgramStarter(options.programs)
        let grants = try options.connectable.map { try NetworkGrant($0) }
        network = NetworkFence(grants, isOpen: !options.hasPathFence)
        var additional = LandlockRules()
        if let address = options.shared {
            let shared = SharedHost.persistence(
                address, of: opened, hostName: options.hostName, keepsCommits: options.keepsCommits, waiter: waiter)
            try shared.prepare()
            additional = LandlockRules(readOnly: shared.files, optional: Set(shared.files))
            additional.connectedPorts = shared.ports
            hostPorts = shared.ports
            persistence = shared
            schema = try shared.schema ?? .household
        } else {
            persistence = try options.persistence(opened)
            hostPorts = []
            schema = options.schema
        }
        if !grants.isEmpty {
            additional.add(.connections)
            additional.connectedPorts.formUnion(network.ports)
        }
        let readable = persistence.document?.readablePaths ?? []
        for path in persistence.closedPaths { fence.close(path, .file(readable: readable.contains(path))) }
        socket = try Self.socket(options, logger)
        service = options.handlesSignals ? ServiceManager() : ServiceManager(environment: { _ in nil })
        memoryPressure = options.handlesSignals ? MemoryPressureSource.find() : nil
        // All outside files are open: from here on the kernel enforces the fence.
        report = try FenceReport.closing(options, bundles: bundles, fence: fence, additional: additional)
    }

    /// The fence with the options' grants.
    private static func fence(_ options: ScriptHostOptions, _ bundles: [ApplicationBundle]) throws -> PathFence {
        let fence = try PathFence(options.container, access: options.isReadOnly ? .read : .readWrite)
        if !options.hasPathFence { try fence.grant("/", .readWrite) }
        fence.closeLayout(of: options.container)
        if let folder = ConfigurationFolder.locate() { fence.close(folder: folder) }
        for path in options.readable + bundles.map(\.path) { try fence.grant(path, .read) }
        for path in options.writable { try fence.grant(path, .readWrite) }
        return fence
    }

    /// The socket is optional: a file system without sockets, or a long path, does not prevent scripts from running.
    private static func socket(_ options: ScriptHostOptions, _ logger: Logger) throws(FileError) -> ContainerSocket? {
        guard options.acceptsAttachments, !options.isReadOnly else { return nil }
        do throws(FileError) {
            let folder = ConfigurationFolder.locate()
            let key = try AccessKey.ofUser(in: folder)
            if let folder, FenceReport.opensToPrograms(folder, options) {
                logger.debug("No prompt can be attached: the scripts' programs may read the key in \(folder)")
                return nil
            }
            return try ContainerSocket(listeningIn: options.container, key: key)
        } catch {
            if error.isMisplaced { throw error }
            logger.debug("No prompt can be attached: \(error.message)")
            return nil
        }
    }
}

/// What the container stores, opened within the fences: the step after the sandbox.
package struct Stores {
    /// The items.
    package let items: ItemStore
    /// The pictures of the items.
    package let images: ImageStore
    /// Settings that outlive the run.
    package let defaults: Defaults
    /// The state of scripts for the next launch.
    let restoration: RestorationArchive
    /// The container's settings for its items: the indexed fields.
    private let itemPreferences: Defaults
    private let isReadOnly: Bool

    /// - Throws: `FileError`, `StoreError`.
    init(_ sandbox: Sandbox, _ options: ScriptHostOptions, _ logger: Logger) throws {
        let (container, files) = (sandbox.opened.container, sandbox.opened.files)
        isReadOnly = options.isReadOnly
        defaults = Defaults(folder: container.preferences, domain: options.applicationName, using: files)
        if case .file(let error)? = defaults.problem, error.isMisplaced { throw error }
        restoration = RestorationArchive(
            folder: container.applicationSupport, version: options.applicationVersion, isReadOnly: isReadOnly,
            using: files)
        items = try ItemStore.open(sandbox.persistence, schema: sandbox.schema, durability: options.durability)
        itemPreferences = Defaults(folder: container.preferences, domain: "items", using: files)
        images = ImageStore(
            directory: container.documents, caches: container.caches, outgoing: container.outgoingImages, using: files,
            logger: logger)
        // It completes the pictures of a transaction whose process was killed.
        items.attachments = images.attachments
        // Only after the store has opened: a leftover may be the last copy of a lost archive. Listing the folders takes
        // time in proportion to the pictures, so it is done only when needed.
        if let lock = sandbox.opened.lock, lock.isDisordered {
            container.removeLeftovers(using: files)
            lock.recordOrder()
        }
    }

    /// Logs what was found in the files, and what will be found later.
    func report(_ notice: String?, to logger: Logger, isStrict: Bool) {
        restoreIndexes(logger)
        reportPlaces(logger)
        for notice in [notice].compactMap({ $0 }) + items.loadReport.notices + items.carriedNotices {
            logger.warning("\(notice)")
        }
        if let problem = defaults.problem { logger.warning("\(problem.message)") }
        items.onDamage = { notice in logger.warning("\(notice)") }
        items.onLeftOut = { all throws in
            let text = all.map(\.description).joined(separator: "; ")
            if isStrict { throw StoreError(.invalidValue(field: all[0].subject), "with --strict: " + text) }
            logger.warning("\(text)")
        }
    }

    private func reportPlaces(_ logger: Logger) {
        guard let path = items.archivePath else { return }
        logger.debug("Saving items to: \(path)")
        let report = items.loadReport
        var sources: [String] = []
        if report.archivedItems > 0 { sources.append("\(report.archivedItems.counted("item")) from the archive") }
        if report.replayedRecords > 0 {
            sources.append("\(report.replayedRecords.counted("commit")) from the journal beside it")
        }
        let read = sources.isEmpty ? "no items yet" : "read " + sources.joined(separator: " and ")
        logger.debug("Items: \(read)")
    }

    // MARK: Indexes

    /// The container stores the names of indexed fields; the indexes are built from the items.
    private static let indexesKey = "indexes"

    /// Declares the indexes of an earlier run; they are built on demand.
    private func restoreIndexes(_ logger: Logger) {
        if let problem = itemPreferences.problem { logger.warning("\(problem)") }
        guard case .array(let names)? = itemPreferences.value(forKey: Self.indexesKey) else { return }
        for case .string(let name) in names {
            do throws(StoreError) { try items.createIndex(name, lazily: true) } catch { logger.warning("\(error)") }
        }
    }

    /// Stores the names of indexed fields. In a read-only store they last for this run.
    package func rememberIndexes() throws(DefaultsError) {
        if isReadOnly { return }
        let names = items.indexedFields.map(PropertyListValue.string)
        try itemPreferences.set(names.isEmpty ? nil : .array(names), forKey: Self.indexesKey)
        try itemPreferences.synchronize()
    }
}

/// What scripts run in: the step after the stores.
package struct Runtime {
    /// The Lua state in which the scripts run.
    package let state: LuaState
    /// The event loop, with timers and watched descriptors.
    package let loop: EventLoop
    package let scheduler: TaskScheduler
    package let hooks: HookCenter
    /// Values of property lists, dates and the like in the state.
    package let values: ValueBridge
    /// What the host says.
    package let log: HostLog
    let status = ApplicationStatus()
    /// Notifications between scripts, the host and the embedding program.
    package let notifications = ApplicationNotificationCenter()
    /// The texts of chunks by name, for excerpts in error messages.
    let sources = SourceTexts()
    /// The modules that `require` has read.
    let modules = LoadedModules()
    let entryWarnings = EntryWarnings()
    let replacements = Replacements()

    /// - Throws: `LuaError`, or the error of the loop's descriptors.
    init(_ options: ScriptHostOptions, _ log: HostLog) throws {
        self.log = log
        state = try LuaState(limits: LuaLimits(memory: options.memoryLimit, output: options.outputLimit))
        loop = try EventLoop()
        scheduler = TaskScheduler(state, loop: loop)
        values = ValueBridge(state, zones: ZoneDatabase(variable: options.timeZone ?? ProcessEnvironment.value("TZ")))
        hooks = HookCenter(scheduler, eventClass: ScriptEvent.makeClass(in: state))
        scheduler.isEnding = { [status] in status.isEnding }
        scheduler.entryChanged = { [log, entryWarnings] entry in
            log.output.entry = entry
            entryWarnings.reset()
        }
        hooks.observerLimit = min(options.timeLimit?.inSeconds ?? hooks.observerLimit, hooks.observerLimit)
        hooks.callbackLimit = options.callbackLimit.inSeconds
        hooks.skipsHandlers = { [status] in status.skipsHandlers || status.isKilled() }
        hooks.hasEnded = { [status] in status.stopsCode }
        hooks.report = { [log, sources] failure in
            log.report("error in \(failure.subject): \(ErrorText.describe(failure.error, sources: sources))")
        }
        hooks.warn = { [log] text in log.logger.warning("\(text)") }
    }

    package var output: ScriptOutput { log.output }

    /// The watchdog of this thread, if there is a plan for one.
    func makeWatchdog(_ plan: StopWatchdog.Plan?) -> StopWatchdog? {
        guard let plan else { return nil }
        let interrupter = state.interrupter
        let subject = StopWatchdog.Subject(beats: { interrupter.beats }, place: { interrupter.place(within: 1) })
        return StopWatchdog(plan, subject, loop.pulse)
    }

    /// Returns the memory that scripts freed to the system.
    package func returnMemory() {
        state.collectGarbage()
        _ = cubby_trim_memory()
    }
}

/// How far the application's life has come, for all that ends with it. The life cycle changes it.
final class ApplicationStatus {
    /// The state as handlers see it: it changes at the same times as in Cocoa.
    private(set) var state = ApplicationState.notRunning
    /// Set when the application has ended: the process's exit status.
    private(set) var exitCode: Int32?
    /// The cause of the application's end; nil while it runs.
    private(set) var exitCause: LifeCycleCause?
    /// The failure of the last save before the background or the end; nil when it succeeded, or nothing had to be
    /// saved.
    var saveFailure: (any Error)?
    /// The cause of an exit that waits for the rollback of a transaction: half a transaction is never saved.
    private(set) var deferredEnd: LifeCycleCause?
    /// Whether a second SIGTERM came during the exit: handlers are skipped, the save is not.
    private(set) var skipsHandlers = false
    /// The status of the first request to end; nil before it.
    private var requestedCode: Int32?
    /// Whether a script has chosen the status.
    private var hasChosenCode = false

    /// Whether a test has the process as if killed: nothing of it runs any more.
    var isKilled: () -> Bool = { false }

    /// Whether nested waits must end now.
    var isEnding: Bool { exitCode != nil || deferredEnd != nil || skipsHandlers || isKilled() }

    /// Whether code is stopped because the application ends, which is no failure of that code. Handlers that a second
    /// SIGTERM stops are reported.
    var stopsCode: Bool {
        exitCode != nil || deferredEnd != nil || (requestedCode != nil && !skipsHandlers) || isKilled()
    }

    func enter(_ state: ApplicationState) { self.state = state }

    /// Requests the end with a status: the first one counts, or the first that a script has chosen.
    func requestEnd(_ code: Int32, isChosen: Bool = false) {
        if isChosen ? !hasChosenCode : requestedCode == nil { requestedCode = code }
        hasChosenCode = hasChosenCode || isChosen
    }

    func deferEnd(_ cause: LifeCycleCause) { deferredEnd = cause }

    func takeDeferredEnd() -> LifeCycleCause? {
        defer { deferredEnd = nil }
        return deferredEnd
    }

    func skipHandlers() { skipsHandlers = true }

    /// Ends the application with the requested status.
    func end(_ cause: LifeCycleCause) {
        exitCause = cause
        exitCode = requestedCode ?? 0
    }
}
