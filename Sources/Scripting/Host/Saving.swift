package import Application
import CPlatform
import Files
import Glibc
package import Items
import Logging
package import Lua

/// Commits and saves what the stores have changed.
///
/// For a save, a snapshot is taken on the host's thread, another thread writes the archive, and the host's thread moves
/// it into place. The caller waits, serving timers and signals; other code does not wait.
package final class StoreSaver {
    private let items: ItemStore
    private let defaults: Defaults
    private let durability: CommitDurability
    private let runtime: Runtime
    private let service: ServiceManager
    /// The host's part in a shared collection; nil without one.
    var shared: SharedSession?
    /// Keeps the archive before the last save, for the prompt; nil without one.
    package internal(set) var former: FormerArchive?
    /// The write failures already reported.
    private var writeFailures = WriteFailures()
    /// Whether the current failure of saves was reported.
    private var hasReportedFailedSave = false
    /// The last save of this run; nil before it.
    private(set) var lastSave: SaveRecord?
    /// The save in progress on another thread.
    private var saveUnderWay: SaveUnderWay?
    /// Why changes of the running code were rolled back, which it hears at its own next commit.
    private var unheardLoss: StoreError?

    init(_ stores: Stores, _ runtime: Runtime, _ service: ServiceManager, _ durability: CommitDurability) {
        (items, defaults) = (stores.items, stores.defaults)
        (self.runtime, self.service, self.durability) = (runtime, service, durability)
        items.commitGeneration = { [weak scheduler = runtime.scheduler] in scheduler?.generation ?? 0 }
    }

    private var logger: Logger { runtime.log.logger }

    // MARK: Commits

    /// Commits the changes since the last commit.
    ///
    /// - Parameter inGroup: whether an outer commit follows and waits for the disk for both.
    /// - Returns: the failure: `conflict` if the changes were rolled back, now or by a commit of other code in the middle of
    ///   this one. After any other they stay for the next attempt.
    package func commit(inGroup: Bool = false) -> Result<Void, StoreError> {
        let earlier = unheardLoss
        unheardLoss = nil
        let result = Result { () throws(StoreError) in try write(inGroup: inGroup) }
        guard let earlier else { return result }
        if case .failure(let error) = result { report(error, of: .items) }
        return .failure(earlier)
    }

    private func write(inGroup: Bool) throws(StoreError) {
        UnstoppableWork.begin()
        defer { UnstoppableWork.end() }
        // Changes are stored even when the script's time is up.
        let watch = cubby_watch_work(cubby_watch())
        defer { _ = cubby_watch_work(watch) }
        if defaults.hasChanges {
            do {
                try defaults.synchronize(durable: durability == .power)
                writeFailures.recordSuccess(.preferences)
            } catch {
                report(error, of: .preferences)
            }
        }
        guard !items.isInTransaction else { return }
        do {
            items.delayPublishing()
            defer { items.publishDelayed() }
            // Never waits during an outage of the server: queued commits are sent when it is connected again.
            if items.hasUncommittedChanges, items.takesCommits {
                if inGroup { try items.commitInGroup() } else { try items.commit() }
                writeFailures.recordSuccess(.items)
                saveIfJournalIsLong()
            }
            if !inGroup { try items.endGroup() }
        }
        shared?.apply()
    }

    /// Commits before code waits, and writes what is buffered.
    ///
    /// - Throws: the failure that has rolled back the code's changes. Any other is logged: they stay for the next attempt.
    package func settle() throws(StoreError) {
        defer { runtime.output.flush() }
        if let loss = loss(commit()) { throw loss }
    }

    /// Commits after code, and writes what is buffered.
    ///
    /// - Returns: the code's result, or the failure that has rolled back its changes.
    func settle(after result: Result<[LuaValue], LuaError>) -> Result<[LuaValue], LuaError> {
        do throws(StoreError) { try settle() } catch { return self.result(of: result, after: .failure(error)) }
        return result
    }

    /// The result of code after its commit, whose failure is shown unless the code has failed itself.
    func result(
        of code: Result<[LuaValue], LuaError>, after commit: Result<Void, StoreError>
    ) -> Result<[LuaValue], LuaError> {
        guard case .failure(let error) = commit else { return code }
        guard case .success = code else {
            // The script's own error is shown instead.
            report(error, of: .items)
            return code
        }
        return .failure(Self.failure(error, writeFailures.textOfCaller(.items, error)))
    }

    private static func failure(_ error: StoreError, _ message: String) -> LuaError {
        var failure = LuaError(.runtime, message)
        failure.underlying = error
        return failure
    }

    /// The failure that has rolled changes back. Any other is logged.
    private func loss(_ commit: Result<Void, StoreError>) -> StoreError? {
        guard case .failure(let error) = commit else { return nil }
        if error.isLoss { return error }
        report(error, of: .items)
        return nil
    }

    /// Begins the changes of a handler, or of other code that runs in the middle of code.
    ///
    /// - Parameter inGroup: whether they share the sync of the code around them: a loop that a handler observes waits for
    ///   the disk once.
    /// - Returns: commits them, and returns the failure that has rolled them back. The code around hears it as well, at its
    ///   own next commit, if it had changes that were rolled back with them.
    package func beginChanges(inGroup: Bool) -> () -> LuaError? {
        let earlier = unheardLoss
        let hasEarlierChanges = items.hasUncommittedChanges
        unheardLoss = nil
        return { [unowned self] in
            let loss = loss(commit(inGroup: inGroup && runtime.state.depth > 0))
            unheardLoss = earlier ?? (hasEarlierChanges && runtime.scheduler.current != nil ? loss : nil)
            return loss.map { Self.failure($0, $0.message) }
        }
    }

    /// Commits for the host itself. The running code hears at its own next commit that changes were rolled back; without
    /// any, or if it goes no further, that is a failure like a handler's.
    package func commitForHost() {
        guard let loss = loss(commit()) else { return }
        if runtime.scheduler.current != nil, !runtime.status.stopsCode { return unheardLoss = loss }
        runtime.hooks.record(
            HookFailure(
                title: "the last changes", event: HookFailure.commit, error: Self.failure(loss, loss.message),
                time: LifeCycleEvent.now()))
    }

    /// Commits, and waits for the disk.
    package func syncCommitted() {
        commitForHost()
        guard !items.isReadOnly else { return }
        do { try items.synchronize() } catch { report(error, of: .items) }
    }

    /// Earlier changes of the running code are a commit of their own: a stop or a kill during the transaction leaves
    /// them in the journal.
    ///
    /// - Throws: the failure that has rolled them back. Any other stays for the next commit.
    package func commitBeforeTransaction() throws(StoreError) {
        guard shared == nil, !items.isInTransaction, case .failure(let error) = commit(inGroup: true) else { return }
        if error.isLoss { throw error }
    }

    // MARK: Failures

    /// Logs a failure to write, unless it was logged since the last success. Each loss of changes is another one.
    private func report(_ error: any Error, of area: WriteFailures.Area) {
        let isLoss = (error as? StoreError)?.isLoss ?? false
        if let text = isLoss ? "\(error)" : writeFailures.text(area, error) { logger.error("\(text)") }
    }

    /// The text of a failure to write; nil if it was reported since the last success.
    func textOfFailure(_ error: any Error, _ area: WriteFailures.Area) -> String? { writeFailures.text(area, error) }

    // MARK: Saves

    /// Saves the items, with `willSave` and `didSave`; nothing happens without changes.
    ///
    /// - Parameters:
    ///   - cause: the cause of the save.
    ///   - simulated: whether a script simulates the cause.
    ///   - canBeVetoed: whether a `willSave` handler may veto.
    ///   - completion: called with the error, or nil; before this returns, if nothing had to be written.
    package func save(
        _ cause: LifeCycleCause, simulated: Bool = false, canBeVetoed: Bool = false,
        completion: @escaping ((any Error)?) -> Void
    ) {
        // A script's limit does not stop a save, only the wait for it.
        let watch = cubby_watch_work(cubby_watch())
        defer { _ = cubby_watch_work(watch) }
        let again: ((any Error)?) -> Void = { [weak self] _ in
            self?.save(cause, simulated: simulated, canBeVetoed: canBeVetoed, completion: completion)
        }
        // The save in progress may lack later changes: the next save includes them.
        if let saveUnderWay { return saveUnderWay.waiters.append(again) }
        do {
            guard let save = try begin(cause, simulated, canBeVetoed) else {
                guard let saveUnderWay else { return completion(nil) }
                return saveUnderWay.waiters.append(again)
            }
            let current = SaveUnderWay(save, cause, simulated)
            current.waiters = [completion]
            saveUnderWay = current
            let reply = runtime.loop.reply { [weak self, weak current] (result: Result<Void, StoreError>) in
                if let self, let current { self.finish(current, result) }
            }
            current.worker = WorkerThread {
                let result = save.write()
                reply.send(result)
                return result
            }
        } catch let error as StoreError {
            reportEnd(cause, simulated, 0, .now(), error)
            completion(error)
        } catch {
            completion(error)
        }
    }

    /// Saves before the background or the end, blocking until the archive is in place.
    @discardableResult
    func saveNow(_ cause: LifeCycleCause, _ simulated: Bool) -> (any Error)? {
        finishSaveUnderWay()
        do {
            var begun = try begin(cause, simulated, false)
            if begun == nil, saveUnderWay != nil {
                finishSaveUnderWay()
                begun = try begin(cause, simulated, false)
            }
            guard let save = begun else { return nil }
            let current = SaveUnderWay(save, cause, simulated)
            saveUnderWay = current
            UnstoppableWork.begin()
            let result = save.write()
            UnstoppableWork.end()
            return finish(current, result)
        } catch let error as StoreError {
            reportEnd(cause, simulated, 0, .now(), error)
            return error
        } catch {
            return error
        }
    }

    /// Waits for the archive that another thread writes, and moves it into place.
    private func finishSaveUnderWay() {
        guard let saveUnderWay else { return }
        UnstoppableWork.begin()
        let result = saveUnderWay.worker?.join()
        UnstoppableWork.end()
        if let result { finish(saveUnderWay, result) }
    }

    /// Rewrites the archive when the journal has outgrown it, which bounds the disk space and the next launch. Nothing
    /// waits for it.
    private func saveIfJournalIsLong() {
        guard items.isJournalLong, saveUnderWay == nil, runtime.status.exitCode == nil, !items.isInTransaction else {
            return
        }
        save(.journal) { _ in }
    }

    /// Runs the handlers, the last commit and the snapshot; nil when there is nothing to save, or when another save has begun
    /// meanwhile: that of a long journal, with the last commit, or one of other code while a server was waited for.
    private func begin(_ cause: LifeCycleCause, _ simulated: Bool, _ canBeVetoed: Bool) throws -> ItemStoreSave? {
        guard items.hasChanges, !items.isReadOnly else { return nil }
        guard !items.isInTransaction else {
            logger.info("A transaction is under way: what was committed before it is in the journal")
            return nil
        }
        let will = ScriptEvent(
            LifeCycleEvent(name: "willSave", cause: cause, simulated: simulated), allowsVeto: canBeVetoed)
        var snapshot: Result<ItemStoreSave?, StoreError> = .success(nil)
        runtime.hooks.deliver(
            will, until: runtime.hooks.willSaveDeadline,
            own: { [unowned self] in
                snapshot = Result { () throws(StoreError) in
                    try commit().get()
                    guard saveUnderWay == nil else { return nil }
                    service.notify("STATUS=saving \(items.count) items\nEXTEND_TIMEOUT_USEC=5000000")
                    return try items.beginSave()
                }
            })
        if let reason = will.veto { throw ScriptError("vetoed", "a willSave handler refused: \(reason)") }
        let save = try snapshot.get()
        // Changes of handlers after the save belong to the next one.
        commitForHost()
        return save
    }

    /// Moves the archive into place and reports it.
    @discardableResult
    private func finish(_ current: SaveUnderWay, _ result: Result<Void, StoreError>) -> (any Error)? {
        guard saveUnderWay === current else { return nil }
        saveUnderWay = nil
        let failure: StoreError?
        former?.willReplace()
        UnstoppableWork.begin()
        do throws(StoreError) {
            try current.finish(in: items, result)
            failure = nil
        } catch { failure = error }
        UnstoppableWork.end()
        former?.didReplace(failure == nil)
        reportEnd(current.cause, current.isSimulated, current.count, current.start, failure)
        for waiter in current.waiters { waiter(failure) }
        return failure
    }

    private func reportEnd(
        _ cause: LifeCycleCause, _ simulated: Bool, _ count: Int, _ start: MonotonicTime, _ failure: StoreError?
    ) {
        let seconds = MonotonicTime.now().seconds(since: start)
        lastSave = SaveRecord(
            time: LifeCycleEvent.now(), items: count, seconds: seconds, failure: failure?.message)
        runtime.hooks.countOwn("willSave", MonotonicTime.now().seconds(since: start), failure: failure?.message)
        service.notify("STATUS=\(runtime.status.state.rawValue)")
        if let failure {
            let reason = writeFailures.text(.items, failure).map { ": " + $0 } ?? ""
            if !reason.isEmpty || !hasReportedFailedSave { logger.error("Could not save any of the Items\(reason)") }
            hasReportedFailedSave = true
        } else {
            writeFailures.recordSuccess(.items)
            hasReportedFailedSave = false
            // A save that only shortens the journal was not requested by a user.
            logger.log(level: cause == .journal ? .debug : .info, "Saved all of the Items")
        }
        let details: [String: LuaValue] = [
            "ok": .boolean(failure == nil), "items": .integer(Int64(count)),
            "seconds": .number(MonotonicTime.now().seconds(since: start)),
            "error": failure.map { .text("\($0)") } ?? .nil,
        ]
        runtime.hooks.deliver(
            ScriptEvent(LifeCycleEvent(name: "didSave", cause: cause, simulated: simulated), details: details),
            until: runtime.hooks.didSaveDeadline)
        commitForHost()
    }
}

