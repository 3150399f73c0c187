public import Application
public import ArgumentParser
import Files
public import Items
public import Logging
import Scripting
import Wording

/// The options of every command with a host.
struct HostOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "The container; CUBBY_CONTAINER or ~/.local/share/cubby if not given. :memory: is one of this run alone.",
            valueName: "dir"), completion: .container)
    var container: String?

    @Option(
        help: ArgumentHelp(
            "Work on a collection of several hosts, postgres://host/database?collection=name; CUBBY_SHARED if not given.",
            valueName: "url"))
    var shared: String?

    @Option(
        help: ArgumentHelp("This host's name for the others; the container's folder's if not given.", valueName: "name")
    )
    var hostName: String?

    @Option(
        help: ArgumentHelp(
            "While the server of a shared collection does not answer: read (items can be read), or queue (changes are kept and sent when it is back).",
            valueName: "mode"), completion: .list(["read", "queue"]))
    var offline: OfflineMode = .read

    @Flag(help: "Change nothing; another process may have the container.")
    var readOnly = false

    @Flag(name: .customLong("no-init"), help: "Leave out Library/Scripts/init.lua.")
    var noInit = false

    @Option(help: ArgumentHelp("Let scripts read a file or a folder.", valueName: "path"), completion: .file())
    var allowRead: [String] = []

    @Option(help: ArgumentHelp("Let scripts read and write a folder.", valueName: "path"), completion: .directory)
    var allowWrite: [String] = []

    @Flag(help: "Let scripts start programs (os.execute, io.popen).")
    var allowRun = false

    @Flag(help: "End unless the kernel's fence (Landlock) can be closed, and close it at the prompt, too.")
    var requireSandbox = false

    @Option(
        help: ArgumentHelp(
            "Read-only resources for `bundle`; CUBBY_BUNDLE, or the folder beside the container with .bundle at its end.",
            valueName: "dir"), completion: .directory)
    var bundle: String?

    @Flag(help: "Run Library/Scripts/init.lua again whenever it changes.")
    var watch = false

    @Flag(help: "Write each callback of the life cycle to standard error.")
    var traceLifecycle = false

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp(
            "Seconds for the handlers of didEnterBackground, or of willTerminate, and the save; 5 if not given.",
            valueName: "s"))
    var callbackTime: Double?

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp(
            "Seconds for background tasks before the process stops; 10 if not given.", valueName: "s"))
    var backgroundTime: Double?

    @Flag(
        name: .customLong("allow-ffi"),
        help: "Let require load C modules: they run outside of the sandbox and of all limits.")
    var allowFFI = false

    @Option(help: "What each commit survives: process (kill -9), if not given, or power (a power cut).")
    var durability: Durability?

    // A value may begin with a sign, so that an error reports the value rather than a missing one.
    @Option(parsing: .unconditional, help: ArgumentHelp("Megabytes that Lua may use.", valueName: "mb"))
    var memoryLimit: Int?

    @Option(parsing: .unconditional, help: ArgumentHelp("Seconds that a script may run.", valueName: "s"))
    var timeLimit: Double?

    @Flag(
        inversion: .prefixedNo,
        help: ArgumentHelp(
            "End with 1 when a handler, a timer or the final save failed, or with the script's own status."))
    var strict: Bool?

    @Option(
        help: ArgumentHelp(
            "The least important messages shown: debug, info, if not given, warning or error.", valueName: "level"))
    var logLevel: Logger.Level?

    @Option(
        help: ArgumentHelp(
            "How the log is written: bare, nslog, json or journal; what fits standard error, if not given.",
            valueName: "form"), completion: .list(["bare", "nslog", "json", "journal"]))
    var logFormat: StandardErrorLogHandler.Form?

    // Tests disable one of the sandbox's fences to check the other.

    @Flag(name: .customLong("only-path-fence"), help: ArgumentHelp(visibility: .hidden))
    var onlyPathFence = false

    @Flag(name: .customLong("only-kernel-fence"), help: ArgumentHelp(visibility: .hidden))
    var onlyKernelFence = false

    @Flag(help: "At the prompt: a window that loses the focus makes the application inactive.")
    var focusEvents = false

    @Flag(name: .customLong("no-color"), help: "No colours.")
    var noColor = false

    func validate() throws {
        if onlyPathFence, onlyKernelFence {
            throw ValidationError("--only-path-fence and --only-kernel-fence leave no fence between them: give one.")
        }
        let limits: [(Setting, String?)] = [
            (.memoryLimit, memoryLimit.map { "\($0)" }), (.timeLimit, timeLimit.map { "\($0)" }),
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
        if memory != nil { options.persistence = { MemoryPersistence(isReadOnly: $0.isReadOnly) } }
        if let url = shared ?? Environment.value("CUBBY_SHARED"), !url.isEmpty {
            if memory != nil {
                throw CommandFailure.exit(
                    .usage, "--shared needs a container that stays, which has the host's identity: name a folder")
            }
            options.shared = try SharedArgument.address(url)
            options.hostName = hostName
            options.keepsCommits = offline == .queue
        }
        options.isReadOnly = readOnly
        options.runsInitScript = !noInit
        let configured = try ConfiguredContainer(located, asks: asks)
        let settings = try SettingsInForce(self, configured.settings, in: located)
        for note in settings.notes { CommandFailure.say(VisibleText.line(note)) }
        options.durability = settings.durability
        options.memoryLimit = settings.memoryLimit.map { $0 << 20 }
        options.limitsProcess = true
        options.timeLimit = settings.timeLimit
        options.allowsNativeModules = allowFFI
        options.readable = allowRead + configured.paths(.read)
        options.writable = allowWrite + configured.paths(.write)
        options.programs = configured.programs
        options.programApproved = configured.approve
        options.logLevel = settings.logLevel
        options.logForm = logFormat
        options.bundles = bundles(of: located)
        options.watchesInitScript = watch
        options.tracesLifeCycle = traceLifecycle
        options.callbackLimit = callbackTime ?? options.callbackLimit
        options.backgroundLimit = backgroundTime ?? options.backgroundLimit
        options.allowsRunning = allowRun
        options.acceptsAttachments = true
        options.kernelFence = requireSandbox ? .required : asks || onlyPathFence ? .off : .ifAvailable
        options.setPathFence(!onlyKernelFence)
        return options
    }
}

