public import Application
public import Items
public import Logging

/// How a host is set up.
public struct ScriptHostOptions: Sendable {
    /// Where the application's data lives.
    public var container: Container
    /// Makes what keeps the container's items; the embedded archive and its journal, if nothing else is given. Called once,
    /// with the folders made and the lock held, before the sandbox is closed: files outside of the container are opened
    /// here. What it throws, the host's initializer throws.
    public var persistence: @Sendable (OpenedContainer) throws -> any ItemPersistence = {
        ArchivePersistence(of: $0)
    }
    public var applicationName = "cubby"
    public var applicationVersion = "1.0"
    /// Whether nothing may be changed; then another process may own the container.
    public var isReadOnly = false
    /// What a commit survives.
    public var durability: Durability = .process
    /// Whether `Library/Scripts/init.lua` runs at launch.
    public var runsInitScript = true
    /// Bytes for Lua's allocator; nil for no limit.
    public var memoryLimit: Int?
    /// Whether the memory limit holds for what scripts make the process hold outside of Lua as well: it may grow to the
    /// limit and a quarter while a script runs. What other threads of the application take meanwhile counts, too: for a
    /// process that does nothing else, as the command is.
    public var limitsProcess = false
    /// Bytes that one chunk may write by `print` and `io.write`; nil for no limit.
    public var outputLimit: Int?
    /// Seconds of wall time for a script; nil for no limit.
    public var timeLimit: Double?
    /// Files and folders that scripts may read, and folders that they may write, beside the container.
    public var readable: [String] = []
    public var writable: [String] = []
    /// Whether a person types, who can be asked.
    public var isInteractive = false
    /// Whether signals drive the life cycle; false in a host application that handles its own.
    public var handlesSignals = true
    /// Folders that `require` looks in, first to last, before the container's own scripts.
    public var modulePaths: [String] = []
    /// Whether `require` looks last in `~/.luarocks`, `/usr/local` and `/usr` for modules in Lua.
    public var usesLuaTrees = true
    /// Whether `require` loads C modules, from the same trees. They run outside of the sandbox and of all limits.
    public var allowsNativeModules = false

    /// Folders of read-only resources, first to last; those that do not exist are passed over.
    public var bundles: [String] = []
    /// Whether Home ends the application (`UIApplicationExitsOnSuspend`); if nil, the preference of that name says.
    public var exitsOnSuspend: Bool?
    /// Seconds for all handlers of `didEnterBackground`, or of `willTerminate`, and the save that follows them.
    public var callbackLimit = 5.0
    /// Seconds that background tasks get before they expire and the process stops.
    public var backgroundLimit = 10.0
    /// Whether each callback of the life cycle is written to standard error.
    public var tracesLifeCycle = false
    /// Whether `init.lua` runs again when it changes.
    public var watchesInitScript = false
    /// Whether the kernel, too, holds the process to what is granted. Only before a second thread exists.
    public var kernelFence = KernelFence.off
    /// Whether the host's own fence stands; without it, the kernel's alone holds scripts back. For tests of either.
    private(set) var hasPathFence = true
    /// Whether scripts may start programs.
    public var allowsRunning = false
    /// Whether `cubby attach` may open a prompt on this host.
    public var acceptsAttachments = false
    /// How lines of the log are written; if nil, bare on a terminal, and in NSLog's form elsewhere.
    public var logForm: StandardErrorLogHandler.Form?

    /// Messages below this level are dropped.
    public var logLevel = Logger.Level.info

    public init(container: Container) { self.container = container }

    /// Takes the host's own fence down; for tests of the kernel's.
    package mutating func setPathFence(_ stands: Bool) { hasPathFence = stands }
}

/// What is asked of Landlock.
public enum KernelFence: Sendable {
    case off
    /// Stands where the kernel has it.
    case ifAvailable
    /// The host is not opened without it.
    case required
}
