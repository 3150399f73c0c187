import Application
public import ArgumentParser
import Files
public import Items
public import Logging
import Lua
import Scripting

/// The options of every command with a host.
struct HostOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "The container (default: CUBBY_CONTAINER, else ~/.local/share/cubby). :memory: is a temporary one.",
            valueName: "dir"), completion: .container)
    var container: String?

    @Option(
        help: ArgumentHelp(
            "Use a shared collection: postgres://host/database?collection=name (default: CUBBY_SHARED).",
            valueName: "url"))
    var shared: String?

    @Option(
        help: ArgumentHelp(
            "This host's name for other hosts (default: the name of the container's folder).", valueName: "name"))
    var hostName: String?

    @Option(
        help: ArgumentHelp(
            "While a shared collection's server is unavailable: read (no changes) or queue (changes are sent later).",
            valueName: "mode"), completion: .list(["read", "queue"]))
    var offline: OfflineMode = .read

    @Flag(help: "Change nothing, and make no container; another process may have it open.")
    var readOnly = false

    @Flag(name: .customLong("no-init"), help: "Do not run Library/Scripts/init.lua.")
    var noInit = false

    @Option(help: ArgumentHelp("Allow scripts to read a file or a folder.", valueName: "path"), completion: .file())
    var allowRead: [String] = []

    @Option(
        help: ArgumentHelp("Allow scripts to read and write a folder.", valueName: "path"), completion: .directory)
    var allowWrite: [String] = []

    @Option(
        help: ArgumentHelp(
            "A folder in which require looks for modules, which it may read; repeatable.", valueName: "dir"),
        completion: .directory)
    var modulePath: [String] = []

    @Option(
        help: ArgumentHelp(
            "Allow scripts to connect to a host; without a port to 80 and 443. Programs that they start may use the port to any host.",
            valueName: "host[:port]"))
    var allowNet: [String] = []

    @Flag(help: "Allow scripts to start programs (os.execute, io.popen).")
    var allowRun = false

    @Flag(help: "Require the kernel fence (Landlock), at the prompt, too; exit if it is unavailable.")
    var requireSandbox = false

    @Option(
        help: ArgumentHelp(
            "Read-only resources for `bundle` (default: CUBBY_BUNDLE, else the container's path and .bundle).",
            valueName: "dir"), completion: .directory)
    var bundle: String?

    @Flag(help: "Run Library/Scripts/init.lua again whenever it changes.")
    var watch = false

    @Flag(help: "Write each life-cycle callback to standard error.")
    var traceLifecycle = false

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp(
            "Seconds for the handlers of didEnterBackground or willTerminate, and the save (default: 5).",
            valueName: "s"))
    var callbackTime: Double?

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp(
            "Seconds for background tasks before the process stops (default: 10).", valueName: "s"))
    var backgroundTime: Double?

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp(
            "Seconds for background tasks at the end, after the last save (default: 10).", valueName: "s"))
    var grace: Double?

    @Flag(
        name: .customLong("allow-ffi"),
        help: "Allow require to load C modules, which run outside the sandbox and all limits.")
    var allowFFI = false

    @Option(help: "What a commit survives: process (kill -9, the default) or power (a power cut).")
    var durability: CommitDurability?

    // A value may begin with a sign, so that an error reports the value rather than a missing one.
    @Option(
        parsing: .unconditional,
        help: ArgumentHelp(
            "The memory limit of scripts, in megabytes; 0 for none (default: three quarters of the machine's memory, or of the control group's).",
            valueName: "mb"))
    var memoryLimit: Int?

    @Option(parsing: .unconditional, help: ArgumentHelp("The time limit of a script, in seconds.", valueName: "s"))
    var timeLimit: Double?

    @Flag(
        inversion: .prefixedNo,
        help: ArgumentHelp(
            "Raise where a query leaves out items of other kinds. After a failed handler, timer or final save: exit with 1, or with the script's status (--no-strict)."
        ))
    var strict: Bool?

    @Option(
        help: ArgumentHelp(
            "The lowest level of messages shown: debug, info (the default), warning or error.", valueName: "level"))
    var logLevel: Logger.Level?

    @Option(
        help: ArgumentHelp(
            "The log's format: bare, nslog, json or journal (default: by the type of standard error).",
            valueName: "form"), completion: .list(["bare", "nslog", "json", "journal"]))
    var logFormat: StandardErrorLogHandler.Form?

    // Tests disable one of the sandbox's fences to check the other, and do not wait for the watchdog.

    @Flag(name: .customLong("only-path-fence"), help: ArgumentHelp(visibility: .hidden))
    var onlyPathFence = false

    @Flag(name: .customLong("only-kernel-fence"), help: ArgumentHelp(visibility: .hidden))
    var onlyKernelFence = false

    @Option(name: .customLong("stop-patience"), help: ArgumentHelp(visibility: .hidden))
    var stopPatience: Double?

    @Flag(help: "At the prompt: make the application inactive while its window has no focus.")
    var focusEvents = false

    @Flag(name: .customLong("no-color"), help: "Do not use colours.")
    var noColor = false

    func validate() throws {
        if onlyPathFence, onlyKernelFence {
            throw ValidationError("--only-path-fence and --only-kernel-fence leave no fence between them: give one.")
        }
        // An empty value is an unset variable of the caller, who means something else than the default.
        for (name, values) in [
            ("container", [container]), ("shared", [shared]), ("host-name", [hostName]), ("bundle", [bundle]),
            ("allow-read", allowRead), ("allow-write", allowWrite), ("module-path", modulePath),
        ] as [(String, [String?])] where values.contains("") { throw ValidationError("--\(name) has an empty value.") }
        if sharedAddress == nil, let option = offline == .queue ? "offline queue" : hostName.map({ _ in "host-name" }) {
            throw ValidationError("--\(option) is for a shared collection: give --shared, too.")
        }
        for text in allowNet {
            do throws(NetworkGrantError) { _ = try NetworkGrant(text) } catch {
                throw ValidationError("--allow-net: \(error)")
            }
        }
        let limits: [(Setting, String?)] = [
            (.memoryLimit, memoryLimit.map { "\($0)" }), (.timeLimit, timeLimit.map { "\($0)" }),
            (.grace, grace.map { "\($0)" }),
        ]
        for (setting, given) in limits {
            if let given, !setting.accepts(given) {
                throw ValidationError("--\(setting.rawValue) takes \(setting.range).")
            }
        }
        for (name, given) in [("--callback-time", callbackTime), ("--background-time", backgroundTime)] {
            if let given, !(given > 0 && given <= 3600) {
                throw ValidationError("\(name) takes seconds above 0, at most 3600.")
            }
        }
    }

    /// The host's options from the command line.
    ///
    /// - Parameters:
    ///   - memory: the temporary container, if chosen.
    ///   - asks: whether a user can be asked at a prompt; the kernel's fence, closed earlier, is then off by default.
    /// - Returns: the options.
    /// - Throws: `ValidationError` when no container can be located.
    func scriptHostOptions(_ memory: MemoryContainer?, asks: Bool) throws -> ScriptHostOptions {
        let located = try memory?.container ?? ContainerArgument.locate(container)
        var options = ScriptHostOptions(container: located)
        options.schema = OwnFields.schema(of: located)
        if memory != nil { options.persistence = { MemoryPersistence(isReadOnly: $0.isReadOnly) } }
        if let url = sharedAddress {
            if memory != nil {
                throw CommandFailure.exit(
                    .usage, "--shared needs a container that stays, which has the host's identity: name a folder")
            }
            options.shared = try SharedArgument.address(url)
            options.hostName = hostName
            options.keepsCommits = offline == .queue
        }
        options.isReadOnly = readOnly
        options.isStrict = strict ?? false
        options.runsInitScript = !noInit
        let configured = try ConfiguredContainer(located, asks: asks)
        let settings = try SettingsInForce(self, configured.settings, in: located)
        for remark in settings.remarks { CommandFailure.say(VisibleText.line(remark)) }
        options.durability = settings.durability
        options.memoryLimit = settings.memoryLimit.map { $0 << 20 }
        let hasProcess = ProcessSurroundings.current.areOfProcess
        options.limitsProcess = hasProcess
        options.timeLimit = settings.timeLimit.map(Self.duration)
        if settings.timeLimit != nil, !LuaState.keepsTime {
            throw CommandFailure.exit(
                .unavailable, "the time limit cannot be kept: the system gives this process no timer (ulimit -i)")
        }
        options.allowsNativeModules = allowFFI
        options.modulePaths = modulePath + settings.configuredModulePaths
        options.luaPath = LuaPath.value
        options.readable = allowRead + configured.paths(.read)
        options.writable = allowWrite + configured.paths(.write)
        options.connectable = allowNet + configured.networks
        options.programs = configured.programs
        options.programApproved = configured.approve
        options.logLevel = settings.logLevel
        options.logForm = logFormat
        options.bundles = bundles(of: located)
        options.watchesInitScript = watch
        options.tracesLifeCycle = traceLifecycle
        options.callbackLimit = callbackTime.map(Self.duration) ?? options.callbackLimit
        options.backgroundLimit = backgroundTime.map(Self.duration) ?? options.backgroundLimit
        options.graceLimit = Self.duration(settings.grace)
        options.allowsRunning = allowRun
        options.acceptsAttachments = true
        // Far above what any stop takes on a slow machine.
        if hasProcess {
            options.watchdog = StopWatchdog.Plan(patience: stopPatience ?? 5, report: CommandFailure.end(overdue:))
        }
        options.kernelFence = requireSandbox ? .required : asks || onlyPathFence ? .off : .ifAvailable
        options.setPathFence(!onlyKernelFence)
        return options
    }
}