/// A save whose archive is being written on another thread.
final class SaveUnderWay {
    let cause: LifeCycleCause
    let isSimulated: Bool
    let start = MonotonicTime.now()
    /// The number of saved items.
    let count: Int
    /// The save; nil once the archive is in place. Items then no longer share memory with it.
    private var save: ItemStoreSave?
    var worker: WorkerThread<Result<Void, StoreError>>?
    /// Called at its end.
    var waiters: [((any Error)?) -> Void] = []

    init(_ save: ItemStoreSave, _ cause: LifeCycleCause, _ isSimulated: Bool) {
        self.save = save
        count = save.count
        self.cause = cause
        self.isSimulated = isSimulated
    }

    /// Replaces the archive with the written file and releases the snapshot.
    func finish(in items: ItemStore, _ result: Result<Void, StoreError>) throws(StoreError) {
        guard let save else { return }
        self.save = nil
        // The thread releases the snapshot at its end; only its return is outstanding.
        _ = worker?.join()
        try items.finish(save, result)
    }
}

/// Deduplicates write failures: a full disk fails each commit, each save and each file of the exit, and is reported
/// once. A value; the host logs its messages.
struct WriteFailures {
    /// An area that is written separately and may fail separately.
    enum Area: Hashable {
        case items, preferences, restoration
    }

