public import Application
import Files
public import ItemArchive
public import Items
public import Logging
public import SharedItems

/// The configuration of a host.
public struct ScriptHostOptions: Sendable {
    /// The folder of the application's data.
    public var container: ApplicationContainer
    /// Creates the persistence of the container's items; by default the archive and its journal. Called once, with the
    /// folders created and the lock held, before the sandbox is closed: it may open files outside the container. The
    /// host's initializer throws its errors.
    public var persistence: @Sendable (OpenedContainer) throws -> any ItemPersistence = {
        ArchivePersistence(of: $0)
    }
    /// The fields of every item.
    package var schema = ItemSchema.household
    /// The shared collection that replaces the container's own items; nil for none.
    public var shared: SharedAddress?
    /// The host's name in a shared collection; if nil, the name of the container's folder.
    public var hostName: String?
    /// Whether commits are queued during an outage of a shared collection's server; otherwise items are read-only then.
    public var keepsCommits = false
    /// The application's name, for scripts and logs.
    public var applicationName = "cubby"
    /// The application's version, for scripts.
    public var applicationVersion = "1.0"
    /// Whether nothing may be changed; another process may then own the container.
    public var isReadOnly = false
    /// Whether a query that leaves items out, because their values are of kinds that it does not compare or compute
    /// with, raises an error; otherwise it logs a warning.
    public var isStrict = false
    /// The events that a commit survives.
    public var durability: CommitDurability = .process
    /// Whether `Library/Scripts/init.lua` runs at launch.
    public var runsInitScript = true
    /// Maximum number of bytes of Lua's allocator; nil for no limit.
    public var memoryLimit: Int?
    /// Whether the memory limit also covers memory outside Lua that scripts cause: the process may grow by the limit
    /// and a quarter while a script runs. Memory of other threads counts as well, so this is for a process with no
    /// other work, like the command.
    package var limitsProcess = false
    /// Maximum number of bytes that one chunk may write by `print` and `io.write`; nil for no limit.
    public var outputLimit: Int?
    /// The time limit of a script; nil for no limit.
    public var timeLimit: Duration?
    /// Files and folders that scripts may read, and folders that they may write, besides the container.
    public var readable: [String] = []
    /// Folders outside the container that scripts may write to.
    public var writable: [String] = []
    /// Hosts that scripts may connect to: `example.org:8443`, `[::1]:8080`; without a port 80 and 443. The kernel's fence
    /// opens the ports to programs that scripts start, too, and to any host.
    public var connectable: [String] = []
    /// The TCP ports that the host itself listens on, which the kernel's fence leaves to it.
    package var listenedPorts: Set<Int> = []
    /// Whether a user at a prompt can be asked.
    package var isInteractive = false
    /// Whether signals drive the life cycle; false for an embedding program that handles them itself.
    public var handlesSignals = true
    /// The time zone of the user's clock, for displayed times and `timer.at`: a name, or another value for TZ; if nil,
    /// the process's.
    public var timeZone: String?
    /// The search path of `require`, before the container's own scripts.
    public var modulePaths: [String] = []
    /// Templates as in LUA_PATH, searched after `modulePaths` as far as scripts may read their folders.
    package var luaPath: String?
    /// Whether `require` finally searches `~/.luarocks`, `/usr/local` and `/usr` for Lua modules.
    package var usesLuaTrees = true
    /// Whether `require` loads C modules from the same trees. They run outside the sandbox and all limits.
    package var allowsNativeModules = false

    /// Folders of read-only resources in search order; missing ones are skipped.
    package var bundles: [String] = []
    /// Whether Home ends the application (`UIApplicationExitsOnSuspend`); if nil, the preference of that name applies.
    package var exitsOnSuspend: Bool?
    /// The time for all handlers of `didEnterBackground`, or of `willTerminate`, and the following save.
    public var callbackLimit = Duration.seconds(5)
    /// The time for background tasks before they expire and the process stops.
    public var backgroundLimit = Duration.seconds(10)
    /// The time for background tasks at the end, after the last save, before they expire.
    public var graceLimit = Duration.seconds(10)
    /// Whether each callback of the life cycle is logged to standard error.
    package var tracesLifeCycle = false
    /// Whether `init.lua` is reloaded when it changes.
    package var watchesInitScript = false
    /// What happens when a stop is overdue, because the host's own code neither ends nor looks; nil for nothing. For a
    /// process with no other work, like the command.
    package var watchdog: StopWatchdog.Plan?
    /// Whether the kernel also confines the process to the grants. Only before a second thread exists.
    public var kernelFence = KernelFence.off
    /// Landlock's ABI version, if an earlier host of this process has closed the kernel's fence, which is irrevocable.
    package var kernelABI: Int?
    /// Whether the host's own fence is in force; without it, the kernel's alone confines scripts. For tests of either.
    private(set) var hasPathFence = true
    /// Whether scripts may start programs.
    public var allowsRunning = false
    /// Programs that scripts may start by name, without a shell, while their files are unchanged since the grant.
    /// Without effect when `allowsRunning`.
    package var programs: [ProgramGrant] = []
    /// Stores the user's approval of a changed program; if nil, the approval lasts until the host ends.
    package var programApproved: (@Sendable (ProgramGrant) throws -> Void)?
    /// Whether `cubby attach` may open a prompt on this host.
    package var acceptsAttachments = false
    /// The log's format; if nil, bare on a terminal, and NSLog's format elsewhere.
    package var logForm: StandardErrorLogHandler.Form?

