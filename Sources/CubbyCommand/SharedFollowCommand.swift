import ArgumentParser
import Files
import Glibc
import Items
import PropertyList
import SharedItems

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
