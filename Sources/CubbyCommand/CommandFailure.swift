import Application
import ArgumentParser
import Files
import Wording

/// How commands end when they cannot do their work: a line on standard error, and the status of the contract.
enum CommandFailure {
    static func exit(_ status: ExitStatus, _ message: String) -> ExitCode {
        say(VisibleText.line(message))
        return ExitCode(status.rawValue)
    }

    /// Why a container could not be taken.
    static func exit(_ error: FolderLockError) -> ExitCode {
        switch error {
        case .file(let error): return exit(error)
        case .inUse:
            let advice = "; --read-only opens it beside, --container names another"
            return exit(.containerInUse, error.message + advice)
        }
    }

    /// A file's error: bad data when something else is where a file or a folder of the container's has to be.
    static func exit(_ error: FileError, advice: String = "") -> ExitCode {
        exit(error.isMisplaced ? .badData : .inputOutput, error.message + advice)
    }

    /// Writes a message to standard error; what comes from data has to be visible text already.
    static func say(_ message: String) {
        StandardErrorLogHandler.writeToStandardError("cubby: \(message)\n")
    }
}

/// The container that a command's option names.
enum ContainerArgument {
    /// Whether it is a new one in memory, of this run alone.
    static func isMemory(_ path: String?) -> Bool {
        let named = path.flatMap { $0.isEmpty ? nil : $0 } ?? Environment.value("CUBBY_CONTAINER")
        return named == MemoryContainer.name
    }

    /// A container that outlives its process, for a command that has no use for another.
    ///
    /// - Parameters:
    ///   - path: the option's value.
    ///   - refusal: why a new one in memory is none for the command.
    /// - Returns: the container, which need not exist.
    /// - Throws: the way out, with the refusal said.
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
        // A home folder that is not there is a mistake, or a user's who is to have none: it is not made.
        if !isNamed, let home = HomeFolder.path, container.path.hasPrefix(home + "/"),
            !PosixFileLayer().exists(home + "/.")
        {
            throw ValidationError("The home folder \(home) is not there: \(advice)")
        }
        return container
    }
}
