import Application
public import ArgumentParser
public import Logging
import Scripting
public import Stores

/// The options that every command with a host takes.
struct HostOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp("The container; CUBBY_CONTAINER or ~/.local/share/cubby if not given.", valueName: "dir"))
    var container: String?

    @Flag(help: "Change nothing; another process may have the container.")
    var readOnly = false

    @Flag(name: .customLong("no-init"), help: "Leave out Library/Scripts/init.lua.")
    var noInit = false

    @Option(help: ArgumentHelp("Let scripts read a file or a folder.", valueName: "path"))
    var allowRead: [String] = []

    @Option(help: ArgumentHelp("Let scripts read and write a folder.", valueName: "path"))
    var allowWrite: [String] = []

    @Flag(
        name: .customLong("allow-ffi"),
        help: "Let require load C modules: they run outside of the sandbox and of all limits.")
    var allowFFI = false

    @Option(help: "What each commit survives: process (kill -9) or power (a power cut).")
    var durability: Durability = .process

    @Option(help: ArgumentHelp("Megabytes that Lua may use.", valueName: "mb"))
    var memoryLimit: Int?

    @Option(help: ArgumentHelp("Seconds that a script may run.", valueName: "s"))
    var timeLimit: Double?

    @Option(
        help: ArgumentHelp("The least important messages shown: debug, info, warning or error.", valueName: "level"))
    var logLevel: Logger.Level = .info

    @Flag(name: .customLong("no-color"), help: "No colours.")
    var noColor = false

    func validate() throws {
        if let memoryLimit, !(1...1_000_000).contains(memoryLimit) {
            throw ValidationError("--memory-limit takes megabytes from 1.")
        }
        if let timeLimit, !(timeLimit > 0 && timeLimit.isFinite) {
            throw ValidationError("--time-limit takes seconds above 0.")
        }
    }

    func scriptHostOptions() throws -> ScriptHostOptions {
        guard let located = Container.locate(container) else {
            throw ValidationError(
                "There is no home folder: say with --container or CUBBY_CONTAINER where the data lives.")
        }
        var options = ScriptHostOptions(container: located)
        options.isReadOnly = readOnly
        options.runsInitScript = !noInit
        options.durability = durability
        options.memoryLimit = memoryLimit.map { $0 << 20 }
        options.timeLimit = timeLimit
        options.allowsNativeModules = allowFFI
        options.readable = allowRead
        options.writable = allowWrite
        options.logLevel = logLevel
        return options
    }
}

extension Durability: ExpressibleByArgument {}
extension Logger.Level: @retroactive ExpressibleByArgument {}
