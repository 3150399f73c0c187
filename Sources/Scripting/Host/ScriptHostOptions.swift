public import Application
public import Logging
public import Stores

/// How a host is set up.
public struct ScriptHostOptions: Sendable {
    /// Where the application's data lives.
    public var container: Container
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
    /// Bytes that one chunk may write by `print` and `io.write`; nil for no limit.
    public var outputLimit: Int?
    /// Seconds of wall time for a script; nil for no limit.
    public var timeLimit: Double?
    /// Files and folders that scripts may read, and folders that they may write, beside the container.
    public var readable: [String] = []
    public var writable: [String] = []
    /// Whether a person types: reading an undefined global warns instead of raising.
    public var isInteractive = false
    /// Whether signals drive the life cycle; false in a host application that handles its own.
    public var handlesSignals = true
    /// Folders that `require` looks in, first to last, before the container's own scripts.
    public var modulePaths: [String] = []
    /// Whether `require` looks last in `~/.luarocks`, `/usr/local` and `/usr` for modules in Lua.
    public var usesLuaTrees = true
    /// Whether `require` loads C modules, from the same trees. They run outside of the sandbox and of all limits.
    public var allowsNativeModules = false

    /// Messages below this level are dropped.
    public var logLevel = Logger.Level.info

    public init(container: Container) { self.container = container }
}
