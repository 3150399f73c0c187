package import Application
import CPlatform
import Files
import Glibc
import Items
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

    init(_ stores: Stores, _ runtime: Runtime, _ service: ServiceManager, _ durability: CommitDurability) {
        (items, defaults) = (stores.items, stores.defaults)
        (self.runtime, self.service, self.durability) = (runtime, service, durability)
        items.commitGeneration = { [weak scheduler = runtime.scheduler] in scheduler?.generation ?? 0 }
    }

    private var logger: Logger { runtime.log.logger }

    // MARK: Commits

    /// Commits the changes since the last commit. A failure is reported, and the changes stay for the next attempt.
    ///
    /// - Parameter inGroup: whether an outer commit follows and waits for the disk for both.
    /// - Returns: the failure as a Lua value.
    @discardableResult
    package func commit(inGroup: Bool = false) -> Result<Void, LuaError> {
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
        guard !items.isInTransaction else { return .success(()) }
        do throws(StoreError) {
            items.delayPublishing()
            defer { items.publishDelayed() }
            // Never waits during an outage of the server: queued commits are sent when it is connected again.
            if items.hasUncommittedChanges, items.takesCommits {
                if inGroup { try items.commitInGroup() } else { try items.commit() }
                writeFailures.recordSuccess(.items)
                saveIfJournalIsLong()
            }
            if !inGroup { try items.endGroup() }
        } catch {
            var failure = LuaError(.runtime, error.message)
            failure.underlying = error
            return .failure(failure)
        }
        shared?.apply()
        return .success(())
    }

    /// Commits, and writes what is buffered: at the end of code, and before it waits.
    ///
    /// - Returns: the commit's failure.
    @discardableResult
    package func settle() -> Result<Void, LuaError> {
        let committed = commit()
        runtime.output.flush()
        return committed
    }

    /// The result of a chunk after its commit, whose failure is shown unless the chunk has failed itself.
    func result(
        of chunk: Result<[LuaValue], LuaError>, after commit: Result<Void, LuaError>
    ) -> Result<[LuaValue], LuaError> {
        guard case .failure(var error) = commit else { return chunk }
        let cause: any Error = error.underlying ?? error
        guard case .success = chunk else {
            // The script's own error is shown instead.
            report(cause, of: .items)
            return chunk
        }
        error.message = writeFailures.textOfCaller(.items, cause)
        return .failure(error)
    }

    /// Commits, and waits for the disk.
    package func syncCommitted() {
        if case .failure(let error) = commit() { report(error.underlying ?? error, of: .items) }
        guard !items.isReadOnly else { return }
        do { try items.synchronize() } catch { report(error, of: .items) }
    }

    /// Earlier changes of the running code are a commit of their own: a stop or a kill during the transaction leaves
    /// them in the journal. A failure stays for the next commit.
    package func commitBeforeTransaction() {
        if shared == nil, !items.isInTransaction { commit(inGroup: true) }
    }

    // MARK: Failures

    /// Logs a failure to write, unless it was logged since the last success.
    private func report(_ error: any Error, of area: WriteFailures.Area) {
        if let text = writeFailures.text(area, error) { logger.error("\(text)") }
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
                commit()
                guard saveUnderWay == nil else { return }
                service.notify("STATUS=saving \(items.count) items\nEXTEND_TIMEOUT_USEC=5000000")
                snapshot = Result { () throws(StoreError) in try items.beginSave() }
            })
        if let reason = will.veto { throw ScriptError("vetoed", "a willSave handler refused: \(reason)") }
        // Changes of handlers after the save belong to the next one.
        commit()
        return try snapshot.get()
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
        commit()
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
    private var reported: [Area: Set<String>] = [:]
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

/// The archive that the last save has replaced, for a comparison with the new one. It stays open, without a name: nothing is
/// copied, and its blocks are free with the next save.
package final class FormerArchive {
    /// What is known of the archive before the last save.
    package enum State: Equatable {
        /// Nothing was saved in this process.
        case unknown
        /// There was none: the last save was the first one.
        case absent
        /// It is larger than a comparison takes.
        case tooLarge
        case bytes([UInt8])
    }

    /// The size in bytes up to which archives are compared.
    private static let limit = 1 << 26

    private enum Retained {
        case unknown, absent, tooLarge
        case file(OpenFile)
    }

    private let files: BeneathFileLayer
    private let path: String
    private var retained = Retained.unknown
    private var next = Retained.unknown

    init(_ path: String, _ files: BeneathFileLayer) { (self.path, self.files) = (path, files) }

    deinit {
        close(retained)
        close(next)
    }

    private func close(_ retained: Retained) { if case .file(let file) = retained { files.close(file) } }

    /// Opens the archive that a save is about to replace.
    func willReplace() {
        close(next)
        next = .absent
        guard let file = try? files.open(path, .read) else { return }
        if let size = try? files.status(file).size, size <= Self.limit {
            next = .file(file)
        } else {
            files.close(file)
            next = .tooLarge
        }
    }

    /// Keeps it, if the save has succeeded.
    func didReplace(_ hasSucceeded: Bool) {
        if hasSucceeded {
            close(retained)
            retained = next
        } else {
            close(next)
        }
        next = .unknown
    }

    /// What is known of it.
    ///
    /// - Throws: `FileError` when it cannot be read.
    package var state: State {
        get throws(FileError) {
            switch retained {
            case .unknown: return .unknown
            case .absent: return .absent
            case .tooLarge: return .tooLarge
            case .file(let file):
                guard lseek(file.descriptor, 0, SEEK_SET) == 0 else { throw FileError(.read, path, code: errno) }
                return .bytes(try files.contents(of: file, limit: Self.limit))
            }
        }
    }
}
