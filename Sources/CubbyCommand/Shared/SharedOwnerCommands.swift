import Application
import ArgumentParser
import Files
import Items
import SharedItems

/// `cubby shared init URL`: creates tables, functions and the collection.
struct SharedInitCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "init", abstract: "Create the tables and a collection, as the database's owner.")

    @Argument(help: ArgumentHelp("The collection's address.", valueName: "url"))
    var url: String

    func run() throws {
        try SharedArgument.using(url) { (address) throws(SharedError) in
            let outcome = try SharedSchema.initialize(address)
            if outcome.madeSchema { Report.line("made the tables in the schema cubby") }
            Report.line(
                outcome.madeCollection
                    ? "made the collection \(address.collection); a host opens it with cubby --container DIR --shared '\(address)'"
                    : "the collection \(address.collection) is there already: nothing was changed")
        }
    }
}

/// `cubby shared migrate URL`: upgrades an older program's tables and functions to this one's.
struct SharedMigrateCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "migrate", abstract: "Upgrade the tables and functions of an older program, as their owner.")

    @Argument(help: ArgumentHelp("The address of a collection in the database.", valueName: "url"))
    var url: String

    func run() throws {
        try SharedArgument.using(url) { (address) throws(SharedError) in
            let format = try SharedSchema.migrate(address)
            Report.line("the tables are of format \(format), the functions this program's")
        }
    }
}

/// `cubby shared grant ROLE URL`: permits a role to be a host.
struct SharedGrantCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "grant", abstract: "Allow a database role to use the collections, as their owner.")

    @Argument(help: "An existing role.")
    var role: String

    @Argument(help: ArgumentHelp("The address of a collection in the database.", valueName: "url"))
    var url: String

    func run() throws {
        try SharedArgument.using(url) { (address) throws(SharedError) in
            try SharedSchema.grant(role, address)
            Report.line("\(role) reads the collections, and changes items through functions alone")
        }
    }
}

/// `cubby shared status URL`: shows the server, the collection and its hosts.
struct SharedStatusCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "status",
        abstract: "Show the server's state: the collection, its revision, its hosts, and unsafe settings.")

    @Argument(help: ArgumentHelp("The collection's address.", valueName: "url"))
    var url: String

    func run() throws {
        try SharedArgument.using(url) { (address) throws(SharedError) in
            let status = try SharedStatus(address)
            for line in status.lines { Report.line(line) }
            for line in status.advice { Report.line(line) }
        }
    }
}

/// Reads the address on the command line, and reports errors of it and of the collection.
enum SharedArgument {
    static func address(_ url: String) throws -> SharedAddress {
        do throws(SharedAddressError) { return try SharedAddress(url) } catch {
            throw CommandFailure.exit(.usage, error.description)
        }
    }

    static func using(_ url: String, _ body: (SharedAddress) throws(SharedError) -> Void) throws {
        SignalMask.restore()
        let address = try address(url)
        do throws(SharedError) { try body(address) } catch { throw failure(error) }
    }

    /// Opens the container that is a host of the collection.
    static func open(_ container: String?) throws -> OpenedContainer {
        let located = try ContainerArgument.locate(
            container, orSay: "keeps its items in the memory of its process: it cannot be a host of a shared collection"
        )
        do { return try OpenedContainer(located) } catch let error as FolderLockError {
            throw CommandFailure.exit(error)
        } catch let error as ContainerFormatError {
            throw CommandFailure.exit(.badData, error.description)
        } catch let error as FileError {
            throw CommandFailure.exit(error)
        }
    }

    static func failure(_ error: StoreError, _ address: SharedAddress) -> ExitCode {
        if let cause = error.cause as? PostgresError { return failure(SharedError(cause, address)) }
        let isAway = error.code == .inputOutput || error.code == .disconnected
        return CommandFailure.exit(isAway ? .inputOutput : .badData, error.message)
    }

    static func failure(_ error: SharedError) -> ExitCode {
        switch error.code {
        case .badAddress: CommandFailure.exit(.usage, error.message)
        case .unavailable: CommandFailure.exit(.unavailable, error.message)
        case .disconnected: CommandFailure.exit(.inputOutput, error.message)
        case .unusable, .refused: CommandFailure.exit(.badData, error.message)
        }
    }
}
