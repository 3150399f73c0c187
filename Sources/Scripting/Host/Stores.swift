package import Application
import Files
package import Images
package import Items
import Logging
import PropertyList

/// What the container stores, opened within the fences: the step after the sandbox.
package struct Stores {
    /// The items.
    package let items: ItemStore
    /// The pictures of the items.
    package let images: ImageStore
    /// Settings that outlive the run.
    package let defaults: Defaults
    /// The state of scripts for the next launch.
    let restoration: RestorationArchive
    /// The container's settings for its items: the indexed fields.
    private let itemPreferences: Defaults
    private let isReadOnly: Bool

    /// - Throws: `FileError`, `StoreError`.
    init(_ sandbox: Sandbox, _ options: ScriptHostOptions, _ logger: Logger) throws {
        let (container, files) = (sandbox.opened.container, sandbox.opened.files)
        isReadOnly = options.isReadOnly
        defaults = Defaults(folder: container.preferences, domain: options.applicationName, using: files)
        if case .file(let error)? = defaults.problem, error.isMisplaced { throw error }
        restoration = RestorationArchive(
            folder: container.applicationSupport, version: options.applicationVersion, isReadOnly: isReadOnly,
            using: files)
        items = try ItemStore.open(sandbox.persistence, schema: sandbox.schema, durability: options.durability)
        itemPreferences = Defaults(folder: container.preferences, domain: "items", using: files)
        images = ImageStore(
            directory: container.documents, caches: container.caches, outgoing: container.outgoingImages, using: files,
            logger: logger)
        // It completes the pictures of a transaction whose process was killed.
        items.attachments = images.attachments
        // Only after the store has opened: a leftover may be the last copy of a lost archive. Listing the folders takes
        // time in proportion to the pictures, so it is done only when needed.
        if let lock = sandbox.opened.lock, lock.isDisordered {
            container.removeLeftovers(using: files)
            lock.recordOrder()
        }
    }

    /// Logs what was found in the files, and what will be found later.
    func report(_ restoreNotice: String?, to logger: Logger, isStrict: Bool) {
        restoreIndexes(logger)
        reportPlaces(logger)
        for notice in [restoreNotice].compactMap({ $0 }) + items.loadReport.notices + items.carriedNotices {
            logger.warning("\(notice)")
        }
        if let problem = defaults.problem { logger.warning("\(problem.message)") }
        items.onDamage = { notice in logger.warning("\(notice)") }
        items.onLeftOut = { all throws in
            let text = all.map(\.description).joined(separator: "; ")
            if isStrict { throw StoreError(.invalidValue(field: all[0].subject), "with --strict: " + text) }
            logger.warning("\(text)")
        }
    }

    private func reportPlaces(_ logger: Logger) {
        guard let path = items.archivePath else { return }
        logger.debug("Saving items to: \(path)")
        let report = items.loadReport
        var sources: [String] = []
        if report.archivedItems > 0 { sources.append("\(report.archivedItems.counted("item")) from the archive") }
        if report.replayedRecords > 0 {
            sources.append("\(report.replayedRecords.counted("commit")) from the journal beside it")
        }
        let read = sources.isEmpty ? "no items yet" : "read " + sources.joined(separator: " and ")
        logger.debug("Items: \(read)")
    }

    // MARK: Indexes

    /// The container stores the names of indexed fields; the indexes are built from the items.
    private static let indexesKey = "indexes"

    /// Declares the indexes of an earlier run; they are built on demand.
    private func restoreIndexes(_ logger: Logger) {
        if let problem = itemPreferences.problem { logger.warning("\(problem)") }
        guard case .array(let names)? = itemPreferences.value(forKey: Self.indexesKey) else { return }
        for case .string(let name) in names {
            do throws(StoreError) { try items.createIndex(name, lazily: true) } catch { logger.warning("\(error)") }
        }
    }

    /// Stores the names of indexed fields. In a read-only store they last for this run.
    package func rememberIndexes() throws(DefaultsError) {
        if isReadOnly { return }
        let names = items.indexedFields.map(PropertyListValue.string)
        try itemPreferences.set(names.isEmpty ? nil : .array(names), forKey: Self.indexesKey)
        try itemPreferences.synchronize()
    }
}
