import ArgumentParser
import Files
import Glibc
import Items
import PropertyList
import Scripting
import SharedItems

/// `cubby shared grant ROLE URL`: opens a collection to a role.
struct SharedGrantCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "grant", abstract: "Open one collection to a database role, as its owner.",
        discussion: """
            The role, and its members, see no other collection's items. Granted again, with or without --read-only, the \
            later command holds. Tables of an older program, where each role has all collections, are migrated before, \
            and those roles keep what there is.
            """)

    @Flag(help: "The role reads the collection, and changes nothing.")
    var readOnly = false

    @Argument(help: "An existing role.")
    var role: String

    @Argument(help: ArgumentHelp("The collection's address.", valueName: "url"))
    var url: String

    func run() throws {
        try SharedArgument.using(url) { (address) throws(SharedError) in
            let retained = try SharedRights.grant(role, writes: !readOnly, address).filter { $0 != role }
            let name = VisibleText.line(role)
            Report.line(
                readOnly
                    ? "\(name) reads the collection \(address.collection), and changes nothing"
                    : "\(name) reads the collection \(address.collection), and changes items through functions alone")
            if !retained.isEmpty {
                let names = retained.map { VisibleText.line($0) }.joined(separator: ", ")
                Report.line("the tables were migrated; these roles had all collections, and keep them: \(names)")
            }
        }
    }
}

/// `cubby shared revoke ROLE URL`: closes a collection to a role.
struct SharedRevokeCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "revoke", abstract: "Close one collection to a database role, as its owner.",
        discussion:
            "It holds for connected hosts at once. With its last collection the role loses all rights in the tables.")

    @Argument(help: "A role that the collection was opened to.")
    var role: String

    @Argument(help: ArgumentHelp("The collection's address.", valueName: "url"))
    var url: String

    func run() throws {
        try SharedArgument.using(url) { (address) throws(SharedError) in
            let remaining = try SharedRights.revoke(role, address).map { VisibleText.line($0) }
            let name = VisibleText.line(role)
            Report.line("the collection \(address.collection) is not open to \(name) any more")
            if !remaining.isEmpty {
                Report.line("\(name) still has the rights of \(remaining.joined(separator: ", ")), to which it is open")
            }
        }
    }
}

/// `cubby shared hosts URL`: the hosts that have used a collection.
struct SharedHostsCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "hosts", abstract: "List the hosts that have used a collection, or forget one, as the owner.",
        discussion: "What a forgotten host committed stays. One that connects again is listed again.")

    @Option(
        help: ArgumentHelp("Remove the hosts of this name, or of this beginning of an identifier.", valueName: "host"))
    var forget: String?

    @Argument(help: ArgumentHelp("The collection's address.", valueName: "url"))
    var url: String

    func run() throws {
        try SharedArgument.using(url) { (address) throws(SharedError) in
            if let forget {
                let count = try SharedOwnership.forget(forget, address)
                if count > 0 { return Report.line("forgot \(count.counted("host")) named \(forget)") }
            }
            let hosts = try SharedOwnership.hosts(address)
            if let forget {
                let hint = NearestNames.hint(for: forget, among: hosts.map(\.name))
                throw SharedError(.unusable, "the collection has no host \(forget.quoted())\(hint)")
            }
            for line in hosts.map(Self.pair).alignedLines { Report.line(line) }
            if hosts.isEmpty { Report.line("no host has used the collection") }
        }
    }

    private static func pair(_ host: SharedOwnership.Host) -> (String, String) {
        (
            "\(host.identifier)  \(VisibleText.line(host.name))",
            "connected \(host.connected), \(host.commits.counted("commit"))"
        )
    }
}

/// `cubby shared trim URL`: removes old commits from the log.
struct SharedTrimCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "trim", abstract: "Set which commits the log keeps, and remove the others, as the owner.",
        discussion: """
            The policy is stored with the collection: its hosts remove older commits in small steps, as they commit. Without \
            an option the stored policy is applied now. Items stay as they are, and the commits of the last day always \
            stay. A host that was away for longer than the log reaches fetches all items anew, and keeps its queue.
            """)

    @Option(help: ArgumentHelp("Keep the commits of so many days: 90d.", valueName: "days"))
    var older: String?

    @Option(help: ArgumentHelp("Keep so many commits, the last ones.", valueName: "commits"))
    var keep: Int?

    @Flag(help: "Keep all commits from now on.")
    var all = false

    @Argument(help: ArgumentHelp("The collection's address.", valueName: "url"))
    var url: String

    func validate() throws {
        _ = try retention()
    }

    private func retention() throws -> LogRetention? {
        guard [older != nil, keep != nil, all].count(where: { $0 }) <= 1 else {
            throw ValidationError("Only one of --older, --keep and --all can be given.")
        }
        if all { return .all }
        if let keep {
            guard keep >= 1 else { throw ValidationError("--keep takes a number of commits, at least 1.") }
            return .commits(keep)
        }
        guard let older else { return nil }
        guard older.hasSuffix("d"), let days = Int(older.dropLast()), (1...36_500).contains(days) else {
            throw ValidationError("--older takes a number of days from 1d to 36500d, such as 90d.")
        }
        return .days(days)
    }

    func run() throws {
        let retention = try retention()
        try SharedArgument.using(url) { (address) throws(SharedError) in
            var removed = 0
            let log = try SharedRetention.trim(address, keeping: retention) { removed += $0 }
            Report.line(
                "\(log.retention): removed \(removed.counted("commit")), and the log has \(log.commits.counted("commit")) after revision \(log.floor)"
            )
        }
    }
}

