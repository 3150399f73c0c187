import Application
import ArgumentParser
import Files
import Items
import Scripting
import SharedItems
import Wording

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
            let store = try ItemStore.open(SharedHost.persistence(address, of: opened))
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
