import ArgumentParser
import Items
import Scripting
import SharedItems

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
