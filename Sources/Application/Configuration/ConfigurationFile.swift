import Files
import Glibc
import PropertyList

/// The file of a container's configuration: a property list that only the user can write.
package struct ConfigurationFile {
    /// The path; the file need not exist.
    package let path: String
    /// The identity of the existing container; nil if it does not exist.
    package let identity: ContainerIdentity?
    private let container: String
    private var folder: String { PathText.parent(of: path) }

    /// - Parameters:
    ///   - container: a persistent container.
    ///   - folder: `ConfigurationFolder.locate()`.
    /// - Throws: `ConfigurationError` if the folder is inside the container.
    package init(for container: ApplicationContainer, in folder: String) throws(ConfigurationError) {
        identity = try? ContainerIdentity(container)
        self.container = RealPath.ofExistingPart(of: container.path)
        let digest = SHA256.digest(Array(self.container.utf8)).hexadecimal
        path = PathText.join(folder, PathText.name(of: self.container) + "-" + String(digest.prefix(16)) + ".plist")
        if (folder + "/").hasPrefix(self.container + "/") { throw .inContainer(path: folder) }
    }

    /// The paths of the containers that have a configuration in a folder.
    package static func containers(in folder: String) -> [String] {
        let layer = PosixFileLayer()
        let names = ((try? layer.list(folder)) ?? []).filter { $0.hasSuffix(".plist") }.sorted()
        return names.compactMap { name -> String? in
            guard let bytes = try? layer.contents(of: PathText.join(folder, name), limit: limit),
                case .dictionary(let fields)? = try? PropertyListValue(decoding: bytes, limits: limits),
                case .string(let path)? = fields["container"]
            else { return nil }
            return path
        }
    }

    /// Reads the configuration.
    ///
    /// - Returns: nil when there is none.
    /// - Throws: `ConfigurationError`.
    package func read() throws(ConfigurationError) -> Configuration? {
        let layer: BeneathFileLayer
        do throws(FileError) { layer = try BeneathFileLayer(folder) } catch {
            // A folder that the user cannot enter cannot contain the user's configuration.
            if [ENOENT, ENOTDIR, EACCES].contains(error.code) { return nil }
            throw .file(error)
        }
        return try read(layer)
    }

    /// Changes the configuration and approves it; changes by other processes are blocked meanwhile.
    ///
    /// - Parameters:
    ///   - approvesAll: whether changes made by others are approved as well.
    ///   - body: changes the configuration.
    /// - Returns: what `body` returns.
    /// - Throws: `ConfigurationError`, and the file is unchanged then.
    package func update<Result>(
        approvesAll: Bool = false, _ body: (inout Configuration) -> Result
    ) throws(ConfigurationError) -> Result {
        guard let identity else { throw .file(FileError(.open, container, code: ENOENT)) }
        let (layer, lock) = try openLocked()
        defer { close(lock) }
        let old = try read(layer)
        if !approvesAll, let changed = old?.unapproved(for: identity), !changed.isEmpty {
            throw .changed(path: path, parts: changed)
        }
        var configuration = old ?? Configuration()
        let result = body(&configuration)
        guard approvesAll || configuration != old ?? Configuration() else { return result }
        configuration.approve(for: identity)
        try write(configuration, layer)
        return result
    }

    /// The folder, created if missing, and a descriptor that locks it until it is closed.
    private func openLocked() throws(ConfigurationError) -> (BeneathFileLayer, lock: Int32) {
        do throws(FileError) {
            try PosixFileLayer().makeDirectories(folder, permissions: 0o700)
            let layer = try BeneathFileLayer(folder)
            let lock = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
            guard lock >= 0 else { throw FileError(.lock, folder, code: errno) }
            guard flock(lock, LOCK_EX) == 0 else {
                defer { close(lock) }
                throw FileError(.lock, folder, code: errno)
            }
            return (layer, lock)
        } catch {
            throw .file(error)
        }
    }

    private func write(_ configuration: Configuration, _ layer: BeneathFileLayer) throws(ConfigurationError) {
        let bytes: [UInt8]
        do throws(PropertyListError) { bytes = try configuration.propertyList(for: container).encoded(as: .xml) } catch
        {
            throw .damaged(path: path, reason: "\(error)")
        }
        do throws(FileError) { try AtomicFile.write(bytes, to: path, using: layer, permissions: 0o600) } catch {
            throw .file(error)
        }
    }

    private func read(_ layer: BeneathFileLayer) throws(ConfigurationError) -> Configuration? {
        let file: OpenFile
        let bytes: [UInt8]
        do throws(FileError) {
            guard try layer.contains(path, .regular) else { return nil }
            file = try layer.open(path, .read, permissions: 0)
        } catch {
            throw .file(error)
        }
        defer { layer.close(file) }
        try checkTrust(of: file, layer)
        do throws(FileError) { bytes = try layer.contents(of: file, limit: Self.limit) } catch { throw .file(error) }
        do throws(PropertyListError) {
            if let configuration = Configuration(try PropertyListValue(decoding: bytes, limits: Self.limits)) {
                return configuration
            }
        } catch {
            throw .damaged(path: path, reason: "\(error)")
        }
        throw .damaged(path: path, reason: "a part of it is missing, or of another kind")
    }

    /// Refuses a file that other users could have written.
    private func checkTrust(of file: OpenFile, _ layer: BeneathFileLayer) throws(ConfigurationError) {
        for (place, descriptor) in [(folder, nil), (path, file.descriptor)] {
            var raw = stat()
            let result = descriptor.map { fstat($0, &raw) } ?? stat(place, &raw)
            guard result == 0 else { throw .file(FileError(.status, place, code: errno)) }
            let status = FileStatus(raw)
            if status.isOwnedByAnother { throw .exposed(path: place, reason: "it belongs to another user") }
            if status.isWritableByAnother {
                throw .exposed(
                    path: place, reason: "somebody other than you can write it; chmod go-w, after a look at it")
            }
            if descriptor != nil, raw.st_nlink > 1 {
                throw .exposed(path: place, reason: "it has another name, a hard link, by which it can be written")
            }
        }
    }

    private static let limit = 1 << 20
    private static let limits = PropertyListLimits(
        maximumBytes: limit, maximumObjects: 1 << 16, maximumDepth: 8, maximumValues: 1 << 16)
}

/// The folder of the user's configuration: `$XDG_CONFIG_HOME/cubby`, else `~/.config/cubby`. Closed to scripts.
package enum ConfigurationFolder {
    /// Its path without links; it need not exist.
    ///
    /// - Parameter environment: reads a variable; the process's environment if not given.
    /// - Returns: nil without a home folder.
    package static func locate(environment: (String) -> String? = { ProcessEnvironment.value($0) }) -> String? {
        // The XDG specification requires relative paths to be ignored.
        if let base = environment("XDG_CONFIG_HOME"), base.hasPrefix("/") { return resolve(base, "cubby") }
        return HomeFolder.path.map { resolve($0, ".config/cubby") }
    }

    private static func resolve(_ base: String, _ name: String) -> String {
        RealPath.ofExistingPart(of: PathText.absolute(name, from: PathText.absolute(base, from: "/")))
    }
}
