package import Application
import Files
import Items
import Logging
import Lua
import PropertyList
package import SharedItems

/// A host's part in a shared collection: applies remote commits between its own work, and reconnects after an outage.
final class SharedSession {
    private let persistence: SharedPersistence
    private let items: ItemStore
    private let runtime: Runtime
    private let waiter: LoopWaiter
    /// Whether remote changes are told to the user of a prompt.
    private let reportsChanges: Bool
    /// The watch of the server's socket, and the socket.
    private var watch: (LoopWatch, descriptor: Int32)?
    /// The next attempt to connect.
    private var retry: LoopTimer?
    private var retryDelay = SharedSession.firstDelay
    /// Whether the current outage was reported.
    private var hasReportedOutage = false
    /// The number of queued commits that were sent.
    private var sentCommits = 0
    /// The last reported error, until the connection is back.
    private var reportedMessage: String?

    /// The next time that commits are applied although nothing tells of some: a notification can be lost, and an attempt
    /// to apply them can fail.
    private var look: (timer: LoopTimer, delay: Double)?
    /// Applies commits whose notifications came with the answer to another request.
    private var wake: LoopTimer?
    /// Whether the process is stopped, or about to be.
    private var isSuspended = false

    /// The progress of catching up.
    private var bar: ProgressBar?

    private static let firstDelay = 0.5
    private static let lookDelays = (usual: 60.0, soon: 2.0)
    private static let longestDelay = 15.0

    init(
        _ persistence: SharedPersistence, _ items: ItemStore, _ runtime: Runtime, _ waiter: LoopWaiter,
        reportsChanges: Bool
    ) {
        (self.persistence, self.items, self.runtime, self.waiter) = (persistence, items, runtime, waiter)
        self.reportsChanges = reportsChanges
        waiter.loop = runtime.loop
        waiter.hasEnded = { [status = runtime.status] in status.exitCode != nil }
        persistence.onConnectionChange = { [weak self] isConnected in self?.connectionChanged(isConnected) }
        persistence.onNotification = { [weak self] in self?.wakeUp() }
        persistence.onNotice = { [weak self] notice in self?.runtime.log.logger.warning("\(notice)") }
        persistence.onProgress = { [weak self] done, total in self?.show(done, total) }
        watchSocket()
        lookLater()
        // What a start has left for later.
        if persistence.isConnected, persistence.mayHaveCommits(after: items.revision) { wakeUp() }
        items.addCommitObserver(self)
        if !persistence.isConnected {
            // Opening has reported it.
            hasReportedOutage = true
            retryLater()
        }
    }

    /// Ends with its host: the store retains its observers, and may outlive the host.
    func end() { items.removeCommitObserver(self) }

    /// Ends a wait for the server, if there is one, on Ctrl-C.
    ///
    /// - Returns: whether there was one.
    func interruptWait() -> Bool {
        if waiter.isWaiting { waiter.interrupt() }
        return waiter.isWaiting
    }

    /// Applies remote commits, unless a transaction is in progress. Does nothing without a connection: a chunk never
    /// waits for a disconnected server.
    func apply() {
        guard persistence.isConnected, !items.isInTransaction else { return }
        let (waiting, conflicts) = (persistence.pendingCommits.count, persistence.conflicts.count)
        let revision = items.revision
        do {
            try items.applyRemoteCommits()
            try persistence.pace(hasFound: items.revision > revision)
        } catch { report(error) }
        bar?.finish(runtime.output)
        bar = nil
        let new = persistence.conflicts.count - conflicts
        sentCommits += max(waiting - persistence.pendingCommits.count - max(new, 0), 0)
        if new > 0 {
            runtime.log.logger.warning(
                persistence.conflicts.suffix(new).contains { $0.denial != nil }
                    ? "the server refused changes of this host, and \(new.counted("commit")) \(new == 1 ? "was" : "were") taken back: see items:conflicts()"
                    : "\(new.counted("commit")) of this host cannot follow what others did meanwhile, and \(new == 1 ? "was" : "were") taken back: see items:conflicts()"
            )
        }
        watchSocket()
        reportReturn()
        lookLater()
    }

