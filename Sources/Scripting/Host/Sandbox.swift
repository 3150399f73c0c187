package import Application
import Files
import Items
import Logging
import SharedItems

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
