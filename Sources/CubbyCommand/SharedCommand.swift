import Application
import ArgumentParser
import Files
import Images
import Items
import Logging
import Scripting
import SharedItems

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
            SharedInitCommand.self, SharedMigrateCommand.self, SharedGrantCommand.self, SharedRevokeCommand.self,
            SharedStatusCommand.self,
            SharedPushCommand.self, SharedPullCommand.self, SharedConflictsCommand.self, SharedFollowCommand.self,
            SharedPublishCommand.self, SharedHostsCommand.self, SharedTrimCommand.self, SharedRenameCommand.self,
            SharedDropCommand.self,
        ])
}

/// `cubby shared init URL`: creates tables, functions and the collection.
struct SharedInitCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "init", abstract: "Create the tables and a collection, as the database's owner.")

    @Flag(help: "The items have the fields that are declared, and none of a household's: see cubby fields --only.")
    var ownFields = false

    @Argument(help: ArgumentHelp("The collection's address.", valueName: "url"))
    var url: String

    func run() throws {
        try SharedArgument.using(url) { (address) throws(SharedError) in
            let outcome = try SharedSchema.initialize(address, schema: ownFields ? ItemSchema() : nil)
            if outcome.madeSchema { Report.line("made the tables in the schema cubby") }
            Report.line(
                outcome.madeCollection
                    ? "made the collection \(address.collection); a host opens it with cubby --container DIR --shared '\(address)'"
                    : "the collection \(address.collection) is there already: nothing was changed")
            if outcome.madeCollection, ownFields {
                Report.line(
                    "its items have the fields that are declared: cubby fields --container DIR --shared URL FILE")
            }
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
            Report.line(
                "the tables are of format \(format), and keep declarations of fields; the functions are this program's")
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
        do throws(SharedError) { return try SharedAddress(url) } catch {
            throw CommandFailure.exit(.usage, error.message)
        }
    }

    static func using(_ url: String, _ body: (SharedAddress) throws(SharedError) -> Void) throws {
        SignalMask.restore()
        let address = try address(url)
        do throws(SharedError) { try body(address) } catch { throw failure(error) }
    }

    /// Opens the container that is a host of the collection, and has to be there unless items are copied into it.
    static func open(_ container: String?, exists: Bool = true) throws -> OpenedContainer {
        let located = try ContainerArgument.locate(
            container, exists: exists,
            orSay: "keeps its items in the memory of its process: it cannot be a host of a shared collection"
        )
        return try OpenedContainer(naming: located)
    }

    /// The collection with a container as a host, and the fields of its items.
    static func connect(
        _ address: SharedAddress, _ opened: OpenedContainer
    ) throws -> (persistence: SharedPersistence, schema: ItemSchema) {
        let persistence = SharedHost.persistence(address, of: opened)
        do throws(SharedError) { try persistence.prepare() } catch { throw failure(error) }
        do throws(StoreError) { return (persistence, try persistence.schema ?? .household) } catch {
            throw failure(error, address)
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
        case .unusable, .denied: CommandFailure.exit(.badData, error.message)
        }
    }
}

/// `cubby shared push URL`: copies a container's items and pictures into an empty shared collection.
struct SharedPushCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "push",
        abstract: "Copy a container's items and pictures into an empty shared collection, or resume the copy.")

    @OptionGroup var transfer: TransferOptions

    func run() throws {
        try transfer.run(isPull: false) { (local, shared, show) throws(StoreError) in
            try ItemTransfer.copy(from: local, to: shared, progress: show)
        }
    }
}

/// `cubby shared pull URL`: copies a shared collection's items and pictures into an empty container.
struct SharedPullCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "pull",
        abstract: "Copy a shared collection's items and pictures into an empty container, or resume the copy.")

    @OptionGroup var transfer: TransferOptions

    func run() throws {
        try transfer.run(isPull: true) { (local, shared, show) throws(StoreError) in
            let copied = try ItemTransfer.copy(from: shared, to: local, progress: show)
            try local.saveChanges()
            return copied
        }
    }
}

/// The source and the target of a copy.
struct TransferOptions: ParsableArguments {
    @Option(help: .container, completion: .container)
    var container: String?

    @Argument(help: ArgumentHelp("The collection's address.", valueName: "url"))
    var url: String