extension HostOptions {
    /// The address of the shared collection; nil for the container's own items.
    var sharedAddress: String? {
        (shared ?? ProcessEnvironment.value("CUBBY_SHARED")).flatMap { $0.isEmpty ? nil : $0 }
    }

    /// Seconds of a command line as a duration, which traps beyond 10^20 of them.
    private static func duration(_ seconds: Double) -> Duration { .seconds(min(seconds, 1e18)) }

    /// The user's own resource folder, then the one installed with the program.
    func bundles(of container: ApplicationContainer) -> [String] {
        let own = bundle ?? ProcessEnvironment.value("CUBBY_BUNDLE").flatMap { $0.isEmpty ? nil : $0 }
        let program = ProgramPath.current.map(PathText.parent(of:))
        // Beside a temporary container, other users could create the folder.
        return [own ?? (container.isTemporary ? nil : container.bundle)].compactMap { $0 }
            + (program.map { [PathText.join($0, "../share/cubby/bundle")] } ?? [])
    }
}

extension StandardErrorLogHandler.Form: ExpressibleByArgument {
    public init?(argument: String) {
        let forms: [String: Self] = ["bare": .bare, "nslog": .nsLog, "json": .json, "journal": .journal]
        guard let form = forms[argument] else { return nil }
        self = form
    }
}

/// The variable by which users of Lua name the folders of their modules.
enum LuaPath {
    /// The templates of `LUA_PATH_5_4`, else of `LUA_PATH`; nil without any.
    static var value: String? {
        ["LUA_PATH_5_4", "LUA_PATH"].lazy.compactMap { ProcessEnvironment.value($0) }.first.flatMap {
            $0.isEmpty ? nil : $0
        }
    }
}

/// A host's behavior while the server of its shared collection does not answer.
enum OfflineMode: String, ExpressibleByArgument { case read, queue }

// Explicit strings: by default the library creates the cases' key paths at each start.

extension CommitDurability: ExpressibleByArgument {
    public static var allValueStrings: [String] { allCases.map { $0.rawValue } }
    public static var allValueDescriptions: [String: String] { [:] }
}

extension Logger.Level: @retroactive ExpressibleByArgument {
    public static var allValueStrings: [String] { allCases.map { $0.rawValue } }
    public static var allValueDescriptions: [String: String] { [:] }
}
