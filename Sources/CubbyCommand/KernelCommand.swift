import Application
import ArgumentParser
import Files
import Glibc
import Jupyter
import PropertyList

/// `cubby kernel`: the kernel of notebooks.
struct KernelCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "kernel", abstract: "Serve a notebook of Jupyter, or register this program as its kernel.",
        discussion: """
            cubby kernel install --user registers the kernel; Jupyter's front ends then start it as cubby kernel -f FILE, \
            with the options that were given to install.
            """,
        subcommands: [KernelServeCommand.self, KernelInstallCommand.self], defaultSubcommand: KernelServeCommand.self)
}

/// `cubby kernel -f FILE`: serves the front ends of a connection file.
struct KernelServeCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "serve", abstract: "Serve the front ends of a connection file.")

    @OptionGroup var host: HostOptions

    @Option(
        name: .customShort("f"),
        help: ArgumentHelp("The connection file, which the front end has written.", valueName: "file"),
        completion: .file())
    var connection: String

    func run() throws {
        let read: JupyterConnection
        do {
            read = try JupyterConnection(json: try PosixFileLayer().contents(of: connection, limit: 1 << 20))
        } catch {
            if let error = error as? FileError { throw CommandFailure.exit(error) }
            throw CommandFailure.exit(.badData, "\(connection): \(error)")
        }
        // Before anything is opened: without the library there is nothing to serve.
        do { _ = try MessagingLibrary() } catch { throw CommandFailure.exit(.unavailable, "\(error)") }
        try ScriptSession(host, source: .notebook(read)).run()
    }
}

/// `cubby kernel install`: writes what Jupyter's front ends read of a kernel.
struct KernelInstallCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "install", abstract: "Register this program as a kernel.",
        discussion: "Further options are those of each notebook's host, as cubby help start lists them.")

    @Flag(help: "For this user (the default unless root installs): in $JUPYTER_DATA_DIR, else ~/.local/share/jupyter.")
    var user = false

    @Option(help: ArgumentHelp("The kernel's name: several have options of their own.", valueName: "name"))
    var name = "cubby"

    @Argument(parsing: .allUnrecognized, help: "Options of the host.")
    var options: [String] = []

    /// The host's options whose values are paths.
    private static let paths = ["--container", "--allow-read", "--allow-write", "--module-path", "--bundle"]
    private static let signs = Array("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-".utf8)

    func validate() throws {
        guard !name.isEmpty, name.utf8.allSatisfy(Self.signs.contains) else {
            throw ValidationError("--name takes letters without accents, digits, and the signs . _ -")
        }
        _ = try HostOptions.parse(options)
    }

    func run() throws {
        SignalMask.restore()
        let folder = PathText.join(try root(), "kernels/\(name)")
        guard let program = ProgramPath.current else {
            throw CommandFailure.exit(.unavailable, "the program's own path is not known")
        }
        let words = [program, "kernel"] + (try absoluteOptions()) + ["-f", "{connection_file}"]
        let specification: PropertyListFields = [
            "argv": .array(words.map(PropertyListValue.string)), "language": .string("lua"),
            "display_name": .string(name == "cubby" ? "Cubby" : "Cubby (\(name))"),
            "interrupt_mode": .string("message"), "metadata": .fields(["debugger": .boolean(false)]),
        ]
        do {
            let files = PosixFileLayer()
            try files.makeDirectories(folder, permissions: 0o755)
            let json = try PropertyListValue.fields(specification).json(isPretty: true)
            try AtomicFile.write(json + [0x0A], to: PathText.join(folder, "kernel.json"), using: files)
        } catch let error as FileError { throw CommandFailure.exit(error) }
        Report.line("the kernel \(name) is in \(folder)")
    }

    /// The host's options with absolute paths: a notebook is started in another folder.
    private func absoluteOptions() throws -> [String] {
        var words: [String] = []
        for word in options {
            // `--container=DIR` is two words.
            let name = Self.paths.first { word.hasPrefix($0 + "=") }
            let value = String(word.dropFirst(name.map { $0.utf8.count + 1 } ?? 0))
            let isPath = (name ?? words.last).map(Self.paths.contains) ?? false
            words += [name, isPath && value != MemoryContainer.name ? try absolute(value) : value].compactMap(\.self)
        }
        return words
    }

    /// The folder that Jupyter reads.
    private func root() throws -> String {
        guard user || geteuid() != 0 else { return "/usr/local/share/jupyter" }
        if let folder = ProcessEnvironment.value("JUPYTER_DATA_DIR"), !folder.isEmpty { return try absolute(folder) }
        guard let home = HomeFolder.path else {
            throw CommandFailure.exit(.usage, "there is no home folder: say with JUPYTER_DATA_DIR where")
        }
        return PathText.join(home, ".local/share/jupyter")
    }

    private func absolute(_ path: String) throws -> String { try ItemFileArgument.absolute(path) }
}
