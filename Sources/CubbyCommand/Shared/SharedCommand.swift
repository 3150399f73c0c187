import ArgumentParser

/// `cubby shared`: administration and status of collections shared by several hosts, for a database's owner.
struct SharedCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "shared", abstract: "Make and look after collections of several hosts, kept by PostgreSQL.",
        discussion: """
            An address is postgres://host/database?collection=name, or on a socket
            postgres://user@/database?host=FOLDER&collection=name. A password comes from
            PGPASSFILE, a service file or a certificate. docs/shared.md has a first session.
            """,
        subcommands: [
            SharedInitCommand.self, SharedMigrateCommand.self, SharedGrantCommand.self, SharedStatusCommand.self,
            SharedPushCommand.self, SharedPullCommand.self, SharedConflictsCommand.self,
        ])
}
