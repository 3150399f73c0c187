import Application
import ArgumentParser
import CPlatform
import Files
import Glibc
import Wording

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

    /// Reports a container that cannot be locked.
    static func exit(_ error: FolderLockError) -> ExitCode {
        switch error {
        case .file(let error): return exit(error)
        case .inUse:
            let advice = "; --read-only opens it beside, --container names another"
            return exit(.containerInUse, error.message + advice)
        }
    }

    /// Reports a file's error: bad data when the container has another type of file in its place.
    static func exit(_ error: FileError, advice: String = "") -> ExitCode {
        isOfOutput(error)
            ? ExitCode(outputStatus.rawValue)
            : exit(error.isMisplaced ? .badData : .inputOutput, error.message + advice)
    }

    /// Reports a configuration that cannot be used; changes to it require approval.
    static func exit(_ error: ConfigurationError, _ container: Container) -> ExitCode {
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

    /// Writes a message to standard error; data in it must be escaped already.
    static func say(_ message: String) {
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
        let named = path.flatMap { $0.isEmpty ? nil : $0 } ?? Environment.value("CUBBY_CONTAINER")
        return named == MemoryContainer.name
    }

    /// Finds a persistent container, for a command that needs one.
    ///
    /// - Parameters:
    ///   - path: the option's value.
    ///   - refusal: the message for a temporary container.
    /// - Returns: the container, which need not exist.
    /// - Throws: the exit status, after the message.
    static func locate(_ path: String?, orSay refusal: String) throws -> Container {
        if isMemory(path) { throw CommandFailure.exit(.usage, "\(MemoryContainer.name) \(refusal)") }
        return try locate(path)
    }

    static func locate(_ path: String?) throws -> Container {
        let advice = "say with --container or CUBBY_CONTAINER where the data lives."
        guard let container = Container.locate(path) else {
            throw ValidationError("There is no home folder: \(advice)")
        }
        let isNamed = [path, Environment.value("CUBBY_CONTAINER")].contains { $0?.isEmpty == false }
        // A missing home folder is a mistake, or intended for a user without one: it is not created.
        if !isNamed, let home = HomeFolder.path, container.path.hasPrefix(home + "/"),
            !PosixFileLayer().exists(home + "/.")
        {
            throw ValidationError("The home folder \(home) is not there: \(advice)")
        }
        return container
    }
}