    /// Shows how many of the commits that others made have come.
    private func show(_ done: Int, _ total: Int) {
        let shown = bar ?? ProgressBar(total: Int64(total), label: "Catching up")
        bar = shown
        shown.show(Int64(done), runtime.output)
    }

    // MARK: In the background

    /// Called before the process is stopped: the server keeps its notifications for every listener, also for one that does
    /// not run.
    func suspend() {
        isSuspended = true
        retry?.cancel()
        retry = nil
        persistence.suspend()
    }

    /// Called when it continues: connects, and catches up.
    func resume() {
        guard isSuspended else { return }
        isSuspended = false
        guard persistence.stopReason == nil, retry == nil else { return }
        retry = runtime.loop.after(0) { [weak self] in
            guard let self else { return }
            retry = nil
            do throws(StoreError) { try persistence.poll() } catch { report(error) }
            if persistence.isConnected { apply() } else { connectionChanged(false) }
        }
    }

    private func wakeUp() {
        guard wake == nil else { return }
        wake = runtime.loop.after(0) { [weak self] in
            self?.wake = nil
            self?.apply()
        }
    }

    /// Looks for commits in a minute; in seconds if there are some that could not be applied or sent; in less if the server
    /// does not notify this host, since there are many.
    private func lookLater() {
        let hasRest =
            persistence.isConnected
            && (persistence.mayHaveCommits(after: items.revision) || persistence.hasPendingCommits)
        let delay = persistence.pollInterval ?? (hasRest ? Self.lookDelays.soon : Self.lookDelays.usual)
        if let look, look.delay <= delay { return }
        look?.timer.cancel()
        let timer = runtime.loop.after(delay) { [weak self] in
            guard let self else { return }
            look = nil
            if persistence.isConnected {
                do throws(StoreError) { try persistence.poll() } catch { report(error) }
            }
            apply()
            lookLater()
        }
        look = (timer, delay)
    }

    // MARK: The connection

    private func watchSocket() {
        let descriptor = persistence.descriptor
        if let watch, watch.descriptor == descriptor { return }
        watch?.0.cancel()
        watch = nil
        guard let descriptor else { return }
        watch = (
            runtime.loop.watch(descriptor) { [weak self] _ in
                guard let self else { return }
                do { try persistence.receive() } catch { runtime.log.logger.debug("\(error)") }
                apply()
            }, descriptor
        )
    }

    private func connectionChanged(_ isConnected: Bool) {
        if isConnected {
            retry?.cancel()
            retry = nil
            retryDelay = Self.firstDelay
            return
        }
        items.connectionWasLost()
        watch?.0.cancel()
        watch = nil
        if isSuspended { return }
        if let reason = persistence.stopReason { return runtime.log.logger.error("\(reason.message)") }
        if !hasReportedOutage {
            hasReportedOutage = true
            runtime.log.logger.warning("\(persistence.outageNotice)")
            deliver("didDisconnect")
        }
        retryLater()
    }

    /// Reports the end of an outage once all queued commits are sent: handlers may change items again.
    private func reportReturn() {
        guard hasReportedOutage, persistence.isConnected, !items.isReadOnly else { return }
        guard !persistence.hasPendingCommits else { return }
        hasReportedOutage = false
        reportedMessage = nil
        runtime.log.logger.notice(
            "the collection's server is back\(sentCommits > 0 ? ": it has \(sentCommits.counted("commit")) that waited" : "")"
        )
        sentCommits = 0
        deliver("didConnect")
    }

    private func retryLater() {
        guard retry == nil, persistence.stopReason == nil else { return }
        retry = runtime.loop.after(retryDelay) { [weak self] in
            guard let self else { return }
            retry = nil
            retryDelay = min(retryDelay * 2, Self.longestDelay)
            do throws(StoreError) { try persistence.poll() } catch { report(error) }
            if persistence.isConnected { apply() } else { retryLater() }
        }
    }

    /// Delivers a connection event.
    private func deliver(_ name: String) {
        guard runtime.hooks.hasHooks(for: name) else { return }
        runtime.hooks.deliver(ScriptEvent(LifeCycleEvent(name: name, cause: .server, simulated: false)))
    }

