import Application
import ArgumentParser
import Cubby
import DebugAdapter
import Files
import Glibc
import Items
import Jupyter
import LineEditor
import Lua
import REPL
import Scripting
import SharedItems

/// The program `cubby`, as a process and as tests run it in theirs.
@main
package enum CommandProgram {
    static func main() {
        // Before any other thread exists: the signal thread alone receives the life cycle's signals.
        SignalMask.blockAtLaunch()
        StandardStream.holdClosedDescriptors()
        exit(run(Array(ProgramArguments.current.dropFirst())))
    }

    /// The words of the command that runs, without the program's name.
    @TaskLocal static var words: [String] = []

    /// Runs a command on the standard streams of ``ProcessSurroundings/current``, and says what of its output was lost.
    ///
    /// - Parameter words: the words of the command line, without the program's.
    /// - Returns: the exit status.
    package static func run(_ words: [String]) -> Int32 { $words.withValue(words) { perform(words) } }

    private static func perform(_ words: [String]) -> Int32 {
        var status = ExitStatus.done.rawValue
        if CompletionCommand.isRequested(words) {
            CompletionCommand.answer(words)
        } else {
            do {
                var command = try MainCommand.command(of: words)
                try command.run()
            } catch let code as ExitCode {
                // The library would search all commands for the way to report the error.
                status = code.rawValue
            } catch {
                status = MainCommand.report(error)
            }
        }
        return LostOutput.status(status)
    }
}

/// `cubby`, `cubby FILE.lua ARGS…`, `cubby -e CODE`.
struct StartCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "start", _superCommandName: MainCommand.name,
        abstract: "Open the prompt, or run a script or a chunk (the default command).")

    @OptionGroup var host: HostOptions

    @Option(.code) var code: [String] = []

    @Option(.modules) var modules: [String] = []

    @Flag(.staysAtPrompt) var staysAtPrompt = false

    @Argument(parsing: .captureForPassthrough, help: "A script and its arguments.", completion: .file())
    var arguments: [String] = []

    func validate() throws {
        guard code.isEmpty, let first = arguments.first, first != "-" else { return }
        if first.hasPrefix("-") {
            let name = String(first.prefix { !$0.is("=") })
            throw ValidationError(
                "Unknown option '\(first)'\(NearestNames.hint(for: name, among: Self.optionNames)); "
                    + "options are listed by cubby help start.")
        }
        // A misspelt command; paths and scripts' names are excluded. A command's name after options is not one.
        let names = MainCommand.commandNames
        guard first.allSatisfy({ $0.isLetter || $0.is("-") }), !names.contains(first), !PosixFileLayer().exists(first)
        else { return }
        let hint = NearestNames.hint(for: first, among: names)
        guard hint.isEmpty else { throw ValidationError("There is no command and no file '\(first)'\(hint)") }
    }

    /// The options listed in the help.
    private static var optionNames: [String] {
        MainCommand.helpMessage(for: Self.self).split { !$0.isLetter && !$0.is("-") }.map(String.init)
            .filter { $0.hasPrefix("--") && $0.count > 2 }
    }

    func run() throws {
        let source: ScriptSession.Source
        var arguments = arguments
        if !code.isEmpty {
            source = .chunks(code)
        } else if let file = arguments.first {
            source = .file(file)
            arguments.removeFirst()
        } else {
            source = isatty(StandardDescriptor.input) == 1 ? .prompt : .file("-")
        }
        try ScriptSession(
            host, source: source, arguments: arguments, modules: modules, staysAtPrompt: staysAtPrompt
        ).run()
    }
}

/// `cubby run FILE ARGS…`
struct RunCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "run", _superCommandName: MainCommand.name,
        abstract: "Run a script; - is standard input, and words after the file are the script's arguments.")

    @OptionGroup var host: HostOptions

    @Flag(name: .customShort("i"), help: "Open a prompt after the script.")
    var staysAtPrompt = false

    @Argument(help: "The script.", completion: .file())
    var file: String

    @Argument(parsing: .captureForPassthrough, help: "The script's arguments, in `arg` and `…`.")
    var arguments: [String] = []

    func run() throws {
        try ScriptSession(host, source: .file(file), arguments: arguments, staysAtPrompt: staysAtPrompt).run()
    }
}