    /// Opens both, copies, and reports the amount.
    func run(
        isPull: Bool, _ copy: (ItemStore, ItemStore, (Int) -> Void) throws(StoreError) -> ItemTransfer.Summary
    ) throws {
        SignalMask.restore()
        let address = try SharedArgument.address(url)
        let opened = try SharedArgument.open(container, exists: !isPull)
        let (persistence, schema) = try SharedArgument.connect(address, opened)
        try match(opened.container, schema, isPull: isPull, opened)
        var remarks: [String] = []
        var leftOut: [String] = []
        do throws(StoreError) {
            let local = try ItemStore.open(ArchivePersistence(of: opened), schema: schema)
            let shared = try ItemStore.open(persistence, schema: schema)
            for store in [local, shared] { store.attachments = opened.pictures }
            try shared.applyRemoteCommits()
            leftOut = persistence.noticesOfLeftOut
            for notice in leftOut + local.carriedNotices + shared.carriedNotices {
                CommandFailure.say(VisibleText.line(notice))
            }
            let bar = CommandProgress("Copying", total: max(local.count, shared.count))
            defer { bar.finish() }
            let copied = try copy(local, shared, bar.show)
            bar.finish()
            Report.line("copied \(copied.text); the collection has \(try ItemTransfer.Summary(of: shared).text)")
            remarks = copied.remarks
            if let reason = copied.undeclared {
                CommandFailure.say(VisibleText.line("what is declared of fields was not copied: \(reason)"))
            }
        } catch {
            throw SharedArgument.failure(error, address)
        }
        for remark in remarks { CommandFailure.say(remark) }
        if !remarks.isEmpty || isPull && !leftOut.isEmpty { throw ExitCode(ExitStatus.badData.rawValue) }
    }
}

extension TransferOptions {
    /// Sees to it that the container's items have the fields of the collection's. A container that never had items gets
    /// those of a collection that is pulled.
    private func match(
        _ container: ApplicationContainer, _ schema: ItemSchema, isPull: Bool, _ opened: OpenedContainer
    ) throws {
        let own = OwnFields.schema(of: container)
        if own == schema { return }
        guard own == .household else {
            throw CommandFailure.exit(
                .usage,
                "the items of \(container.displayPath) have fields of their own, those of the collection "
                    + "\(ItemSchema.household == schema ? "a household's" : schema.names.joined(separator: ", ")): "
                    + (isPull
                        ? "pull them into a new container"
                        : "cubby shared init --own-fields makes a collection for them, under another name"))
        }
        guard schema == ItemSchema() else {
            throw CommandFailure.exit(
                .usage,
                "the items of the collection have the fields \(schema.names.joined(separator: ", ")), which a Swift program "
                    + "gave them: a container keeps those of a household, or declared ones alone")
        }
        guard isPull else {
            throw CommandFailure.exit(
                .usage,
                "the items of \(container.displayPath) have the fields of a household, those of the collection fields of "
                    + "their own: cubby shared init, without --own-fields, makes a collection for them, under another name"
            )
        }
        try OwnFields.begin(opened)
    }
}

extension OpenedContainer {
    /// The files of the pictures, for one store.
    var pictures: ItemAttachments {
        ImageStore(
            directory: container.documents, caches: container.caches, outgoing: container.outgoingImages, using: files,
            logger: Logger(label: "cubby")
        ).attachments
    }
}

/// `cubby shared conflicts URL`: a host's offline commits that conflict with earlier ones of other hosts.
struct SharedConflictsCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "conflicts",
        abstract: "Show and settle conflicts of a host's offline commits with earlier ones of other hosts.",
        discussion: """
            A conflict is a commit, shown with its values, the other hosts' and the previous ones side by side. It \
            remains until it is settled, here by its number or in a script by items:conflicts().
            """)

    @Option(help: .container, completion: .container)
    var container: String?

    @Option(help: ArgumentHelp("Apply the commit of this number again.", valueName: "number"))
    var keepMine: [Int] = []

    @Option(help: ArgumentHelp("Keep the items as they are, and discard the commit.", valueName: "number"))
    var keepTheirs: [Int] = []

    @Argument(help: ArgumentHelp("The collection's address.", valueName: "url"))
    var url: String

    func run() throws {
        SignalMask.restore()
        let address = try SharedArgument.address(url)
        let opened = try SharedArgument.open(container)
        do {
            let (persistence, schema) = try SharedArgument.connect(address, opened)
            let store = try ItemStore.open(persistence, schema: schema)
            store.attachments = opened.pictures
            if store.isConnected {
                try store.applyRemoteCommits()
            } else {
                Report.line("the collection's server does not answer: this is as of when it last did")
            }
            let conflicts = store.conflicts
            for (numbers, keepsMine) in [(keepMine, true), (keepTheirs, false)] {
                for number in numbers {
                    guard conflicts.indices.contains(number - 1) else {
                        throw ValidationError("There is no conflict \(number): there are \(conflicts.count).")
                    }
                    let conflict = conflicts[number - 1]
                    if keepsMine { try store.keepMine(conflict) } else { try store.keepTheirs(conflict) }
                    Report.line("\(number) is settled: \(keepsMine ? "mine" : "theirs")")
                }
            }
            for (number, conflict) in conflicts.enumerated()
            where !keepMine.contains(number + 1) && !keepTheirs.contains(number + 1) {
                for (place, line) in conflict.description.split(separator: "\n").enumerated() {
                    Report.line(place == 0 ? "\(number + 1)  \(line)" : "   \(line)")
                }
            }
            if conflicts.isEmpty { Report.line("nothing is to be settled") }
        } catch let error as StoreError {
            throw SharedArgument.failure(error, address)
        }
    }
}
