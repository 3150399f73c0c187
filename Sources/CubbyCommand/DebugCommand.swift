import Application
import ArgumentParser
import DebugAdapter
import Files
import Glibc

/// `cubby debug FILE --dap`: a script under an editor's debugger.
struct DebugCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "debug", _superCommandName: MainCommand.name,
        abstract: "Run a script under an editor's debugger, or attach the editor to a running host.",
        discussion: """
            An editor starts this command and speaks the Debug Adapter Protocol on its standard streams, or with \
            --listen on a Unix socket or a local port. cubby init writes the settings of Visual Studio Code and Neovim.
            """)

    @OptionGroup var host: HostOptions

    @Flag(help: "Speak the Debug Adapter Protocol.")
    var dap = false

    @Option(
        help: ArgumentHelp(
            "Wait for the editor on a Unix socket, a path with a slash, or on a port of 127.0.0.1 (0: a free one), where its launch or attach has to have the token that standard error shows.",
            valueName: "port"))
    var listen: String?

    @Argument(help: "The script (default: named by the editor).")
    var file: String?

    // Options may follow the file; those of the script follow --.
    @Argument(help: "The script's arguments, in `arg` and `…`; after -- also options.")
    var arguments: [String] = []

    func validate() throws {
        guard dap else {
            throw ValidationError(
                "cubby debug is for editors: give --dap. At the prompt, cubby -i FILE, :break and :debug are the debugger."
            )
        }
        if let listen, DebugDoor.Place(listen) == nil {
            throw ValidationError("--listen takes a port of 127.0.0.1, or the path of a Unix socket with a slash.")
        }
    }

    func run() throws {
        // Until there is a host, a signal simply ends this process.
        SignalMask.restore()
        let (adapter, target) = try arrival()
        switch target {
        case .program(let launch): try run(launch, adapter)
        case .host(let container): try attach(to: container ?? host.container, adapter)
        case nil: return
        }
    }

    /// The client that has chosen a target, or has left without one.
    private func arrival() throws -> (DebugAdapterServer, DebugTarget?) {
        do throws(FileError) {
            guard let place = listen.flatMap(DebugDoor.Place.init) else {
                let adapter = DebugAdapterServer(try DebugConnection.standardStreams())
                return (adapter, adapter.awaitTarget(program: file, arguments: arguments))
            }
            let door = try DebugDoor(place)
            CommandFailure.say("waiting for a debugger on \(door.text)")
            return try door.admit(program: file, arguments: arguments)
        } catch {
            throw CommandFailure.exit(error)
        }
    }

    private func run(_ launch: DebugLaunch, _ adapter: DebugAdapterServer) throws {
        SignalMask.blockAtLaunch()
        var status = ExitStatus.usage.rawValue
        do {
            if let folder = launch.workingDirectory, chdir(folder) != 0 {
                throw CommandFailure.exit(FileError(.open, folder, code: errno))
            }
            try ScriptSession(
                try launch.options.map { try HostOptions.parse($0) } ?? host, source: .file(launch.program),
                arguments: launch.arguments, staysAtPrompt: false
            ).run(under: adapter)
        } catch let code as ExitCode {
            status = code.rawValue
        } catch {
            CommandFailure.say(MainCommand.message(for: error))
        }
        adapter.end(status: status)
        throw ExitCode(status)
    }

    private func attach(to path: String?, _ adapter: DebugAdapterServer) throws {
        let container = try ContainerArgument.locate(
            path, orSay: "is a new container for each run: attach to one that runs by its folder")
        do {
            adapter.relay(to: try AttachCommand.connect(to: container), showing: try AttachCommand.key())
        } catch {
            let reason = "no process that takes attachments runs \(container.displayPath)"
            adapter.end(status: ExitStatus.inputOutput.rawValue, reason: reason)
            throw error
        }
    }
}