/// Opens a host, runs the source, and ends in order with the documented exit status.
struct ScriptSession {
    enum Source {
        case prompt
        /// The prompt that leads through the chapter.
        case chapter
        case chunks([String])
        /// `-` is standard input.
        case file(String)
        /// A command's own work.
        case work(HostWork)
        /// The cells of a notebook.
        case notebook(JupyterConnection)
    }

    private let hostOptions: HostOptions
    private let source: Source
    private let arguments: [String]
    private let modules: [String]
    private let staysAtPrompt: Bool

    /// - Parameters:
    ///   - hostOptions: the options of the host.
    ///   - source: the source.
    ///   - arguments: the script's arguments.
    ///   - modules: the modules to require first.
    ///   - staysAtPrompt: whether a prompt follows.
    init(
        _ hostOptions: HostOptions, source: Source, arguments: [String] = [], modules: [String] = [],
        staysAtPrompt: Bool = false
    ) {
        self.hostOptions = hostOptions
        self.source = source
        self.arguments = arguments
        self.modules = modules
        self.staysAtPrompt = staysAtPrompt
    }

    /// Runs the session, for a debugger's client if there is one, which may restart it.
    func run(under debugger: DebugAdapterServer? = nil) throws {
        let input = try scriptOnInput()
        // A script before a prompt has the prompt's fence; until the prompt, the front end refuses consent.
        let asks = isPrompt || isNotebook || (staysAtPrompt && isatty(StandardDescriptor.input) == 1)
        let memory = try makeMemoryContainer()
        defer { memory?.remove() }
        var options = try hostOptions.scriptHostOptions(memory, asks: asks)
        options.isInteractive = asks
        if case .notebook(let connection) = source { options.listenedPorts = connection.listenedPorts }
        let folder = WorkingDirectory.path ?? "/"
        if case .file(let path) = source, Self.descriptor(of: path) == nil {
            // Naming a script is consent to read what lies beside it: its modules and its data.
            let scriptFolder = PathText.parent(of: PathText.absolute(path, from: folder))
            options.readable += [path, scriptFolder]
            options.modulePaths.insert(scriptFolder, at: 0)
        }
        // Naming a module is consent to read it in its folder.
        if !modules.isEmpty { options.modulePaths.append(folder) }
        // Naming a file or folder is consent to read it.
        options.readable += arguments.filter {
            !$0.isEmpty && Self.descriptor(of: $0) == nil && PosixFileLayer().exists($0)
        }
        var status: Int32
        repeat {
            status = try run(chunks(input), &options, debugger)
        } while debugger?.restarts ?? false
        throw ExitCode(status)
    }

    /// The texts to run, with their names.
    private func chunks(_ input: [UInt8]) throws -> [(bytes: [UInt8], name: String)] {
        var chunks: [(bytes: [UInt8], name: String)] = modules.map {
            (Array("local name = ... _G[name] = require(name)".utf8), "=(-l \($0))")
        }
        switch source {
        case .prompt, .chapter, .work, .notebook: break
        case .chunks(let code): chunks += code.map { (Array($0.utf8), Self.commandLine) }
        case .file(let path) where Self.descriptor(of: path) != nil:
            chunks.append((input, path == "-" ? "=stdin" : "=" + path))
        case .file(let path):
            let bytes = try read { () throws(FileError) in try PosixFileLayer().contents(of: path, limit: 256 << 20) }
            chunks.append((bytes, "@" + path))
        }
        return chunks
    }

