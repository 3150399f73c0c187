package import Files
package import PropertyList

/// What an application keeps to come back as it was left: which item was shown, how far it had scrolled. No data of the
/// user's: it may be dropped at any time.
///
/// Cocoa's rules: the archive carries the application's version, and another version's is refused. While a launch
/// restores from it, it bears another name; a launch that finds that name was preceded by one that died while restoring,
/// and drops it. An explicit way out drops it, too.
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
    ///   - isReadOnly: whether nothing may be written; what is there is still read.
    ///   - layer: the file system.
    package init(
        folder: String, version: String, isReadOnly: Bool = false, using layer: any FileLayer = PosixFileLayer()
    ) {
        path = PathText.join(folder, "restoration.plist")
        self.version = version
        self.isReadOnly = isReadOnly
        self.layer = layer
    }

    /// What a launch finds.
    package enum Found: Sendable, Hashable {
        /// Nothing was kept, or it was dropped.
        case none
        case state([String: PropertyListValue])
        /// There was something, which is dropped now; why.
        case refused(reason: String)
    }

    /// Takes the state of the last run, and marks the archive as being restored from until `confirm()` or `drop()`.
    ///
    /// - Returns: the state, or why there is none.
    package func restore() -> Found {
        if layer.exists(restoringPath) {
            drop()
            return .refused(reason: "the launch before this one did not survive restoring it")
        }
        guard layer.exists(path) else { return .none }
        guard
            case .dictionary(let archive)? = try? PropertyListValue(decoding: layer.contents(of: path, limit: 64 << 20)),
            case .dictionary(let state)? = archive[Self.stateKey]
        else {
            drop()
            return .refused(reason: "the archive is damaged")
        }
        guard archive[Self.versionKey] == .string(version) else {
            drop()
            return .refused(reason: "another version of the application wrote it")
        }
        if !isReadOnly {
            do { try layer.rename(path, to: restoringPath) } catch { return .refused(reason: error.message) }
        }
        return .state(state)
    }

    /// The launch has come to its end: the archive is good, and stays until the next save.
    package func confirm() {
        guard !isReadOnly, layer.exists(restoringPath) else { return }
        try? layer.rename(restoringPath, to: path)
    }

    /// Keeps a state for the next launch; an empty one is the same as none.
    ///
    /// - Parameter state: property-list values by name.
    /// - Throws: `FileError` or `PropertyListError`; the archive before is still there then.
    package func save(_ state: [String: PropertyListValue]) throws {
        guard !isReadOnly else { return }
        guard !state.isEmpty else { return drop() }
        let archive = PropertyListValue.dictionary([
            Self.versionKey: .string(version), Self.stateKey: .dictionary(state),
        ])
        try AtomicFile.write(
            archive.encoded(as: .binary), to: path, using: layer, durable: false, permissions: 0o600)
    }

    /// Forgets what was kept.
    package func drop() {
        guard !isReadOnly else { return }
        for each in [path, restoringPath] where layer.exists(each) { try? layer.remove(each) }
    }
}