/// `cubby shared rename URL NAME`: gives a collection another name.
struct SharedRenameCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "rename", abstract: "Give a collection another name, as its owner.",
        discussion: "Its hosts keep their items and their queue, and are started with the new address.")

    @Argument(help: ArgumentHelp("The collection's address.", valueName: "url"))
    var url: String

    @Argument(help: ArgumentHelp("The new name.", valueName: "name"))
    var name: String

    func run() throws {
        try SharedArgument.using(url) { (address) throws(SharedError) in
            try SharedOwnership.rename(address, to: name)
            Report.line("the collection \(address.collection) is now \(name): hosts use it by that name")
        }
    }
}

/// `cubby shared drop URL`: removes a collection.
struct SharedDropCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "drop", abstract: "Remove a collection with all that it has, as its owner.",
        discussion: "Without --yes it only says what would be removed. cubby shared pull keeps a copy.")

    @Flag(help: "Remove it.")
    var yes = false

    @Argument(help: ArgumentHelp("The collection's address.", valueName: "url"))
    var url: String

    func run() throws {
        try SharedArgument.using(url) { (address) throws(SharedError) in
            let contents = try SharedOwnership.contents(address)
            let what =
                "\(contents.items.counted("item")), \(contents.pictures.counted("picture")), \(contents.commits.counted("commit")), used by \(contents.hosts.counted("host"))"
            guard yes else {
                return Report.line(
                    "the collection \(address.collection) has \(what); --yes removes it, with no way back")
            }
            try SharedOwnership.drop(address)
            Report.line("removed the collection \(address.collection): \(what)")
        }
    }
}

/// `cubby shared follow URL`: the commits of a collection as lines, for other programs.
struct SharedFollowCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "follow", abstract: "Write each commit of a collection as a line of JSON, as it is made.",
        discussion: """
            Each line has the commit's revision, its host, the time and its changes; docs/shared.md describes them. A \
            program that stops goes on with --after and the revision of the last line that it has. The role needs only \
            to read. When the server does not answer, it is asked again until it does; with --no-wait that is an error.
            """)

    enum Format: String, ExpressibleByArgument, CaseIterable { case jsonl }

    @Option(
        help: ArgumentHelp(
            "Begin with the commit after this one (default: the first of the log).", valueName: "revision"))
    var after: UInt64?

    @Flag(help: "End after the commit that is the latest one at the start, instead of waiting for further ones.")
    var noWait = false

    @Option(help: "The form of a commit.")
    var format = Format.jsonl

    @Argument(help: ArgumentHelp("The collection's address.", valueName: "url"))
    var url: String

    func run() throws {
        try SharedArgument.using(url) { (address) throws(SharedError) in
            let follower = LogFollower(
                address, after: after, schema: .household, endsAtHead: noWait, say: CommandFailure.say,
                pause: { seconds in _ = sleep(UInt32(seconds)) })
            try follower.run { (commits) throws(SharedError) in
                for commit in commits { try write(commit) }
                // The stream counts what was lost, for the status.
                do throws(FileError) { try StandardStream.output.flush() } catch { return false }
                return true
            }
        }
    }

    private func write(_ commit: SharedLog.Commit) throws(SharedError) {
        do throws(PropertyListError) { StandardStream.output.put(try commit.line) } catch {
            throw SharedError(.unusable, "revision \(commit.revision) cannot be written: \(error.message)")
        }
    }
}

/// `cubby shared publish URL`: the items of a collection as rows of a table.
struct SharedPublishCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "publish",
        abstract: "Keep the items as rows of a table in the collection's database, for any program, as the owner.",
        discussion: """
            The table is items in a schema of its own, with a column for each field that is declared, and all fields as \
            jsonb; docs/shared.md describes both. From then on each commit writes the rows of its items in its own \
            transaction. Hosts go on meanwhile; those of an older program are refused until it is newer. Called again it \
            follows what was declared since, or ends what was interrupted. Roles that read the collection read the table.
            """)

    @Option(help: ArgumentHelp("The schema for the table (default: the collection's name).", valueName: "name"))
    var schema: String?

    @Flag(help: "End it, and remove the table.")
    var end = false

    @Argument(help: ArgumentHelp("The collection's address.", valueName: "url"))
    var url: String

    func validate() throws {
        if end, schema != nil { throw ValidationError("--end takes no --schema: it removes the table where it is.") }
        if let schema, schema.isEmpty || schema.utf8.count > 63 {
            throw ValidationError("A schema's name has 1 to 63 bytes.")
        }
    }

    func run() throws {
        var damaged: [String] = []
        try SharedArgument.using(url) { (address) throws(SharedError) in
            let collection = address.collection
            if end {
                guard let schema = try SharedPublication.end(address) else {
                    throw SharedError(.unusable, "the collection \(collection) is not published")
                }
                return Report.line(
                    "the collection \(collection) is not published any more: removed the table \(VisibleText.line(schema)).items"
                )
            }
            var progress: CommandProgress?
            defer { progress?.finish() }
            let made = try SharedPublication.publish(address, schema: schema, household: .household) { done, total in
                let bar = progress ?? CommandProgress("Writing rows", total: total)
                bar.show(done)
                progress = bar
            }
            progress?.finish()
            let names = made.columns.map { column in
                VisibleText.line(column.name)
                    + (column.name == column.field ? "" : " (the field \(VisibleText.line(column.field)))")
            }
            Report.line(
                "the collection \(collection) is published as \(VisibleText.line(made.schema)).items: \(made.items.counted("row")), with columns for \(names.isEmpty ? "no field" : names.joined(separator: ", "))"
            )
            damaged = made.damaged
        }
        if damaged.isEmpty { return }
        for key in damaged {
            CommandFailure.say(VisibleText.line("the item \(key) gets no row: its record is damaged on the server"))
        }
        throw ExitCode(ExitStatus.badData.rawValue)
    }
}