    /// Reports an error other than an outage, once: connection attempts are repeated.
    private func report(_ error: StoreError) {
        runtime.log.logger.debug("\(error.message)")
        guard error.code != .disconnected, error.message != reportedMessage else { return }
        reportedMessage = error.message
        runtime.log.logger.warning("\(error.message)")
    }
}

extension SharedSession: ItemCommitObserver {
    /// At a prompt, prints a line above the one being edited.
    func itemStore(_ store: ItemStore, didCommit commit: ItemStoreCommit) {
        guard reportsChanges, let name = commit.host else { return }
        // All differences of items that were fetched anew are nobody's.
        let author = name.isEmpty ? "" : " by \(VisibleText.line(name))"
        runtime.output.putError("\(commit.count.counted("change"))\(author)\n")
    }
}

/// A container's identity for the other hosts of shared collections.
package enum SharedHost {
    /// The collection, with this container as one of its hosts. The container stores a copy of the items.
    ///
    /// - Parameters:
    ///   - address: the collection's address.
    ///   - opened: the container.
    ///   - hostName: the host's name; if nil, the name of the container's folder.
    ///   - keepsCommits: whether commits are queued while the server does not answer.
    ///   - waiter: waits for the server.
    /// - Returns: the persistence for opening a store.
    package static func persistence(
        _ address: SharedAddress, of opened: OpenedContainer, hostName: String? = nil, keepsCommits: Bool = false,
        waiter: any PostgresWaiter = BlockingWaiter()
    ) -> SharedPersistence {
        SharedPersistence(
            address, host: identifier(of: opened), hostName: hostName ?? PathText.name(of: opened.container.path),
            isReadOnly: opened.isReadOnly, folder: PathText.join(opened.container.applicationSupport, "Shared"),
            using: opened.files, keepsCommits: keepsCommits, waiter: waiter)
    }

    /// The host's identifier, 16 bytes stored in the container; created on first use.
    package static func identifier(of opened: OpenedContainer) -> [UInt8] {
        let defaults = Defaults(folder: opened.container.preferences, domain: "shared", using: opened.files)
        if case .data(let bytes)? = defaults.value(forKey: "host"), bytes.count == 16 { return bytes }
        let bytes = SharedPersistence.newIdentifier()
        // If it cannot be stored, each run is another host.
        try? defaults.set(.data(bytes), forKey: "host")
        try? defaults.synchronize()
        return bytes
    }
}

/// Waits for the server while the host's loop turns: Ctrl-C, Ctrl-Z, timers and the prompt go on.
///
/// An immediate answer is awaited without turns of the loop, so that handlers do not run within each commit.
final class LoopWaiter: PostgresWaiter {
    /// The host's loop; before it is set, a wait blocks.
    weak var loop: EventLoop?
    /// Whether the application has ended, which ends the wait.
    var hasEnded: () -> Bool = { false }
    /// Whether the loop currently turns for a wait.
    private(set) var isWaiting = false
    private var isInterrupted = false
    private let blocking = BlockingWaiter()
    /// Seconds within which a healthy server answers.
    private static let grace = 0.2

    func wait(for descriptor: Int32, isWriting: Bool, seconds: Double) throws(PostgresError) -> Bool {
        guard let loop else { return try blocking.wait(for: descriptor, isWriting: isWriting, seconds: seconds) }
        if try blocking.wait(for: descriptor, isWriting: isWriting, seconds: min(seconds, Self.grace)) { return true }
        guard seconds > Self.grace else { return false }
        var isReady = false
        let watch = loop.watch(descriptor, for: isWriting ? [.readable, .writable] : .readable) { _ in isReady = true }
        (isWaiting, isInterrupted) = (true, false)
        defer {
            watch.cancel()
            isWaiting = false
        }
        let end = MonotonicTime.now().advanced(by: seconds - Self.grace)
        while !isReady {
            if isInterrupted || hasEnded() {
                throw PostgresError(
                    .cancelled,
                    "the wait for the server was interrupted: it may have made the commit, which is found out when it answers again"
                )
            }
            let left = end.seconds(since: .now())
            guard left > 0 else { return false }
            loop.runOnce(timeout: left)
        }
        return true
    }

    /// Ends a wait: Ctrl-C.
    func interrupt() { isInterrupted = true }
}
