import Application
import ArgumentParser

/// How commands end when they cannot do their work: a line on standard error, and the status of the contract.
enum CommandFailure {
    static func exit(_ status: ExitStatus, _ message: String) -> ExitCode {
        say(message)
        return ExitCode(status.rawValue)
    }

    /// Writes a line to standard error.
    static func say(_ message: String) { StandardErrorLogHandler.writeToStandardError("cubby: \(message)\n") }
}

/// The container that a command's option names.
enum ContainerArgument {
    static func locate(_ path: String?) throws -> Container {
        guard let container = Container.locate(path) else {
            throw ValidationError(
                "There is no home folder: say with --container or CUBBY_CONTAINER where the data lives.")
        }
        return container
    }
}
