import Application
import Files
import Items
import Logging
import Lua
import PropertyList
import SharedItems
import Wording

/// A host's part in a shared collection: applies others' commits between its own work, and reconnects after an outage.
final class SharedSession {
    let persistence: SharedPersistence
    private unowned let host: ScriptHost
    private let waiter: LoopWaiter
    /// The watch of the server's socket, and the socket.
    private var watch: (LoopWatch, descriptor: Int32)?
    /// The next attempt to connect.
    private var retry: LoopTimer?
    private var retryDelay = SharedSession.firstDelay
    /// Whether the current outage was reported.
    private var hasToldOutage = false
    /// The number of queued commits that were sent.
    private var sentCommits = 0
    /// The last reported error, until the connection is back.
    private var toldMessage: String?

    private static let firstDelay = 0.5
    private static let longestDelay = 15.0

    init(_ host: ScriptHost, _ persistence: SharedPersistence, _ waiter: LoopWaiter) {
        self.host = host
        self.persistence = persistence
        self.waiter = waiter
        waiter.loop = host.loop
        waiter.hasEnded = { [unowned host] in host.exitCode != nil }
        persistence.onConnectionChange = { [weak self] isConnected in self?.connectionChanged(isConnected) }
        watchSocket()
        host.items.addCommitObserver(self)
        if !persistence.isConnected {
            // Opening has reported it.
            hasToldOutage = true
            retryLater()
        }
    }

    /// Ends a wait for the server, if there is one, on Ctrl-C.
    ///
    /// - Returns: whether there was one.
    func interruptWait() -> Bool {
        if waiter.isWaiting { waiter.interrupt() }
        return waiter.isWaiting
    }

    /// Applies others' commits, unless a transaction is in progress. Does nothing without a connection: a chunk never
    /// waits for a disconnected server.
    func apply() {
        guard persistence.isConnected, !host.items.isInTransaction else { return }
        let (waiting, conflicts) = (persistence.keptCommits.count, persistence.conflicts.count)
        do { try host.items.applyRemoteCommits() } catch {
            tell(error)
        }
        let new = persistence.conflicts.count - conflicts
        sentCommits += max(waiting - persistence.keptCommits.count - max(new, 0), 0)
        if new > 0 {
            host.logger.warning(
                "\(new.counted("commit")) of this host cannot follow what others did meanwhile, and \(new == 1 ? "was" : "were") taken back: see items:conflicts()"
            )
        }
        watchSocket()
        tellReturn()
    }

    // MARK: The connection

    private func watchSocket() {
        let descriptor = persistence.descriptor
        if let watch, watch.descriptor == descriptor { return }
        watch?.0.cancel()
        watch = nil
        guard let descriptor else { return }
        watch = (
            host.loop.watch(descriptor) { [weak self] _ in
                guard let self else { return }
                do { try persistence.receive() } catch { host.logger.debug("\(error)") }
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
        host.items.connectionWasLost()
        watch?.0.cancel()
        watch = nil
        if let reason = persistence.stopReason { return host.logger.error("\(reason.message)") }
        if !hasToldOutage {
            hasToldOutage = true
            host.logger.warning("\(persistence.readOnlyReason)")
            host.deliverConnection("didDisconnect")
        }
        retryLater()
    }

    /// Reports the end of an outage once all queued commits are sent: handlers may change items again.
    private func tellReturn() {
        guard hasToldOutage, persistence.isConnected, !host.items.isReadOnly else { return }
        guard !persistence.hasKeptCommits else { return }
        hasToldOutage = false
        toldMessage = nil
        host.logger.notice(
            "the collection's server is back\(sentCommits > 0 ? ": it has \(sentCommits.counted("commit")) that waited" : "")"
        )
        sentCommits = 0
        host.deliverConnection("didConnect")
    }

    private func retryLater() {
        guard retry == nil, persistence.stopReason == nil else { return }
        retry = host.loop.after(retryDelay) { [weak self] in
            guard let self else { return }
            retry = nil
            retryDelay = min(retryDelay * 2, Self.longestDelay)
            do throws(StoreError) { try persistence.poll() } catch { tell(error) }
            if persistence.isConnected { apply() } else { retryLater() }
        }
    }

    /// Reports an error other than an outage, once: connection attempts are repeated.
    private func tell(_ error: StoreError) {
        host.logger.debug("\(error.message)")
        guard error.code != .disconnected, error.message != toldMessage else { return }
        toldMessage = error.message
        host.logger.warning("\(error.message)")
    }
}

extension SharedSession: ItemCommitObserver {
    /// At a prompt, prints a line above the one being edited.
    func itemStore(_ store: ItemStore, didCommit commit: ItemStoreCommit) {
        guard let name = commit.host, host.options.isInteractive else { return }
        host.output.putError("\(commit.count.counted("change")) by \(VisibleText.line(name))\n")
    }
}

extension ScriptHost {
    /// Delivers the connection events of a shared collection.
    func deliverConnection(_ name: String) {
        guard hooks.hasHooks(for: name) else { return }
        hooks.deliver(ScriptEvent(LifeCycleEvent(name: name, cause: .server, simulated: false)))
    }
}
