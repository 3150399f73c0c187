import Application
import ArgumentParser
import Files

/// The container whose configuration a command changes.
struct ConfigTarget: ParsableArguments {
    @Option(help: .container, completion: .container)
    var container: String?

    func locate() throws -> Container {
        try ContainerArgument.locate(container, orSay: "is a new container for each run: give the run its options")
    }

    /// The file of the container's configuration; a missing container is created.
    ///
    /// - Throws: the exit status.
    func file() throws -> ConfigurationFile {
        SignalMask.restore()
        let container = try locate()
        do {
            guard let folder = ConfigurationFolder.locate() else { throw ConfigurationError.noHome }
            try container.create()
            return try ConfigurationFile(for: container, in: folder)
        } catch let error as ConfigurationError {
            throw CommandFailure.exit(error, container)
        } catch let error as FileError {
            throw CommandFailure.exit(error)
        }
    }

    /// Changes the configuration.
    ///
    /// - Throws: the exit status.
    func update<Result>(
        _ file: ConfigurationFile, approvesAll: Bool = false, _ body: (inout Configuration) -> Result
    ) throws -> Result {
        do throws(ConfigurationError) { return try file.update(approvesAll: approvesAll, body) } catch {
            throw CommandFailure.exit(error, try locate())
        }
    }
}