extension HostOptions {
    /// The user's own resource folder, then the one installed with the program.
    func bundles(of container: Container) -> [String] {
        let own = bundle ?? Environment.value("CUBBY_BUNDLE").flatMap { $0.isEmpty ? nil : $0 }
        let program = ProgramPath.current.map(PathText.parent(of:))
        // Beside a temporary container, other users could create the folder.
        return [own ?? (container.isTemporary ? nil : container.bundle)].compactMap { $0 }
            + (program.map { [PathText.join($0, "../share/cubby/bundle")] } ?? [])
    }
}

extension StandardErrorLogHandler.Form: ExpressibleByArgument {
    public init?(argument: String) {
        switch argument {
        case "bare": self = .bare
        case "nslog": self = .nsLog
        case "json": self = .json
        case "journal": self = .journal
        default: return nil
        }
    }
}

/// A host's behavior while the server of its shared collection does not answer.
enum OfflineMode: String, ExpressibleByArgument { case read, queue }

// Explicit strings: by default the library creates the cases' key paths at each start.

extension Durability: ExpressibleByArgument {
    public static var allValueStrings: [String] { allCases.map { $0.rawValue } }
    public static var allValueDescriptions: [String: String] { [:] }
}

extension Logger.Level: @retroactive ExpressibleByArgument {
    public static var allValueStrings: [String] { allCases.map { $0.rawValue } }
    public static var allValueDescriptions: [String: String] { [:] }
}
