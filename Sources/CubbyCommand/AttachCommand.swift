import Application
import ArgumentParser
import Files
import Glibc
import REPL

/// `cubby attach`: a prompt on the host that runs a container.
struct AttachCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "attach", abstract: "A prompt on the host that runs this container, which goes on meanwhile.")

    @Option(
        help: ArgumentHelp("The container; CUBBY_CONTAINER or ~/.local/share/cubby if not given.", valueName: "dir"))
    var container: String?

    @Option(name: .customShort("e"), help: ArgumentHelp("Run a chunk there, and end.", valueName: "code"))
    var code: String?

    func run() throws {
        let container = try ContainerArgument.locate(container)
        let descriptor: Int32
        do { descriptor = try ContainerSocket.connect(to: container) } catch {
            let holder = FolderLock.holder(of: container.path)
            let reason =
                holder.map { "\($0.text) has it, but takes no attachments" }
                ?? "no process runs \(container.displayPath)"
            guard error.code == ENOENT || error.code == ECONNREFUSED else { throw CommandFailure.exit(error) }
            throw CommandFailure.exit(.inputOutput, "cannot attach: \(reason)")
        }
        let loop = try EventLoop()
        let client = try AttachClient(descriptor, loop: loop)
        if let code {
            // Ctrl-C ends this process, and its end stops what runs there.
            SignalMask.restore()
            throw ExitCode(client.run(code))
        }
        let signals = try SignalSource(poster: loop.poster)
        defer { signals.stop() }
        throw ExitCode(client.run())
    }
}
