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
            to read. When the server does not answer, it is asked again until it does.
            """)

    enum Format: String, ExpressibleByArgument, CaseIterable { case jsonl }

    @Option(
        help: ArgumentHelp(
            "Begin with the commit after this one (default: the first of the log).", valueName: "revision"))
    var after: UInt64?

    @Flag(help: "End after the latest commit instead of waiting for further ones.")
    var noWait = false

    @Option(help: "The form of a commit.")
    var format = Format.jsonl

    @Argument(help: ArgumentHelp("The collection's address.", valueName: "url"))
    var url: String

    func run() throws {
        try SharedArgument.using(url) { (address) throws(SharedError) in
            let log = try SharedLog(address, after: after, schema: .household)
            if after == nil, log.floor > 0 {
                CommandFailure.say(
                    "the log begins after revision \(log.floor): cubby shared pull has the items of before")
            }
            var retries = Retries()
            while true {
                do throws(SharedError) {
                    let commits = try log.next()
                    retries.end()
                    for commit in commits { try write(commit) }
                    // The stream counts what was lost, for the status.
                    do throws(FileError) { try StandardStream.output.flush() } catch { return }
                    if !commits.isEmpty { continue }
                    if noWait { return }
                    // A notification can be lost: after a minute the log is read all the same.
                    try log.wait(seconds: 60)
                } catch {
                    guard error.code == .disconnected, !noWait else { throw error }
                    retries.wait(after: error)
                }
            }
        }
    }

    private func write(_ commit: SharedLog.Commit) throws(SharedError) {
        do throws(PropertyListError) { StandardStream.output.put(try commit.line) } catch {
            throw SharedError(.unusable, "revision \(commit.revision) cannot be written: \(error.message)")
        }
    }
}

/// Attempts to reach a server again: after one second, then after twice the time, at most half a minute.
private struct Retries {
    private var seconds: UInt32 = 0

    mutating func wait(after error: SharedError) {
        if seconds == 0 { CommandFailure.say("\(error.message); trying again until it does") }
        seconds = min(max(seconds * 2, 1), 30)
        _ = sleep(seconds)
    }

    mutating func end() {
        if seconds > 0 { CommandFailure.say("the server answers again") }
        seconds = 0
    }
}