    /// Messages below this level are dropped.
    public var logLevel = Logger.Level.info

    /// Creates the usual options for a container.
    public init(container: ApplicationContainer) { self.container = container }

    /// The time limits of handlers, for display.
    package var budgets: String {
        let all = callbackLimit.inSeconds
        let save = HookCenter.reserve(of: all)
        return
            "\(Seconds.text(Hook.Options().budget)) s for a handler or its budget, \(Seconds.text(all - save)) s for all of didEnterBackground or willTerminate and \(Seconds.text(save)) s for the save (--callback-time), \(Seconds.text(backgroundLimit.inSeconds)) s for background tasks (--background-time), \(Seconds.text(graceLimit.inSeconds)) s for those at the end (--grace)"
    }

    /// Disables the host's own fence, for tests of the kernel's.
    package mutating func setPathFence(_ stands: Bool) { hasPathFence = stands }
}

/// The requested use of Landlock.
public enum KernelFence: Sendable {
    /// The kernel restricts nothing.
    case off
    /// In force if the kernel supports it.
    case ifAvailable
    /// The host does not open without it.
    case required
}

/// The fences in force around scripts.
package struct FenceReport: Sendable, Hashable {
    /// The mechanism that keeps paths beneath their grants, "openat2"; nil when the host's own fence is off.
    package var pathMethod: String?
    /// Landlock's ABI version, when the kernel's fence is in force.
    package var kernelABI: Int?

    /// A short text for the banner: `paths (openat2) and Landlock ABI 7`.
    package var text: String {
        let fences = [pathMethod.map { "paths (\($0))" }, kernelABI.map { "Landlock ABI \($0)" }].compactMap { $0 }
        return fences.isEmpty ? "none" : fences.joined(separator: " and ")
    }

    /// Closes the kernel's fence around the options' grants.
    ///
    /// - Throws: `LandlockError`, when it is required and can't be closed.
    static func closing(
        _ options: ScriptHostOptions, bundles: [ApplicationBundle], fence: PathFence, additional: LandlockRules
    ) throws -> FenceReport {
        var report = FenceReport(pathMethod: options.hasPathFence ? fence.method : nil)
        report.kernelABI = options.kernelABI
        guard options.kernelFence != .off, options.kernelABI == nil else { return report }
        do throws(LandlockError) {
            var rules = rules(options, bundles)
            rules.add(additional)
            report.kernelABI = try Landlock.restrict(rules)
            // Makes libraries create temporary files in a folder that they may write to.
            ProcessEnvironment.set("TMPDIR", options.container.tmp)
        } catch {
            if options.kernelFence == .required { throw error }
        }
        return report
    }

    /// Whether the kernel's fence is wanted, and lets the programs of scripts read a folder: a grant contains it.
    static func opensToPrograms(_ folder: String, _ options: ScriptHostOptions) -> Bool {
        guard options.kernelFence != .off || options.kernelABI != nil, Landlock.abi != nil,
            options.allowsRunning || !options.programs.isEmpty || options.allowsNativeModules
        else { return false }
        let rules = rules(options, [])
        return (rules.readWrite + rules.readOnly + rules.execute).contains { path in
            let root = RealPath.ofExistingPart(of: PathText.absolute(path, from: WorkingDirectory.path ?? "/"))
            return folder == root || folder.hasPrefix(root == "/" ? "/" : root + "/")
        }
    }

    private static func rules(_ options: ScriptHostOptions, _ bundles: [ApplicationBundle]) -> LandlockRules {
        var rules = LandlockRules.host
        rules.listenedPorts = options.listenedPorts
        if options.isReadOnly {
            rules.readOnly.append(options.container.path)
        } else {
            rules.readWrite.append(options.container.path)
        }
        // The host removes the container at the end, which changes the folder above.
        if options.container.isTemporary { rules.removeFolders.append(PathText.parent(of: options.container.path)) }
        rules.readWrite += options.writable
        rules.execute += options.programs.map(\.path)
        rules.optional.formUnion(options.programs.map(\.path))
        rules.readOnly += options.readable + options.modulePaths + bundles.map(\.path)
        if options.usesLuaTrees {
            rules.readOnly += LuaTrees.granted
            rules.optional.formUnion(LuaTrees.granted)
        }
        if options.allowsNativeModules {
            rules.readOnly += LuaTrees.nativeFolders
            rules.optional.formUnion(LuaTrees.nativeFolders)
        }
        return rules
    }
}

extension ArchivePersistence {
    /// The archive in `Documents` of an opened container.
    ///
    /// The host removes leftovers. A truncated archive is not opened, so that a backup can be restored.
    public convenience init(of opened: OpenedContainer) {
        self.init(
            folder: opened.container.documents, using: opened.files, isReadOnly: opened.isReadOnly,
            indexFolder: opened.container.caches, removesLeftovers: false, opensCutArchive: false, lock: opened.lock)
        newEntries = opened.newEntries
    }
}

/// Numbers of seconds in messages.
enum Seconds {
    /// A whole number has no decimal point.
    static func text(_ seconds: Double) -> String { Int64(exactly: seconds).map { "\($0)" } ?? "\(seconds)" }
}

extension Duration {
    /// The duration in seconds, the unit of scripts, tasks and messages.
    var inSeconds: Double { self / .seconds(1) }
}
