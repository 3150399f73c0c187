package import Files
package import PropertyList

/// The state that an application restores at its next launch: the visible item, the scroll position. Not user data: it
/// may be dropped at any time.
///
/// Cocoa's rules apply: the archive has the application's version, and an archive of another version is refused. It is
/// renamed while a launch restores from it. A launch that finds that name drops the archive: the previous launch died
/// while restoring. An explicit exit drops it, too.
package final class RestorationArchive {
    package let path: String
    private let version: String
    private let isReadOnly: Bool
    private let layer: any FileLayer
    private var restoringPath: String { path + ".restoring" }

    private static let versionKey = "ApplicationVersion"
    private static let stateKey = "State"

    /// - Parameters:
    ///   - folder: a container's `applicationSupport`.
    ///   - version: the application's.
    ///   - isReadOnly: whether writing is disabled; reading is not.
    ///   - layer: the file system.
    package init(
        folder: String, version: String, isReadOnly: Bool = false, using layer: any FileLayer = PosixFileLayer()
    ) {
        path = PathText.join(folder, "restoration.plist")
        self.version = version
        self.isReadOnly = isReadOnly
        self.layer = layer
    }

    /// The result of a launch's lookup.
    package enum Found: Sendable, Hashable {
        /// There is no archive.
        case none
        case state(PropertyListFields)
        /// The archive was refused and dropped, for this reason.
        case rejected(reason: String)
    }

    /// Takes the state of the last run, and marks the archive as in use until `confirm()` or `drop()`.
    ///
    /// - Returns: the state, or the reason why there is none.
    package func restore() -> Found {
        if layer.exists(restoringPath) {
            drop()
            return .rejected(reason: "the launch before this one did not survive restoring it")
        }
        guard layer.exists(path) else { return .none }
        guard
            let archive = (try? PropertyListValue(decoding: layer.contents(of: path, limit: 64 << 20)))?.fields,
            let state = archive[Self.stateKey]?.fields
        else {
            drop()
            return .rejected(reason: "the archive is damaged")
        }
        guard archive[Self.versionKey] == .string(version) else {
            drop()
            return .rejected(reason: "another version of the application wrote it")
        }
        if !isReadOnly {
            do { try layer.rename(path, to: restoringPath) } catch { return .rejected(reason: error.message) }
        }
        return .state(state)
    }

    /// Marks the launch as complete: the archive is good, and stays until the next save.
    package func confirm() {
        guard !isReadOnly, layer.exists(restoringPath) else { return }
        try? layer.rename(restoringPath, to: path)
    }

    /// Saves a state for the next launch; an empty state removes the archive.
    ///
    /// - Parameter state: property-list values by name.
    /// - Throws: `FileError` or `PropertyListError`; the previous archive is unchanged.
    package func save(_ state: PropertyListFields) throws {
        guard !isReadOnly else { return }
        guard !state.isEmpty else { return drop() }
        let archive = PropertyListValue.dictionary([
            Self.versionKey: .string(version), Self.stateKey: .fields(state),
        ])
        try AtomicFile.write(
            archive.encoded(as: .binary), to: path, using: layer, durable: false, permissions: 0o600)
    }

    /// Removes the archive.
    package func drop() {
        guard !isReadOnly else { return }
        for each in [path, restoringPath] where layer.exists(each) { try? layer.remove(each) }
    }
}
