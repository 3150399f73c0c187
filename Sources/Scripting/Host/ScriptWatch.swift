package import Application
package import Files
package import Lua
package import PropertyList

extension ScriptHost {
    /// Makes a script's watch of a file or a folder.
    ///
    /// - Parameters:
    ///   - path: a path that the fence grants for reading.
    ///   - options: what is reported.
    ///   - function: called with each change.
    ///   - list: the watches of the host, which it joins.
    /// - Returns: the watch.
    /// - Throws: `FileError` when the path cannot be watched.
    package func watch(
        _ path: String, _ options: FileWatch.Options, _ function: LuaFunction, in list: ScriptWatches
    ) throws(FileError) -> ScriptWatch {
        try list.checkCount(for: path)
        let watch = ScriptWatch(path, function)
        watch.files = try FileWatch(path, options, fence: fence, loop: loop) { [unowned self, unowned watch] changes in
            watch.add(changes)
            deliver(to: watch)
        }
        watch.wake = { [unowned self, unowned watch] in deliver(to: watch) }
        list.add(watch)
        initScript.recordRegistration { watch.cancel() }
        return watch
    }

    /// Calls the function of a watch with its changes, one after another: while one call waits, the others do.
    private func deliver(to watch: ScriptWatch) {
        if watch.isDelivering { return }
        watch.isDelivering = true
        defer { watch.isDelivering = false }
        // Other events of the loop come between many changes.
        for _ in 0..<256 {
            guard exitCode == nil, watch.isReady else { return }
            if scheduler.holds(watch, { [unowned self] in deliver(to: watch) }) { return }
            guard let change = watch.take() else { return }
            run(watch, change)
        }
        loop.after(0) { [weak self, weak watch] in
            if let self, let watch { deliver(to: watch) }
        }
    }

    private func run(_ watch: ScriptWatch, _ change: FileChange) {
        let event = WatchEvent(change).luaValue(in: state)
        start(watch.function, [event], title: watch.title, as: "fs.watch", of: "watch") {
            watch.ended($0)
        } finish: { [unowned self] in
            deliver(to: watch)
        }
    }
}

/// The watches of a host, which last until they are cancelled, or the host ends.
package final class ScriptWatches {
    private static let limit = 64
    private var watches: [ScriptWatch] = []

    package init() {}

    fileprivate func checkCount(for path: String) throws(FileError) {
        watches.removeAll { $0.isCancelled }
        guard watches.count < Self.limit else {
            throw FileError(
                .list, path, code: FileLayerCode.tooManyFiles, reason: "there are \(Self.limit) watches: cancel one")
        }
    }

    fileprivate func add(_ watch: ScriptWatch) { watches.append(watch) }

    /// What each of them tells in the host's status.
    package var statuses: [PropertyListFields] { watches.filter { !$0.isCancelled }.map(\.status) }

    /// Ends all of them.
    package func cancel() {
        for watch in watches { watch.cancel() }
        watches = []
    }
}

/// The changes that a watch's function was not called with yet.
struct WaitingChanges {
    private let limit: Int
    private var changes: [FileChange] = []
    /// The number of changes that were taken.
    private var taken = 0

    /// - Parameter limit: the number of changes that are kept for a function that is behind.
    init(limit: Int = 100_000) { self.limit = limit }

    var count: Int { changes.count - taken }

    /// Adds changes; in the place of those beyond the limit there is one overflow.
    mutating func add(_ new: [FileChange], of path: String) {
        let left = max(limit - count, 0)
        changes.append(contentsOf: new.prefix(left))
        // An overflow of the kernel's queue has no reason: what it is about follows.
        guard new.count > left, changes.last?.kind != .overflow || changes.last?.reason == nil else { return }
        changes.append(
            FileChange(
                kind: .overflow, path: path,
                reason: "more than \(limit.grouped) changes wait: those that came then are not reported"))
    }

    /// Takes the next change. O(1) amortized.
    mutating func take() -> FileChange? {
        guard count > 0 else { return nil }
        defer {
            taken += 1
            if taken > 1024 && taken > changes.count / 2 || count == 0 {
                changes.removeFirst(taken)
                taken = 0
            }
        }
        return changes[taken]
    }
}