    /// Opens a host, runs the texts, and ends it.
    ///
    /// - Returns: the exit status.
    private func run(
        _ chunks: [(bytes: [UInt8], name: String)], _ options: inout ScriptHostOptions, _ debugger: DebugAdapterServer?
    ) throws -> Int32 {
        var spare: MemoryContainer?
        defer { spare?.remove() }
        let (host, denial) = try open(options, &spare)
        options.kernelABI = host.fences.kernelABI
        let debugServer = DebugServer(host, key: host.socket?.key)
        defer { debugServer.stop() }
        let attachments = AttachServer(host) { debugServer.accept($0) }
        defer { attachments?.stop() }
        let pictures = ScriptPictures(host, usesColor: !hostOptions.noColor)
        host.frontEnd = pictures
        // The host holds it weakly.
        defer { withExtendedLifetime(pictures) {} }
        let kernel = try makeKernel(host)
        kernel?.denial = denial
        defer { kernel?.close() }
        let debugged = debugger?.begin(host)
        defer { debugger?.leave() }
        if let debugger, !debugger.startsProgram {
            if host.exitCode == nil {
                CommandFailure.say("the debugger's client was gone before its configuration was done: nothing starts")
                host.terminate(ExitStatus.inputOutput.rawValue, cause: .eof, explicitly: false)
            }
            return host.exitCode ?? ExitStatus.inputOutput.rawValue
        }
        host.launch()
        debugged?.programWillRun()
        var status = ExitStatus.done.rawValue
        var isWatched = false
        for (index, chunk) in chunks.enumerated() where host.exitCode == nil && status == 0 {
            let module = modules.indices.contains(index) ? modules[index] : nil
            status = run(chunk.bytes, chunk.name, module.map { [$0] } ?? arguments, on: host)
        }
        if case .work(let work) = source, host.exitCode == nil, status == 0 {
            let error = work.run(arguments, on: host)
            status = failure(error, error.map(work.status) ?? .done, on: host)
        }
        if let kernel, host.exitCode == nil {
            isWatched = true
            kernel.run()
        } else if host.exitCode == nil, isPrompt || (staysAtPrompt && status != ExitStatus.interrupted.rawValue) {
            isWatched = isatty(StandardDescriptor.input) == 1
            let prompt = HostPrompt(
                host, usesColor: !hostOptions.noColor, reportsFocus: hostOptions.focusEvents, isChapter: isChapter)
            // A user has seen the script's error.
            if !isWatched { prompt.endStatus = status }
            prompt.run()
            status = ExitStatus.done.rawValue
        }
        host.terminate(status, cause: .eof, explicitly: false)
        return ExitStatus.ofSession(host, script: status, isStrict: hostOptions.strict, isWatched: isWatched)
    }

    private func makeMemoryContainer() throws -> MemoryContainer? {
        try ContainerArgument.isMemory(hostOptions.container) ? Self.makeContainer() : nil
    }

    private static func makeContainer() throws -> MemoryContainer {
        do throws(FileError) { return try MemoryContainer() } catch { throw CommandFailure.exit(error) }
    }

    /// Opens the host. A notebook whose container is another's gets an empty one, in which its cells are refused: what a
    /// kernel says that does not start, nobody sees.
    ///
    /// - Parameters:
    ///   - options: the host's.
    ///   - spare: becomes the empty container, which the caller removes.
    /// - Returns: the host, and why cells are refused.
    /// - Throws: the exit status, after the message.
    private func open(
        _ options: ScriptHostOptions, _ spare: inout MemoryContainer?
    ) throws -> (ScriptHost, denial: String?) {
        do { return (try Self.open(options), nil) } catch {
            guard isNotebook, !options.isReadOnly, let holder = FolderLock.holder(of: options.container.path) else {
                throw error
            }
            let problem = FolderLockError.inUse(path: options.container.path, holder: holder)
            let container = try Self.makeContainer()
            spare = container
            var options = options
            (options.container, options.shared) = (container.container, nil)
            options.persistence = { _ in MemoryPersistence() }
            return (try Self.open(options), "\(problem.message). Restart this kernel when the other has ended")
        }
    }

