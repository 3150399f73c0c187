import ArgumentParser
import Assistants
import Cubby
import Glibc

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

    /// The process of the server that starts this one, for one call.
    @Option(name: .customLong("server"), help: ArgumentHelp(visibility: .hidden))
    var server: Int32?

    func run() throws {
        guard ProcessEnvironment.value("CUBBY_SHARED")?.isEmpty ?? true else {
            throw CommandFailure.exit(.usage, "cubby mcp serves a container's own items: unset CUBBY_SHARED")
        }
        let located = try ContainerArgument.locate(
            container, orSay: "is a new container for each run: name one that stays")
        SignalMask.restore()
        if let server { try perform(on: located, for: server) } else { try serve(located) }
    }

    /// Serves the client of the standard streams until it is gone.
    private func serve(_ located: ApplicationContainer) throws {
        guard let program = ProgramPath.current, let folder = ConfigurationFolder.locate() else {
            throw CommandFailure.exit(.usage, "there is no home folder for the record of calls: set HOME")
        }
        let words =
            [program, "mcp", "--container", located.path, "--server", "\(getpid())"] + (noInit ? ["--no-init"] : [])
        do throws(FileError) {
            let audit = try AuditFile(in: folder, container: located.path)
            let loop = try EventLoop()
            let processes = CallProcesses(loop, words)
            defer { processes.end() }
            let output = OutputQueue(StreamDescriptor(StandardDescriptor.output), on: loop)
            let server = AssistantServer(loop, audit: audit, allowsChanges: allowChanges, starter: processes.start)
            server.serve(StreamDescriptor(StandardDescriptor.input), output)
        } catch { throw CommandFailure.exit(error) }
    }

    /// Performs a call: on a host that keeps nothing; with `--allow-changes` on the container's, as which this process
    /// stays, or to which it passes the call on.
    private func perform(on located: ApplicationContainer, for server: Int32) throws {
        guard let call = readLine() else { throw CommandFailure.exit(.usage, "--server is for cubby mcp itself") }
        // The call's stream stays open as long as this process: its end tells of it. What is said before an answer is the
        // reason why there is none.
        do throws(FileError) { _ = try StandardDescriptor.takeInput() } catch { throw CommandFailure.exit(error) }
        let log = fcntl(StandardDescriptor.error, F_DUPFD_CLOEXEC, 3)
        dup2(StandardDescriptor.output, StandardDescriptor.error)
        guard allowChanges || PosixFileLayer().exists(located.documents) else {
            throw CommandFailure.exit(.inputOutput, "there is no container at \(located.displayPath)")
        }
        if allowChanges { SignalMask.blockAtLaunch() }
        let host: ScriptHost
        do { host = try ScriptSession.open(try options(located)) } catch let status as ExitCode
            where allowChanges && status.rawValue == ExitStatus.containerInUse.rawValue
        {
            // The host of the container takes the call as an entry.
            try hangUp(with: server)
            let patience = AssistantServer.patience.components.seconds
            let words = ["--container", located.path, "--timeout", "\(patience)", "-e", ToolWork.entry(for: call)]
            return try AttachCommand.parse(words).run()
        }
        let writing = allowChanges ? "cubby config grant write DIR grants it" : "a dry run writes no files"
        host.fence.advise { $0 == .read ? "cubby config grant read DIR grants it" : writing }
        let attachments = AttachServer(host) { close($0) }
        defer { attachments?.stop() }
        let function = ToolWork.function(on: host)
        // Before the launch: a script that never waits ends with the client, too.
        try hangUp(with: server)
        host.launch()
        if case .failure(let error) = host.run(function, [.text(call)]), error.kind != .cancelled {
            throw CommandFailure.exit(.scriptError, error.message)
        }
        host.flushOutput()
        // What a script has left is not waited for.
        guard allowChanges else { _exit(ExitStatus.done.rawValue) }
        // From now on nobody reads what is written.
        for stream in [StandardDescriptor.output, StandardDescriptor.error] where log >= 0 { dup2(log, stream) }
        host.runUntilTerminated()
    }

    /// Hangs this process up when the server ends, as the end of a terminal does.
    private func hangUp(with server: Int32) throws {
        let isWatching = ProcessEnd.notify(of: server) { kill(getpid(), SIGHUP) }
        if !isWatching { throw CommandFailure.exit(.unavailable, "the system gives this process no further thread") }
    }

    /// The options of the container, with the grants of its configuration.
    private func options(_ located: ApplicationContainer) throws -> ScriptHostOptions {
        var host = try HostOptions.parse(["--container", located.path])
        (host.noInit, host.readOnly) = (noInit, !allowChanges)
        var options = try host.scriptHostOptions(nil, asks: false)
        // Lower ones of the configuration count.
        options.memoryLimit = min(options.memoryLimit ?? .max, 512 << 20)
        // A call has a limit of its own, within this one; a timer that a script has left has none.
        options.timeLimit = AssistantServer.patience
        options.outputLimit = 1 << 20
        if allowChanges { return options }
        options.handlesSignals = false
        options.persistence = { ScratchPersistence(ArchivePersistence(of: $0)) }
        options.readable += options.writable
        (options.writable, options.connectable, options.programs) = ([], [], [])
        return options
    }
}