/// A watch as a Lua object.
package final class ScriptWatch: LuaObject {
    let function: LuaFunction
    private let path: String
    /// The source of its changes.
    fileprivate var files: FileWatch?
    /// Delivers what has come while it was paused.
    fileprivate var wake: () -> Void = {}
    fileprivate var isDelivering = false
    private var changes = WaitingChanges()
    private(set) var isPaused = false
    /// Whether a call of its function has begun and not ended; it may wait.
    private var isRunning = false
    /// The number of failures since the last success.
    private var failures = 0

    init(_ path: String, _ function: LuaFunction) { (self.path, self.function) = (path, function) }

    var isCancelled: Bool { files?.isEnded ?? true }
    private var text: String {
        let place = function.place
        return path + (place.isNative ? "" : ", \(place.source):\(place.line)")
    }
    fileprivate var title: String { "the watch \(text)" }
    fileprivate var status: PropertyListFields {
        [
            "title": .string(text.shortened(to: 500)), "path": .string(path.shortened(to: 500)),
            "paused": .boolean(isPaused), "running": .boolean(isRunning),
            "waiting": .integer(Int64(changes.count)), "failures": .integer(Int64(failures)),
        ]
    }
    fileprivate var isReady: Bool { !isRunning && !isPaused && changes.count > 0 }

    fileprivate func add(_ new: [FileChange]) { changes.add(new, of: path) }

    /// Takes the next change; its call begins.
    fileprivate func take() -> FileChange? {
        let change = changes.take()
        if change != nil { isRunning = true }
        return change
    }

    /// Counts the end of a call.
    ///
    /// - Returns: the notice if the watch is paused because of its failures.
    fileprivate func ended(_ result: Result<[LuaValue], LuaError>) -> String? {
        isRunning = false
        guard case .failure = result else {
            failures = 0
            return nil
        }
        failures += 1
        guard failures >= HookCenter.failuresBeforePause, !isPaused, !isCancelled else { return nil }
        isPaused = true
        return
            "\(title) failed \(HookCenter.failuresBeforePause) times in a row and is paused: w:resume() takes it up again, with the changes that came meanwhile"
    }

    package func cancel() {
        files?.cancel()
        changes = WaitingChanges()
    }

    private func resume() {
        isPaused = false
        failures = 0
        wake()
    }

    package static var luaClass: LuaClassDeclaration {
        let file = "app.container.tmp, function(event) print(event.kind, event.path) end)"
        return LuaClassDeclaration(
            ScriptWatch.self, "Watch",
            doc: "A watch on a file or a folder. The host keeps it: dropping this object changes nothing."
        ) {
            LuaMethod(
                "cancel", doc: "Ends the watch. Changes that were not delivered are dropped.",
                example: "local w = fs.watch(\(file) w:cancel() return w.isCancelled"
            ) { $0.cancel() }
            LuaMethod(
                "pause", doc: "Pauses the watch: changes are kept until resume.",
                example: "local w = fs.watch(\(file) w:pause() w:cancel() return w.isPaused"
            ) { $0.isPaused = true }
            LuaMethod(
                "resume", doc: "Resumes the watch.",
                example: "local w = fs.watch(\(file) w:pause() w:resume() w:cancel() return w.isPaused"
            ) { $0.resume() }
            LuaProperty("path", doc: "The watched path, as it was given.", get: { $0.path })
            LuaProperty("folders", doc: "The number of watched folders.", get: { $0.files?.folderCount ?? 0 })
            LuaProperty(
                "isCancelled", doc: "Whether the watch has ended: by `cancel`, or because what it watched was removed.",
                get: { $0.isCancelled })
            LuaProperty(
                "isPaused", doc: "Whether it is paused: by `pause`, or after three failures in a row.",
                get: { $0.isPaused })
            LuaOperator(.text) { (watch: ScriptWatch) in
                "Watch(\(watch.text)\(watch.isCancelled ? ", cancelled" : watch.isPaused ? ", paused" : ""))"
            }
        }
    }
}

/// A change as the argument of a watch's function.
package final class WatchEvent: LuaObject {
    private let change: FileChange

    init(_ change: FileChange) { self.change = change }

    package static var luaClass: LuaClassDeclaration {
        LuaClassDeclaration(WatchEvent.self, "WatchEvent", doc: "A change of a watched file or folder.") {
            LuaProperty("path", doc: "The path of the file or folder.", get: { $0.change.path })
            LuaProperty(
                "kind",
                doc:
                    "What has happened: \"created\", \"changed\" (written or replaced), \"removed\", \"moved\" (within what is watched), \"overflow\" (events were lost; what they were about follows, unless `reason` says that it does not), \"unwatched\" (changes in this folder cannot be reported).",
                get: { $0.change.kind.rawValue })
            LuaProperty("from", doc: "The former path of what was moved; else nil.", get: { $0.change.from })
            LuaProperty("isDirectory", doc: "Whether it is a folder.", get: { $0.change.isDirectory })
            LuaProperty(
                "closed",
                doc: "Whether no process was writing the file any more: false only with the option `closed = false`.",
                get: { $0.change.isClosed })
            LuaProperty(
                "reason", doc: "Why a folder is unwatched, or changes were not kept; else nil.",
                get: { $0.change.reason })
            LuaOperator(.text) { (event: WatchEvent) in
                "\(event.change.kind.rawValue) \(event.change.from.map { "\($0) → " } ?? "")\(event.change.path)"
            }
        }
    }
}