    /// The kernel, listening before the application is launched; nil for another source.
    private func makeKernel(_ host: ScriptHost) throws -> NotebookKernel? {
        guard case .notebook(let connection) = source else { return nil }
        let kernel: NotebookKernel
        do throws(FileError) { kernel = NotebookKernel(host, try JupyterQueue()) } catch {
            throw CommandFailure.exit(error)
        }
        do throws(JupyterError) { try kernel.listen(to: connection) } catch {
            throw CommandFailure.exit(.unavailable, error.message)
        }
        return kernel
    }

    private var isChapter: Bool { if case .chapter = source { true } else { false } }
    private var isNotebook: Bool { if case .notebook = source { true } else { false } }
    private var isPrompt: Bool { if case .prompt = source { true } else { isChapter } }

    private func run(_ bytes: [UInt8], _ name: String, _ arguments: [String], on host: ScriptHost) -> Int32 {
        host.sources.remember(String(decoding: bytes, as: UTF8.self), as: String(name.dropFirst()))
        setArguments(of: name, on: host)
        let values = arguments.map(LuaValue.text)
        let isEntry = name == Self.commandLine
        let start = MonotonicTime.now()
        let result: Result<[LuaValue], LuaError>
        do throws(LuaError) {
            // An expression or a call as at the prompt, whose values are shown.
            result =
                isEntry
                ? host.run(try Evaluator.function(of: bytes, name: name, in: host.state), values)
                : host.run(bytes, name: name, arguments: values)
        } catch { result = .failure(error) }
        switch result {
        case .success(let results):
            if isEntry { show(results, MonotonicTime.now().seconds(since: start), on: host) }
            return 0
        case .failure(let error): return failure(error, .scriptError, on: host)
        }
    }

    /// Reports an error, if any.
    ///
    /// - Returns: the exit status: the one given, unless the error is an interruption.
    private func failure(_ error: LuaError?, _ status: ExitStatus, on host: ScriptHost) -> Int32 {
        guard let error, host.exitCode == nil else { return ExitStatus.done.rawValue }
        if error.kind == .cancelled {
            host.report("cubby: interrupted")
            return ExitStatus.interrupted.rawValue
        }
        if isEndOfOutput(error) { return CommandFailure.outputStatus.rawValue }
        host.report("cubby: \(ErrorText.describe(error, sources: host.sources))")
        return status.rawValue
    }

    /// Whether an error is standard output's: the loss is said at the end, and a closed pipe not at all. A script's own
    /// error is reported like any other.
    private func isEndOfOutput(_ error: LuaError) -> Bool {
        let isWork = if case .work = source { true } else { false }
        guard isWork || StandardStream.output.isAbandoned else { return false }
        // io.write gives Lua's text, to which assert adds the place.
        return CommandFailure.isOfOutput(error.underlying) || error.message.hasSuffix(SystemErrorText.describe(EPIPE))
    }

    /// Writes a chunk's values in the prompt's format, without colours; whole where no terminal is to be filled.
    private func show(_ values: [LuaValue], _ seconds: Double, on host: ScriptHost) {
        guard !values.isEmpty, host.exitCode == nil, !host.isReportOfOutput(values) else { return }
        var printer = ValuePrinter(host)
        if let size = TerminalSize(descriptor: StandardDescriptor.output) {
            (printer.columns, printer.rows) = (size.columns, size.rows)
        } else {
            printer.isWhole = true
        }
        host.write(Array(printer.text(values, seconds: seconds).utf8))
    }

    private static let commandLine = "=(command line)"

    /// Lua's convention: the script's name at 0, its arguments from 1.
    private func setArguments(of name: String, on host: ScriptHost) {
        let table = host.state.makeTable(array: arguments.count, fields: 1)
        table[0] = .text(String(name.dropFirst()))
        for (index, argument) in arguments.enumerated() { table[index + 1] = .text(argument) }
        host.state.globals["arg"] = .table(table)
    }

    // MARK: Errors before a script runs

