import Application
import ArgumentParser
import Assistants
import ColumnEngine
import Cubby
import Files
import Glibc
import PropertyList
import REPL
import Scripting

/// `cubby mcp`: the tools of a container for assistants, by the Model Context Protocol on the standard streams.
struct AssistantCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "mcp", _superCommandName: MainCommand.name,
        abstract: "Serve an assistant by the Model Context Protocol: scripts, queries, SQL and the reference.",
        discussion: """
            An assistant's program starts this command and speaks on its standard streams. Scripts are dry runs, of \
            which nothing is kept, unless --allow-changes is given. Paths are those that cubby config has granted.
            """)

    @Option(help: .container, completion: .container)
    var container: String?

    @Flag(help: "Let scripts change items and granted folders, where the assistant asks for it; and undo.")
    var allowChanges = false

    @Flag(name: .customLong("no-init"), help: "Do not run Library/Scripts/init.lua.")
    var noInit = false

    /// The part of a process that this command starts.
    @Option(name: .customLong("call"), help: ArgumentHelp(visibility: .hidden))
    var role: String?

    func run() throws {
        guard ProcessEnvironment.value("CUBBY_SHARED")?.isEmpty ?? true else {
            throw CommandFailure.exit(.usage, "cubby mcp serves a container's own items: unset CUBBY_SHARED")
        }
        let located = try ContainerArgument.locate(
            container, orSay: "is a new container for each run: name one that stays")
        SignalMask.restore()
        switch role.flatMap(CallRole.init) {
        case nil: try serve(located)
        case .dry?: try performDry(located)
        case .pass?: try pass(located)
        case .host?: try beHost(located)
        }
    }

    /// Serves the client of the standard streams until it is gone.
    private func serve(_ located: ApplicationContainer) throws {
        guard let program = ProgramPath.current, let folder = ConfigurationFolder.locate() else {
            throw CommandFailure.exit(.usage, "there is no home folder for the record of calls: set HOME")
        }
        Self.hideEnvironment()
        do throws(FileError) {
            let audit = try AuditFile(in: folder, container: located.path)
            let loop = try EventLoop()
            let words = ["mcp", "--container", located.path] + (noInit ? ["--no-init"] : [])
            let processes = CallProcesses(loop) { [program] + words + ["--call", $0.rawValue] }
            defer { processes.end() }
            let client = AssistantClient(loop)
            client.serve(
                AssistantServer(loop, processes, audit: audit, allowsChanges: allowChanges, send: client.send))
        } catch { throw CommandFailure.exit(error) }
    }

    /// Removes the variables that calls do not need: scripts would read the key of a service among them.
    private static func hideEnvironment() {
        let needed = [
            "HOME", "PATH", "LANG", "LC_ALL", "LC_CTYPE", "TZ", "USER", "TMPDIR", "XDG_CONFIG_HOME", "XDG_DATA_HOME",
            "CUBBY_BUNDLE", "LUA_PATH", "LUA_PATH_5_4", "MEMORY_PRESSURE_WATCH",
        ]
        let values = needed.compactMap { name in ProcessEnvironment.value(name).map { (name, $0) } }
        guard ProcessSurroundings.current.areOfProcess, clearenv() == 0 else { return }
        for (name, value) in values { setenv(name, value, 1) }
    }

    // MARK: Processes of calls

    /// The memory limit of a script in bytes, unless a lower one is set, and that of its output.
    private static let (memoryLimit, outputLimit) = (512 << 20, 1 << 20)

    private func performDry(_ located: ApplicationContainer) throws {
        let (call, input) = (try Self.readCall(), try Self.takeStreams())
        guard PosixFileLayer().exists(located.documents) else {
            throw CommandFailure.exit(.inputOutput, "there is no container at \(located.displayPath)")
        }
        var options = try options(located)
        (options.isReadOnly, options.handlesSignals) = (true, false)
        options.readable += options.writable
        (options.writable, options.connectable, options.programs) = ([], [], [])
        if ToolCalls.isScript(call) {
            options.persistence = { ScratchPersistence(ArchivePersistence(of: $0)) }
        }
        let host = try ScriptSession.open(options)
        try Self.whenStarterIsGone(input, Self.leave)
        host.launch()
        let function = ToolCalls.function(on: host, isDry: true)
        if case .failure(let error) = host.run(function, [.text(call)]) {
            throw CommandFailure.exit(.scriptError, error.message)
        }
        host.flushOutput()
    }

    private func pass(_ located: ApplicationContainer) throws {
        let (call, input) = (try Self.readCall(), try Self.takeStreams())
        try Self.whenStarterIsGone(input, Self.leave)
        let client = AttachClient(
            try AttachCommand.connect(to: located, within: 10), to: located, loop: try EventLoop(),
            key: try AttachCommand.key(), isPrompt: false
        ) { HostSilence(text: "", isSuspended: false) }
        throw ExitCode(client.greet() ?? client.run(ToolCalls.entry(for: call)))
    }

    private func beHost(_ located: ApplicationContainer) throws {
        SignalMask.blockAtLaunch()
        let error = fcntl(StandardDescriptor.error, F_DUPFD_CLOEXEC, 3)
        let input = try Self.takeStreams()
        let host = try ScriptSession.open(try options(located))
        let attachments = AttachServer(host) { close($0) }
        defer { attachments?.stop() }
        ToolCalls.install(on: host)
        // Before the launch, and on a thread: a script that never waits ends with the client, too.
        try Self.whenStarterIsGone(input) { [poster = host.loop.poster, interrupter = host.state.interrupter] in
            poster.post(.hangUp)
            interrupter.interrupt([.events, .urgent])
        }
        host.launch()
        host.write(ToolCalls.readiness)
        host.flushOutput()
        // From now on nobody reads what is written.
        for stream in [StandardDescriptor.output, StandardDescriptor.error] where error >= 0 { dup2(error, stream) }
        host.runUntilTerminated()
    }

    /// The options of the container, with the grants of its configuration.
    private func options(_ located: ApplicationContainer) throws -> ScriptHostOptions {
        let words = ["--container", located.path] + (noInit ? ["--no-init"] : [])
        var options = try HostOptions.parse(words).scriptHostOptions(nil, asks: false)
        options.memoryLimit = min(options.memoryLimit ?? .max, Self.memoryLimit)
        // A call has a limit of its own, within this one; a timer that a script has left has none.
        (options.timeLimit, options.outputLimit) = (AssistantServer.patience, Self.outputLimit)
        return options
    }

    /// Reads a call, a line of standard input.
    private static func readCall() throws -> String {
        guard let call = readLine() else { throw CommandFailure.exit(.usage, "--call is for cubby mcp itself") }
        return call
    }

    /// Takes the standard streams from scripts: what is said before an answer is the reason why there is none.
    private static func takeStreams() throws -> Int32 {
        do throws(FileError) {
            if dup2(StandardDescriptor.output, StandardDescriptor.error) >= 0 {
                return try StandardDescriptor.takeInput()
            }
            throw FileError(.open, "the standard streams", code: errno)
        } catch { throw CommandFailure.exit(error) }
    }

    /// Nobody waits for an answer, and nothing is open for writing.
    private static let leave: @Sendable () -> Void = { _exit(ExitStatus.done.rawValue) }

    /// Calls a function on a thread of its own when the starter has ended the input.
    private static func whenStarterIsGone(_ input: Int32, _ body: @escaping @Sendable () -> Void) throws {
        let isWatching = DetachedThread.start {
            var byte: UInt8 = 0
            while case let count = read(input, &byte, 1), count > 0 || count < 0 && errno == EINTR {}
            body()
        }
        if !isWatching { throw CommandFailure.exit(.unavailable, "the system gives this process no further thread") }
    }
}
