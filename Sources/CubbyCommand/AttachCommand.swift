import Application
import ArgumentParser
import Files
import Glibc
import REPL

/// `cubby attach`: a prompt on the running host of a container.
struct AttachCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "attach", abstract: "Open a prompt on the running host of a container.")

    @Option(help: .container, completion: .container)
    var container: String?

    @Option(
        name: .customShort("e"),
        help: ArgumentHelp("Run a chunk on the host, print its values, and exit.", valueName: "code"))
    var code: String?

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp(
            "Seconds to wait for a host that does not answer or is suspended (default: 10 without a terminal, else no limit).",
            valueName: "s"))
    var timeout: Double?

    @Flag(name: .customLong("no-color"), help: "Do not use colours.")
    var noColor = false

    func validate() throws {
        if let timeout, !(timeout > 0 && timeout <= 86400) {
            throw ValidationError("--timeout takes seconds above 0, at most 86400.")
        }
    }

    func run() throws {
        // The host uses this terminal's variables, too.
        if noColor { ProcessEnvironment.set("NO_COLOR", "1") }
        let container = try ContainerArgument.locate(
            container,
            orSay: "is a new container for each run: attach to one that runs by its folder, which app.container tells")
        // Until the host has answered, and for a chunk, Ctrl-C ends this process; the end of the connection stops the
        // entry.
        SignalMask.restore()
        // Without a terminal nobody sees that it waits, and nobody can end it.
        let isAttended = isatty(StandardDescriptor.input) == 1 && StandardStream.error.isTerminal
        let timeout = timeout ?? (isAttended ? nil : 10)
        let descriptor = try Self.connect(to: container, within: timeout)
        let loop = try EventLoop()
        let client = AttachClient(
            descriptor, to: container, loop: loop, key: try Self.key(), isPrompt: code == nil, timeout: timeout
        ) {
            Self.silence(of: container)
        }
        if let status = client.greet() { throw ExitCode(status) }
        if let code { throw ExitCode(client.run(code)) }
        SignalMask.blockAtLaunch()
        let signals = try SignalSource(poster: loop.poster)
        defer { signals.stop() }
        throw ExitCode(try client.run(signals))
    }

    /// The key that the host wants to see.
    static func key() throws -> AccessKey {
        do throws(FileError) { return try AccessKey.ofUser(in: ConfigurationFolder.locate()) } catch {
            throw CommandFailure.exit(.inputOutput, "cannot attach without the user's key: \(error.message)")
        }
    }

    /// Connects, retrying while the host's backlog is full: for `timeout` seconds at most, or without limit.
    static func connect(to container: ApplicationContainer, within timeout: Double? = nil) throws -> Int32 {
        var looks = 0
        let start = MonotonicTime.now()
        while true {
            do throws(FileError) { return try ContainerSocket.connect(to: container) } catch {
                guard error.code == EAGAIN else { throw failure(error, container) }
                looks += 1
                if let timeout, start.advanced(by: timeout) <= .now() {
                    AttachClient.giveUp(silence(of: container), after: timeout)
                    throw ExitCode(AttachClient.Status.silent)
                }
                if looks == 10, timeout == nil {
                    CommandFailure.say("\(silence(of: container).text). Waiting; Ctrl-C leaves")
                }
                usleep(100_000)
            }
        }
    }

    private static func failure(_ error: FileError, _ container: ApplicationContainer) -> ExitCode {
        let holder = FolderLock.holder(of: container.path)
        let reason =
            holder.map { "\($0.text) has it, but takes no attachments" }
            ?? "no process runs \(container.displayPath): cubby with the same --container starts one"
        guard error.code == ENOENT || error.code == ECONNREFUSED else { return CommandFailure.exit(error) }
        return CommandFailure.exit(.inputOutput, "cannot attach: \(reason)")
    }

    /// Why the host does not answer, with advice.
    private static func silence(of container: ApplicationContainer) -> HostSilence {
        guard let holder = FolderLock.holder(of: container.path) else {
            return HostSilence(text: "the host does not answer", isSuspended: false)
        }
        guard holder.isSuspended else {
            return HostSilence(text: "\(holder.text) does not answer: it is busy", isSuspended: false)
        }
        return HostSilence(
            text:
                "\(holder.text) is suspended: fg in its terminal, or kill -CONT \(holder.processIdentifier), lets it go on",
            isSuspended: true)
    }
}
