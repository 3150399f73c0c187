import Application
import ArgumentParser
import Files
import Images
import Items
import Logging
import Scripting
import SharedItems
import Wording

/// `cubby shared push URL`: copies a container's items and pictures into an empty shared collection.
struct SharedPushCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "push",
        abstract: "Copy a container's items and pictures into an empty shared collection, or resume the copy.")

    @OptionGroup var transfer: TransferOptions

    func run() throws {
        try transfer.run { (own, shared, show) throws(StoreError) in
            try ItemTransfer.copy(from: own, to: shared, progress: show)
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
        try transfer.run { (own, shared, show) throws(StoreError) in
            let copied = try ItemTransfer.copy(from: shared, to: own, progress: show)
            try own.saveChanges()
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
    func run(_ copy: (ItemStore, ItemStore, (Int) -> Void) throws(StoreError) -> ItemTransfer.Summary) throws {
        SignalMask.restore()
        let address = try SharedArgument.address(url)
        let opened = try SharedArgument.open(container)
        var failures: [String: String] = [:]
        do throws(StoreError) {
            let own = try ItemStore.open(ArchivePersistence(of: opened))
            let shared = try ItemStore.open(SharedHost.persistence(address, of: opened))
            for store in [own, shared] { store.attachments = opened.pictures }
            for notice in own.carriedNotices + shared.carriedNotices { CommandFailure.say(VisibleText.line(notice)) }
            let bar = CommandProgress("Copying", total: max(own.count, shared.count))
            defer { bar.finish() }
            let copied = try copy(own, shared, bar.show)
            bar.finish()
            Report.line("copied \(copied.text); the collection has \(try ItemTransfer.Summary(of: shared).text)")
            failures = copied.failures
        } catch {
            throw SharedArgument.failure(error, address)
        }
        for (key, message) in failures.sorted(by: { $0.key < $1.key }) {
            CommandFailure.say(VisibleText.line("the picture of the item \(key) was not copied: \(message)"))
        }
        if !failures.isEmpty { throw ExitCode(ExitStatus.badData.rawValue) }
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
