import Application
import ArgumentParser
import CPlatform
import Files
import Glibc
import Items
import Lua
import PredicateFormat
import Scripting
import Synchronization

/// The failures of commands: a line on standard error, and the documented exit status.
enum CommandFailure {
    /// Ends the process when a stop is overdue, from the watchdog's thread: the host's own thread may hold any lock.
    @Sendable
    static func end(overdue reason: String) {
        let start = cubby_tty_give_back() != 0 ? "\n" : ""
        let text =
            "\(start)cubby: \(reason). This process ends; what was committed is in the journal, later changes of the script are lost\n"
        // Without a reader nothing more can be said.
        guard cubby_write(STDERR_FILENO, text, text.utf8.count) == text.utf8.count else {
            _exit(ExitStatus.software.rawValue)
        }
        _exit(ExitStatus.software.rawValue)
    }

    static func exit(_ status: ExitStatus, _ message: String) -> ExitCode {
        say(VisibleText.line(message))
        return ExitCode(status.rawValue)
    }

    /// Reports a container that cannot be locked, with advice for the command.
    static func exit(_ error: FolderLockError, advice: String = "") -> ExitCode {
        switch error {
        case .file(let error): exit(error)
        case .inUse: exit(.containerInUse, error.message + advice)
        }
    }

    /// Reports a file's error: bad data when the container has another type of file in its place.
    static func exit(_ error: FileError, advice: String = "") -> ExitCode {
        isOfOutput(error)
            ? ExitCode(outputStatus.rawValue)
            : exit(error.isMisplaced ? .badData : .inputOutput, error.message + advice)
    }

    /// Reports a configuration that cannot be used; changes to it require approval.
    static func exit(_ error: ConfigurationError, _ container: ApplicationContainer) -> ExitCode {
        switch error {
        case .file: exit(.inputOutput, error.message)
        case .damaged: exit(.badData, error.message)
        case .exposed, .noHome, .inContainer: exit(.usage, error.message)
        case .changed:
            exit(.usage, "\(error.message). cubby --container \(container.displayPath) config approve approves it")
        }
    }

    /// Whether an error is standard output's, whose loss is said at the end of the run.
    static func isOfOutput(_ error: (any Error)?) -> Bool {
        (error as? FileError).map { $0.operation == .write && $0.path == StandardStream.output.name } ?? false
    }

    /// The status of a run that ends with standard output's error: a reader that has closed its pipe, as head does, is
    /// none.
    static var outputStatus: ExitStatus { StandardStream.output.loss == nil ? .done : .inputOutput }

    private static let lastMessage = Mutex<String?>(nil)

    /// The last message, for a client that does not see standard error.
    static var lastSaid: String? { lastMessage.withLock { $0 } }

    /// Writes a message to standard error; data in it must be escaped already.
    static func say(_ message: String) {
        lastMessage.withLock { $0 = message }
        StandardErrorLogHandler.writeToStandardError(StandardErrorLogHandler.wrapped("cubby: \(message)") + "\n")
    }
}

extension ArgumentHelp {
    /// The help of `--container`, for commands without the options of a host.
    static let container = ArgumentHelp(
        "The container (default: CUBBY_CONTAINER, else ~/.local/share/cubby).", valueName: "dir")
}

/// The container of a command's option.
enum ContainerArgument {
    /// Whether it is a temporary one in memory.
    static func isMemory(_ path: String?) -> Bool {
        let named = path.flatMap { $0.isEmpty ? nil : $0 } ?? ProcessEnvironment.value("CUBBY_CONTAINER")
        return named == MemoryContainer.name
    }

    /// Finds a persistent container, for a command that needs one.
    ///
    /// - Parameters:
    ///   - path: the option's value.
    ///   - exists: whether it has to be there.
    ///   - message: the message for a temporary container.
    /// - Returns: the container, which need not exist by default.
    /// - Throws: the exit status, after the message.
    static func locate(_ path: String?, exists: Bool = false, orSay message: String) throws -> ApplicationContainer {
        if isMemory(path) { throw CommandFailure.exit(.usage, "\(MemoryContainer.name) \(message)") }
        let container = try locate(path)
        if exists, container.isMissing {
            throw CommandFailure.exit(.inputOutput, "there is no container at \(container.displayPath)")
        }
        return container
    }

