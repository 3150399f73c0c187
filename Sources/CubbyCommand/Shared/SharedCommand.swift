import ArgumentParser

/// `cubby shared`: administration and status of collections shared by several hosts, for a database's owner.
struct SharedCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "shared", abstract: "Create and maintain collections shared by several hosts, kept in PostgreSQL.",
        discussion: """
            An address is postgres://host/database?collection=name, or on a socket \
            postgres://user@/database?host=FOLDER&collection=name. Credentials come from PGPASSFILE, a service file \
            or a certificate. docs/shared.md shows a first session.
            """,
        subcommands: [
            SharedInitCommand.self, SharedMigrateCommand.self, SharedGrantCommand.self, SharedStatusCommand.self,
            SharedPushCommand.self, SharedPullCommand.self, SharedConflictsCommand.self,
        ])
}