    /// Opens a host.
    ///
    /// - Throws: the exit status, after the message.
    static func open(_ options: ScriptHostOptions) throws -> ScriptHost {
        do {
            return try ScriptHost(options)
        } catch let error as FolderLockError {
            guard case .file(let cause) = error else {
                throw CommandFailure.exit(
                    error, advice: ", --read-only reads its last state, and --container names another")
            }
            throw CommandFailure.exit(cause, advice: advice(on: cause, options.container))
        } catch let error as LandlockError {
            throw CommandFailure.exit(.unavailable, "--require-sandbox: \(error.message)")
        } catch let error as FileError {
            throw CommandFailure.exit(error, advice: advice(on: error, options.container))
        } catch let error as SharedError {
            throw SharedArgument.failure(error)
        } catch let error as StoreError {
            if let error = error.cause as? FileError, error.isMisplaced { throw CommandFailure.exit(error) }
            let isAway = error.code == .inputOutput || error.code == .disconnected
            let help = (error.cause as? FileError).map { advice(on: $0, options.container) } ?? ""
            throw CommandFailure.exit(isAway ? .inputOutput : .badData, error.message + help)
        }
    }

    /// The advice for a container that is readable but not writable.
    private static func advice(on error: FileError, _ container: ApplicationContainer) -> String {
        guard [EROFS, EACCES, EPERM, ENOSPC, EDQUOT].contains(error.code),
            access(container.documents, R_OK | X_OK) == 0
        else { return "" }
        var file = stat()
        let isForeign = lstat(error.path, &file) == 0 && file.st_uid != geteuid()
        let owner = isForeign ? "; it is not yours: sudo chown \"$(id -u)\" \(error.path) makes it so" : ""
        return owner + "; --read-only opens the container and changes nothing"
    }

    private func read(_ body: () throws(FileError) -> [UInt8]) throws -> [UInt8] {
        do { return try body() } catch { throw CommandFailure.exit(.inputOutput, error.message) }
    }

    /// The script on standard input or in another descriptor; empty for another source. There is nothing to save yet:
    /// signals end and stop the process as any other.
    private func scriptOnInput() throws -> [UInt8] {
        guard case .file(let path) = source, let descriptor = Self.descriptor(of: path) else { return [] }
        SignalMask.restore()
        defer { SignalMask.blockAtLaunch() }
        return try read { () throws(FileError) in
            try PosixFileLayer().contents(
                of: OpenFile(descriptor: descriptor, path: path == "-" ? "standard input" : path), limit: 256 << 20)
        }
    }

    /// The open descriptor that a word of the command line names, as shells do for `<(…)`; nil for a file.
    private static func descriptor(of path: String) -> Int32? {
        path == "-" ? StandardDescriptor.input : StandardDescriptor.descriptor(of: path)
    }
}

/// A command's own work in Lua. Errors show no source line, since the user did not write it.
struct HostWork {
    let chunk: [UInt8]
    let name: String
    /// The exit status of an error.
    let status: (LuaError) -> ExitStatus
    /// Makes a function of the command's own, the chunk's first argument; nil for none.
    let function: ((ScriptHost) -> LuaFunction)?
    /// Reports the results.
    let report: ([LuaValue], ScriptHost) -> Void

    init(
        _ chunk: String, name: String, status: @escaping (LuaError) -> ExitStatus = { _ in .scriptError },
        function: ((ScriptHost) -> LuaFunction)? = nil, report: @escaping ([LuaValue], ScriptHost) -> Void
    ) {
        self.function = function
        self.chunk = Array(chunk.utf8)
        self.name = name
        self.status = status
        self.report = report
    }

    /// Runs the chunk.
    ///
    /// - Returns: nil on success.
    func run(_ arguments: [String], on host: ScriptHost) -> LuaError? {
        let functions = [function?(host)].compactMap { $0.map(LuaValue.function) }
        switch host.run(chunk, name: "=" + name, arguments: functions + arguments.map(LuaValue.text)) {
        case .success(let results):
            report(results, host)
            return nil
        case .failure(var error):
            // The place is in this chunk, which the user did not write.
            if let place = ErrorText.place(in: error.message), place.chunk == name {
                error.message.removeFirst("\(name):\(place.line): ".count)
            }
            error.traceback = nil
            return error
        }
    }
}