    static func locate(_ path: String?) throws -> ApplicationContainer {
        if path == "" { throw ValidationError("--container has an empty value.") }
        let advice = "say with --container or CUBBY_CONTAINER where the data lives."
        guard let container = ApplicationContainer.locate(path) else {
            throw ValidationError("There is no home folder: \(advice)")
        }
        do throws(FileError) { _ = try WorkingDirectory.absolute(container.path) } catch {
            throw CommandFailure.exit(error)
        }
        let isNamed = [path, ProcessEnvironment.value("CUBBY_CONTAINER")].contains { $0?.isEmpty == false }
        // A missing home folder is a mistake, or intended for a user without one: it is not created.
        if !isNamed, let home = HomeFolder.path, container.path.hasPrefix(home + "/"),
            !PosixFileLayer().exists(home + "/.")
        {
            throw ValidationError("The home folder \(home) is not there: \(advice)")
        }
        return container
    }
}

/// The program's exit statuses, described in docs/exit-status.md.
enum ExitStatus: Int32 {
    case done = 0
    /// A script's error, or a failure of its handlers and timers.
    case scriptError = 1
    case usage = 64
    case badData = 65
    case unavailable = 69
    /// A stop was overdue in the host's own code.
    case software = 70
    case inputOutput = 74
    case containerInUse = 75
    case interrupted = 130

    /// The exit status of a failed import or export, by its cause: the command line, the data or the disk.
    static func ofExchange(_ error: LuaError) -> ExitStatus {
        switch error.underlying {
        case let error as StoreError:
            switch error.code {
            case .unreadableFile, .invalidRow: .badData
            case .inputOutput: .inputOutput
            default: error.code.isProgrammerError ? .usage : .scriptError
            }
        case is FileError: .inputOutput
        case is FormatPredicateError: .usage
        default: error.kind == .argument ? .usage : .scriptError
        }
    }

    /// The exit status of a session whose host has ended.
    ///
    /// - Parameters:
    ///   - host: the ended host.
    ///   - script: the script's status.
    ///   - isStrict: `--strict` or `--no-strict`; nil for neither.
    ///   - isWatched: whether a user at a prompt has seen the failures.
    /// - Returns: the status.
    static func ofSession(_ host: ScriptHost, script: Int32, isStrict: Bool?, isWatched: Bool) -> Int32 {
        var status = host.exitCode ?? script
        if status == scriptError.rawValue, host.hasDeniedChangedProgram { status = usage.rawValue }
        let hasLostSave = host.saveFailure != nil
        let hasFailures = host.handlerFailureCount > 0
        let hasLostOutput = LostOutput.report(host)
        switch isStrict {
        case false?: return status
        case true?:
            if hasLostSave { return scriptError.rawValue }
            let hasFailed = hasFailures || hasLostOutput || host.hasSkippedInitScript
            return status == done.rawValue && hasFailed ? scriptError.rawValue : status
        case nil:
            if hasLostSave { return inputOutput.rawValue }
            let isExpected = isWatched || host.wasEndedBySystem
            if status == done.rawValue, hasFailures, !isExpected { return scriptError.rawValue }
            return status == done.rawValue && hasLostOutput ? inputOutput.rawValue : status
        }
    }
}

/// Messages of commands on standard output, a line each.
enum Report {
    /// Writes a line; control characters in it, from a path or an archive, are escaped.
    static func line(_ text: String) { StandardStream.output.put(VisibleText.line(text) + "\n") }
}

/// What a run could not write: said once, at its end, as one line for each stream and for the scripts' files.
enum LostOutput {
    /// Flushes the streams, says what was lost, and gives it a status.
    ///
    /// - Parameter status: the run's own.
    /// - Returns: that of failed output if the run's own is success.
    static func status(_ status: Int32) -> Int32 {
        let lines = takeLines()
        for line in lines { CommandFailure.say(line) }
        return lines.isEmpty || status != ExitStatus.done.rawValue ? status : ExitStatus.inputOutput.rawValue
    }

    /// Flushes what a host's scripts have written, and says what was lost.
    ///
    /// - Returns: whether something was lost.
    static func report(_ host: ScriptHost) -> Bool {
        host.flushOutput()
        host.state.flushFiles(isLast: true)
        var lines = takeLines()
        if let files = host.state.lostFiles {
            let error = FileError(.write, files.path, code: files.code)
            let rest = files.count > 1 ? ", nor \((files.count - 1).counted("other file"))" : ""
            lines.append("\(VisibleText.line(error.message)): the script has not closed it\(rest)")
        }
        for line in lines { host.report("cubby: \(line)") }
        return !lines.isEmpty
    }

    private static func takeLines() -> [String] {
        StandardStream.flushAll()
        return [StandardStream.output, .error].compactMap { stream in
            stream.takeLoss().map { loss in
                let error = FileError(.write, stream.name, code: loss.code)
                let written = "\(loss.written.counted("byte")) \(loss.written == 1 ? "was" : "were") written"
                return "\(error.message); \(written), \(loss.lost.grouped) \(loss.lost == 1 ? "was" : "were") not"
            }
        }
    }
}
