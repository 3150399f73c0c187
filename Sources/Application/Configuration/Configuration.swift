import CPlatform
package import Files
import Glibc
package import PropertyList

/// The settings and grants of one container, each with its approval.
package struct Configuration: Sendable, Hashable {
    /// The values by the settings' names.
    package var settings: [String: String] = [:]
    package private(set) var grants: [Grant] = []
    private var settingsSeal = ""

    package init() {}

    /// Adds a grant, which replaces an earlier one of the same kind and path or name.
    package mutating func add(_ grant: Grant) {
        guard let index = grants.firstIndex(where: { $0.isSame(as: grant) }) else { return grants.append(grant) }
        grants[index] = grant
    }

    /// Removes grants.
    ///
    /// - Returns: the removed ones.
    package mutating func revoke(where isRevoked: (Grant) -> Bool) -> [Grant] {
        let revoked = grants.filter(isRevoked)
        grants.removeAll(where: isRevoked)
        return revoked
    }

    // MARK: Approval

    /// The parts that were not approved for a container, in words; all of them if the container does not exist.
    package func unapproved(for container: ContainerIdentity?) -> [String] {
        var parts = grants.filter { $0.seal != container?.seal($0.texts) }.map(\.title)
        if settingsSeal != container?.seal(settingsTexts) {
            parts.append(settings.isEmpty ? "no settings" : settingsTexts.joined(separator: ", "))
        }
        return parts
    }

    /// Approves everything for a container.
    package mutating func approve(for container: ContainerIdentity) {
        settingsSeal = container.seal(settingsTexts)
        for index in grants.indices { grants[index].seal = container.seal(grants[index].texts) }
    }

    private var settingsTexts: [String] { settings.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" } }

    // MARK: Property list

    /// - Returns: nil for a value of another structure.
    package init?(_ value: PropertyListValue) {
        guard let parts = value.fields, let settings = parts["settings"]?.fields,
            case .string(let seal)? = parts["settings approval"], case .array(let grants)? = parts["grants"]
        else { return nil }
        settingsSeal = seal
        for (name, value) in settings {
            guard case .string(let text) = value else { return nil }
            self.settings[name] = text
        }
        for value in grants {
            guard let parts = value.fields else { return nil }
            func text(_ key: String) -> String? {
                guard case .string(let text)? = parts[key], !text.utf8.contains(0) else { return nil }
                return text
            }
            guard let kind = text("grant").flatMap(Grant.Kind.init), let path = text("path"), let name = text("name"),
                kind == .net ? (try? NetworkGrant(name)) != nil : path.hasPrefix("/"), let digest = text("sha256"),
                let time = text("approved"),
                let seal = text("approval")
            else { return nil }
            var spelling = ""
            if parts["spelling"] != nil {
                guard let text = text("spelling"), text.hasPrefix("/") else { return nil }
                spelling = text
            }
            var grant = Grant(kind: kind, path: path, name: name, digest: digest, time: time, spelling: spelling)
            grant.seal = seal
            self.grants.append(grant)
        }
    }

    /// The configuration as a property list.
    ///
    /// - Parameter path: the container's, for readers of the file.
    /// - Returns: a dictionary.
    package func propertyList(for path: String) -> PropertyListValue {
        .dictionary([
            "container": .string(path),
            "settings": .fields(PropertyListFields(settings.map { ($0.key, .string($0.value)) })),
            "settings approval": .string(settingsSeal),
            "grants": .array(
                grants.map { grant in
                    var fields: PropertyListFields = [
                        "grant": .string(grant.kind.rawValue), "path": .string(grant.path),
                        "name": .string(grant.name), "sha256": .string(grant.digest),
                        "approved": .string(grant.time), "approval": .string(grant.seal),
                    ]
                    if !grant.spelling.isEmpty { fields["spelling"] = .string(grant.spelling) }
                    return .fields(fields)
                }),
        ])
    }
}

/// The reason why a configuration cannot be used.
package enum ConfigurationError: Error, Sendable, Hashable, CustomStringConvertible {
    /// A file operation failed.
    case file(FileError)
    /// The file is not a configuration.
    case damaged(path: String, reason: String)
    /// Other users could have written it.
    case exposed(path: String, reason: String)
    /// Parts of it were not approved, or were approved for another folder at the container's path.
    case changed(path: String, parts: [String])
    /// There is no home folder.
    case noHome
    /// It would be inside the container, where scripts can write.
    case inContainer(path: String)

    package var message: String {
        switch self {
        case .file(let error): error.message
        case .damaged(let path, let reason):
            "\(DisplayPath.abbreviate(path)) is not a configuration: \(reason); remove it, and configure the container anew"
        case .exposed(let path, let reason): "\(DisplayPath.abbreviate(path)) is not trusted: \(reason)"
        case .changed(let path, let parts):
            "\(DisplayPath.abbreviate(path)) was changed since it was approved, or the container was replaced: "
                + parts.joined(separator: "; ")
        case .noHome: "there is no home folder to keep a configuration in: set HOME or XDG_CONFIG_HOME"
        case .inContainer(let path):
            "the configuration's folder \(DisplayPath.abbreviate(path)) lies in the container: set XDG_CONFIG_HOME to a folder outside of it"
        }
    }

    package var description: String { message }
}

/// The folder that a configuration was approved for: another folder at the same path is another container.
///
/// The file system's number is omitted, since it may change when the machine starts; the time of creation distinguishes
/// a reused inode number from the first one.
package struct ContainerIdentity: Sendable, Hashable {
    /// The root without links.
    package let path: String
    private let inode: UInt64
    private let created: Int64

    /// - Throws: `FileError` when the container does not exist.
    package init(_ container: ApplicationContainer) throws(FileError) {
        path = try RealPath.of(container.path)
        let descriptor = open(path, cubby_open_path | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { throw FileError(.open, path, code: errno) }
        defer { close(descriptor) }
        var raw = stat()
        guard fstat(descriptor, &raw) == 0 else { throw FileError(.status, path, code: errno) }
        inode = UInt64(raw.st_ino)
        created = cubby_birth_time(descriptor)
    }

    /// The digest of texts approved for this container.
    func seal(_ texts: [String]) -> String {
        var text = ""
        for part in [path, String(inode), String(created)] + texts { text += "\(part.utf8.count):\(part)" }
        return SHA256.digest(Array(text.utf8)).hexadecimal
    }
}

/// Something outside a container that its scripts may use.
package struct Grant: Sendable, Hashable {
    /// The permitted access.
    package enum Kind: String, Sendable, CaseIterable { case read, write, run, net }

    /// A grant's relation to the current state of the file system.
    package enum State: String, Sendable { case asApproved = "as approved", changed, gone }

    package let kind: Kind
    /// The path, without links; empty for the network.
    package let path: String
    /// A program's name for scripts, or the host and the port; empty for a path.
    package let name: String
    /// A program's SHA-256 in hexadecimal digits; empty for a path, since its grant covers any contents.
    package let digest: String
    /// The time of the approval, in UTC.
    package let time: String
    /// The path by which a program was granted, if its last component is a link; else empty.
    package let spelling: String
    /// The approval: the digest of all of the above and of the container.
    var seal = ""

    init(kind: Kind, path: String, name: String, digest: String, time: String, spelling: String = "") {
        (self.kind, self.path, self.name, self.digest, self.time) = (kind, path, name, digest, time)
        self.spelling = spelling
    }

    /// A grant of a path.
    ///
    /// - Throws: `FileError` if nothing is there, or for writing to a file.
    package init(_ kind: Kind, of path: String) throws(FileError) {
        let real = try RealPath.of(path)
        if kind == .write, try PosixFileLayer().status(real)?.kind != .directory {
            throw FileError(
                .open, path, code: ENOTDIR,
                reason: "only a folder can be granted for writing: files are replaced by way of their folder")
        }
        self.init(kind: kind, path: real, name: "", digest: "", time: Self.now())
    }

    /// A grant of a program in its current state.
    package init(_ program: ProgramGrant) {
        self.init(
            kind: .run, path: program.path, name: program.name, digest: program.digest, time: Self.now(),
            spelling: program.spelling == program.path ? "" : program.spelling)
    }

    /// A grant of the network.
    package init(_ network: NetworkGrant) {
        self.init(kind: .net, path: "", name: "\(network)", digest: "", time: Self.now())
    }

    /// The host and its ports; nil for another grant.
    package var network: NetworkGrant? { kind == .net ? try? NetworkGrant(name) : nil }

    /// The program; nil for another grant.
    package var program: ProgramGrant? {
        guard kind == .run else { return nil }
        return ProgramGrant(name: name, path: path, digest: digest, spelling: spelling.isEmpty ? path : spelling)
    }

    /// Whether it is replaced by another grant, or revoked with it.
    package func isSame(as other: Grant) -> Bool {
        kind == other.kind && (kind == .run || kind == .net ? name == other.name : path == other.path)
    }

    /// The state; computing it reads a program's file.
    package var state: State {
        if kind == .net { return .asApproved }
        guard let real = try? RealPath.of(path) else { return .gone }
        guard real == path else { return .changed }
        guard kind == .run else { return .asApproved }
        guard let file = try? ProgramFile(path) else { return .changed }
        return file.digest == digest ? .asApproved : .changed
    }

    /// For messages: `run exiftool (/usr/bin/exiftool)`.
    package var title: String {
        switch kind {
        case .run: "run \(name) (\(DisplayPath.abbreviate(path)))"
        case .net: "net \(network?.title ?? name)"
        case .read, .write: "\(kind.rawValue) \(DisplayPath.abbreviate(path))"
        }
    }

    /// Without a spelling as before there was one: earlier approvals hold.
    var texts: [String] { [kind.rawValue, path, name, digest, time] + (spelling.isEmpty ? [] : [spelling]) }

    private static func now() -> String { LocalTime.isoText(.now()).prefix(19) + "Z" }
}

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
        let name = PathText.name(of: self.container)
        // A file's name has at most 255 bytes.
        let start = name.utf8.count > 232 ? String(decoding: name.utf8.prefix(200), as: UTF8.self) : name
        path = PathText.join(folder, start + "-" + String(digest.prefix(16)) + ".plist")
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
        try Self.write(configuration.propertyList(for: container), to: path, using: layer)
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

    /// Writes a property list that only the user can read.
    static func write(
        _ value: PropertyListValue, to path: String, using layer: BeneathFileLayer
    ) throws(ConfigurationError) {
        let bytes: [UInt8]
        do throws(PropertyListError) { bytes = try value.encoded(as: .xml) } catch {
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

    static let limit = 1 << 20
    static let limits = PropertyListLimits(
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
