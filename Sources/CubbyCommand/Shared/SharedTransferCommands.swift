import Application
import ArgumentParser
import Files
import Items
import Scripting
import SharedItems
import Wording

/// `cubby shared push URL`: a container's items into an empty shared collection.
struct SharedPushCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "push", abstract: "Copy a container's items into an empty shared collection; again: go on.",
        discussion: "Pictures are each host's own as yet, and stay in the container.")

    @OptionGroup var transfer: TransferOptions

    func run() throws {
        try transfer.run { (own, shared, show) throws(StoreError) in
            try SharedTransfer.copy(from: own, to: shared, progress: show)
        }
    }
}

/// `cubby shared pull URL`: a shared collection's items into an empty container.
struct SharedPullCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "pull", abstract: "Copy a shared collection's items into an empty container; again: go on.")

    @OptionGroup var transfer: TransferOptions

    func run() throws {
        try transfer.run { (own, shared, show) throws(StoreError) in
            let count = try SharedTransfer.copy(from: shared, to: own, progress: show)
            try own.saveChanges()
            return count
        }
    }
}

/// The two ends of a copy.
struct TransferOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp("The container; CUBBY_CONTAINER or ~/.local/share/cubby if not given.", valueName: "dir"))
    var container: String?

    @Argument(help: ArgumentHelp("The collection's address.", valueName: "url"))
    var url: String

    /// Opens both ends, copies, and says how much.
    func run(_ copy: (ItemStore, ItemStore, (Int) -> Void) throws(StoreError) -> Int) throws {
        SignalMask.restore()
        let address = try SharedArgument.address(url)
        let opened = try SharedArgument.open(container)
        do throws(StoreError) {
            let own = try ItemStore.open(ArchivePersistence(of: opened))
            let shared = try ItemStore.open(SharedHost.persistence(address, of: opened))
            let count = try copy(own, shared) { count in
                if count % 100_000 == 0 { Report.line("\(count.counted("item"))…") }
            }
            Report.line("copied \(count.counted("item")); the collection has \(shared.count.counted("item"))")
        } catch {
            throw SharedArgument.failure(error, address)
        }
    }
}