    /// The messages reported for an area since its last success.
    private var reported: [Area: NameSet] = [:]
    /// Whether the full disk was reported since the last success of any area.
    private var hasReportedFullDisk = false

    /// The message for a failure; nil when it was already reported.
    mutating func text(_ area: Area, _ error: any Error) -> String? {
        let message = "\(error)"
        if Self.isFullDisk(error) {
            if hasReportedFullDisk { return nil }
            hasReportedFullDisk = true
            return message + Self.advice
        }
        return reported[area, default: []].insert(message).inserted ? message : nil
    }

    /// Records a failure that the caller reports itself.
    ///
    /// - Returns: the message, with advice the first time.
    mutating func textOfCaller(_ area: Area, _ error: any Error) -> String { text(area, error) ?? "\(error)" }

    /// Records a success: the next failure of the area is new.
    mutating func recordSuccess(_ area: Area) {
        if reported.isEmpty, !hasReportedFullDisk { return }
        reported[area] = nil
        hasReportedFullDisk = false
    }

    private static let advice =
        "; make room on the disk: what is not written yet is tried again at each change and at the end of the run"

    private static func isFullDisk(_ error: any Error) -> Bool {
        let cause: (any Error)? =
            switch error {
            case let error as StoreError: error.cause
            case DefaultsError.file(let error): error
            default: error
            }
        guard let code = (cause as? FileError)?.code else { return false }
        return code == ENOSPC || code == EDQUOT
    }
}
