import CPlatform
public import Files
import Glibc
import Synchronization

/// The sandbox's first fence: it opens only paths beneath a grant, and keeps them beneath it.
///
/// A path is first resolved as text: made absolute from `base`, without "." and "..". Then the longest matching grant
/// is found, and the rest is opened beneath that grant's open folder, where the kernel refuses symbolic links that lead
/// out. Sendable, so that a save on another thread uses the same fence.
public final class PathFence: Sendable {
    /// The origin of relative paths.
    package let base: String
    /// The mechanism that keeps paths beneath their grant, for display: "openat2" or "component walk".
    package var method: String { opener.method.rawValue }

    private let opener: BeneathOpener
    private let state: Mutex<State>

    private struct State: Sendable {
        var grants: [FenceGrant] = []
        /// The host's own files and folders.
        var own: [HostsOwn] = []
        /// What grants access, as an error says it.
        var advice: @Sendable (FenceAccess) -> String = {
            "\($0 == .read ? "--allow-read" : "--allow-write") DIR grants it"
        }
        /// These, and all folders above them.
        var guarded: NameTable<HostsOwn> = [:]
    }

    /// A fence without grants.
    ///
    /// - Parameter base: an absolute folder, the origin of relative paths; the working directory if not given.
    package convenience init(base: String? = nil) {
        self.init(base: base, opener: .system)
    }

    init(base: String?, opener: BeneathOpener) {
        self.base = base ?? WorkingDirectory.path ?? "/"
        self.opener = opener
        state = Mutex(State())
    }

    /// A fence with a grant for a container, except its lock file.
    ///
    /// - Parameters:
    ///   - container: its folders exist.
    ///   - access: `.read` for a read-only container.
    ///   - base: the origin of relative paths.
    /// - Throws: `FileError` when the container cannot be opened.
    package convenience init(
        _ container: ApplicationContainer, access: FenceAccess = .readWrite, base: String? = nil
    ) throws(FileError) {
        self.init(base: base)
        try grant(container.path, access)
        close(container.lockFile)
    }

    /// Grants access to a folder with its contents, or reading of one file. It must exist.
    ///
    /// - Parameters:
    ///   - path: the path; a symbolic link is followed, since it was named on purpose.
    ///   - access: the access.
    /// - Throws: `FileError` when it cannot be opened, or for writing to a single file.
    public func grant(_ path: String, _ access: FenceAccess) throws(FileError) {
        let grant = try FenceGrant(path, access, base: base)
        state.withLock { $0.grants.append(grant) }
    }

    /// Sets what errors say of how access is granted, for a host without a command line of the user's.
    package func advise(_ advice: @escaping @Sendable (FenceAccess) -> String) {
        state.withLock { $0.advice = advice }
    }

    private func advice(_ access: FenceAccess) -> String { state.withLock { $0.advice }(access) }

    /// Grants access to which the user consented. After consent to reading, writing requires another one.
    package func grantConsent(_ path: String, _ access: FenceAccess) throws(FileError) {
        let grant = try FenceGrant(path, access, base: base, isConsent: true)
        state.withLock { $0.grants.append(grant) }
    }

    /// Closes one file regardless of grants, under every name. Its folder cannot be moved either.
    ///
    /// - Parameter path: a file of the host; it need not exist yet.
    package func close(_ path: String) { close(path, .file(readable: false)) }

    /// Closes a folder and its contents like a file. Its contents are reached directly in it, or not at all.
    ///
    /// - Parameter path: it need not exist yet.
    package func close(folder path: String) { close(path, .contents(readable: false)) }

    /// Closes a file or folder of the host.
    ///
    /// - Parameters:
    ///   - path: it need not exist yet.
    ///   - extent: what is closed of it.
    package func close(_ path: String, _ extent: HostsOwn.Extent) {
        let absolute = PathText.absolute(path, from: base)
        add(HostsOwn(path: absolute, extent: extent))
        // The folder's other spelling as well: the container's path may contain a link.
        let parent = PathText.parent(of: absolute)
        guard let resolved = realpath(parent, nil) else { return }
        defer { free(resolved) }
        let real = PathText.join(String(cString: resolved), PathText.name(of: absolute))
        if real != absolute { add(HostsOwn(path: real, extent: extent)) }
    }

    private func add(_ own: HostsOwn) {
        state.withLock { state in
            state.own.append(own)
            state.guarded[own.path] = own
            var path = PathText.parent(of: own.path)
            while path != "/", state.guarded[path] == nil {
                state.guarded[path] = HostsOwn(path: path, extent: .above)
                path = PathText.parent(of: path)
            }
        }
    }

    /// The fence's decision on a path; opens nothing.
    ///
    /// - Parameters:
    ///   - path: absolute, or relative to `base`.
    ///   - access: the wanted access.
    /// - Returns: the verdict.
    package func verdict(_ path: String, _ access: FenceAccess) -> FenceVerdict {
        switch locate(path, access) {
        case .success: return .granted
        case .failure(let verdict): return verdict
        }
    }

    /// Throws the error of a refused access; opens nothing.
    ///
    /// - Parameters:
    ///   - path: absolute, or relative to `base`.
    ///   - access: the wanted access, for the error's text.
    /// - Throws: `FileError` with `EACCES`.
    public func check(_ path: String, _ access: FenceAccess) throws(FileError) {
        _ = try place(path, access, access == .read ? .open : .write)
    }

    /// The file system behind the fence: a refused access is an error with `EACCES`.
    package var layer: FencedFileLayer { FencedFileLayer(fence: self) }

    // MARK: - For the layer

    /// A path's grant, and the rest beneath it.
    struct Place {
        var grant: FenceGrant
        var rest: String
    }

    private func locate(_ path: String, _ access: FenceAccess) -> Result<Place, FenceVerdict> {
        let absolute = PathText.absolute(path, from: base)
        return state.withLock { state in
            if TemporaryName.isClosed(in: absolute) || state.own.contains(where: { $0.closes(absolute, access) }) {
                return .failure(.closed(path: absolute))
            }
            var best: Place?
            var readable = false
            for grant in state.grants {
                guard let rest = grant.beneath(absolute) else { continue }
                if !grant.isConsent { readable = true }
                guard grant.access.allows(access) else { continue }
                if let found = best, found.rest.utf8.count <= rest.utf8.count { continue }
                best = Place(grant: grant, rest: rest)
            }
            if let best { return .success(best) }
            return .failure(readable ? .readOnly(path: absolute) : .notGranted(path: absolute))
        }
    }

    func place(
        _ path: String, _ access: FenceAccess, _ operation: FileError.Operation
    ) throws(FileError) -> Place {
        if PathText.isTooLong(path) {
            throw FileError(operation, PathText.beginning(of: path), code: ENAMETOOLONG, reason: "the path is too long")
        }
        if path.isEmpty { throw FileError(operation, path, code: ENOENT, reason: "the path is empty") }
        if path.utf8.contains(0) { throw FileError(operation, path, code: EINVAL, reason: "the path holds a NUL") }
        let reason: String
        switch locate(path, access) {
        case .success(let place): return place
        case .failure(.closed): reason = Self.hostsOwn
        case .failure(.readOnly): reason = "it may be read, not written; \(advice(access))"
        case .failure(.notGranted), .failure(.granted): reason = "it is outside the sandbox; \(advice(access))"
        }
        throw FileError(operation, path, code: EACCES, reason: reason)
    }

    /// Opens a path beneath a grant.
    func open(
        _ place: Place, _ path: String, flags: Int32, permissions: UInt32 = 0, _ operation: FileError.Operation
    ) throws(FileError) -> Int32 {
        let descriptor = opener.open(place.grant.root, place.rest, flags: flags, permissions: permissions)
        if descriptor >= 0 { return descriptor }
        throw Self.error(operation, path, code: -descriptor)
    }

    /// Opens what a path leads to, unless it is the host's own.
    func open(
        _ path: String, _ access: FenceAccess, flags: Int32, _ operation: FileError.Operation
    ) throws(FileError) -> Int32 {
        let descriptor = try open(place(path, access, operation), path, flags: flags, operation)
        do throws(FileError) { try checkNotClosed(descriptor, path, access) } catch {
            Glibc.close(descriptor)
            throw error
        }
        return descriptor
    }

    /// Opens a folder to list it.
    func openFolder(_ path: String, followsLinks: Bool) throws(FileError) -> Int32 {
        let flags = O_RDONLY | O_DIRECTORY | O_NONBLOCK | (followsLinks ? 0 : O_NOFOLLOW)
        return try open(path, .read, flags: flags, .list)
    }

    /// Opens the folder of a path beneath a grant, and checks that the name in it is not the host's own.
    func entry(
        of place: Place, _ path: String, _ operation: FileError.Operation
    ) throws(FileError) -> FolderEntry {
        guard !place.rest.isEmpty else {
            throw FileError(operation, path, code: EACCES, reason: "it is the granted folder itself")
        }
        let folder = Place(grant: place.grant, rest: PathText.parent(of: place.rest))
        let entry = FolderEntry(
            PathText.name(of: place.rest), in: try open(folder, path, flags: cubby_open_path | O_DIRECTORY, operation))
        try checkNotClosed(entry.name, in: entry.folder, path, operation)
        return entry
    }

    /// Refuses to change a name in an open folder that is the host's own, or a folder of that, regardless of the path
    /// to it.
    func checkNotClosed(
        _ name: String, in folder: Int32, _ path: String, _ operation: FileError.Operation
    ) throws(FileError) {
        // Status queries are harmless: the existence of a folder with a closed file is no secret.
        if operation == .status { return }
        let (own, guarded) = state.withLock { ($0.own, $0.guarded) }
        if own.isEmpty { return }
        var above = stat()
        guard fstat(folder, &above) == 0 else { throw FileError(operation, path, code: errno) }
        for own in own where own.extent.hasContents && Self.names(own.path, above) {
            throw FileError(operation, path, code: EACCES, reason: Self.hostsOwn)
        }
        var found = stat()
        if fstatat(folder, name, &found, AT_SYMLINK_NOFOLLOW) == 0 {
            // A folder that is there is not made again.
            if operation == .makeDirectory { return }
            guard let held = guarded.values.first(where: { Self.names($0.path, found) }) else { return }
            throw FileError(
                operation, path, code: EACCES,
                reason: [.above, .folder].contains(held.extent) ? "it holds a file of the host's own" : Self.hostsOwn)
        }
        // What does not exist yet is identified by its folder and its name, in any case; a folder that is moved there
        // could contain a closed file.
        for place in guarded.values
        where place.refuses(operation) && place.hasName(name) && Self.names(PathText.parent(of: place.path), above) {
            throw FileError(operation, path, code: EACCES, reason: Self.hostsOwn)
        }
    }

    /// Refuses to create the host's own, regardless of the links on the path to it.
    func checkMayCreate(_ place: Place, _ path: String) throws(FileError) {
        guard !place.rest.isEmpty else { return }
        let entry = try entry(of: place, path, .open)
        var raw = stat()
        let isLink =
            fstatat(entry.folder, entry.name, &raw, AT_SYMLINK_NOFOLLOW) == 0 && raw.st_mode & S_IFMT == S_IFLNK
        // What a link leads to is checked once it is open: it has to be there.
        if isLink { Glibc.close(try open(place, path, flags: cubby_open_path, .open)) }
    }

    private static let hostsOwn = "it is a file of the host's own"

    /// Whether a path leads to the file of a status.
    private static func names(_ path: String, _ status: stat) -> Bool {
        var other = stat()
        return stat(path, &other) == 0 && other.st_dev == status.st_dev && other.st_ino == status.st_ino
    }

    /// Refuses an open file or folder that is a closed one under another name (a hard link).
    func checkNotClosed(_ descriptor: Int32, _ path: String, _ access: FenceAccess) throws(FileError) {
        var found = stat()
        guard fstat(descriptor, &found) == 0 else { throw FileError(.open, path, code: errno) }
        for own in state.withLock({ $0.own }) where own.isClosed(for: access) {
            var isOwn = Self.names(own.path, found)
            if own.extent.hasContents, !isOwn {
                isOwn = ((try? PosixFileLayer().list(own.path)) ?? []).contains {
                    Self.names(PathText.join(own.path, $0), found)
                }
            }
            if isOwn { throw FileError(.open, path, code: EACCES, reason: Self.hostsOwn) }
        }
    }

    static func error(_ operation: FileError.Operation, _ path: String, code: Int32) -> FileError {
        code == EXDEV || code == ELOOP
            ? FileError(operation, path, code: EACCES, reason: "a link in it leads out of the folder that was granted")
            : FileError(operation, path, code: code)
    }
}

/// A file or folder of the host that a grant covers, and that scripts must not change.
package struct HostsOwn: Sendable {
    /// What is closed of it.
    package enum Extent: Sendable, Hashable {
        /// The file; scripts may read it or not.
        case file(readable: Bool)
        /// The folder with its contents; scripts may read them or not.
        case contents(readable: Bool)
        /// Only that it is a folder and where it is: its contents are open.
        case folder
        /// Nothing by itself: it is a folder above one of the others.
        case above

        var hasContents: Bool { if case .contents = self { true } else { false } }
    }

    /// Absolute.
    let path: String
    let extent: Extent

    /// Whether a path is closed by its text.
    func closes(_ absolute: String, _ access: FenceAccess) -> Bool {
        guard isClosed(for: access) else { return false }
        return absolute == path || (extent.hasContents && absolute.hasPrefix(path + "/"))
    }

    /// Whether it must not be open for this access.
    func isClosed(for access: FenceAccess) -> Bool {
        switch extent {
        case .file(let readable), .contents(let readable): !readable || access == .readWrite
        case .folder, .above: false
        }
    }

    /// Whether an operation may not create it.
    func refuses(_ operation: FileError.Operation) -> Bool {
        switch extent {
        case .file, .contents: true
        case .folder: operation != .makeDirectory
        case .above: operation == .rename
        }
    }

    /// Whether a file's name is its own, in any case, which some file systems do not distinguish.
    func hasName(_ name: String) -> Bool {
        let own = PathText.name(of: path)
        return own == name || (own.utf8.count == name.utf8.count && own.lowercased() == name.lowercased())
    }
}

/// A granted folder or file. Its folder is kept open, so that files are opened beneath the granted folder itself, even
/// after renames.
final class FenceGrant: Sendable {
    /// The grant's absolute paths: as given, and without symbolic links.
    let spellings: [String]
    let access: FenceAccess
    /// Whether a user consented to it at the prompt, and may be asked for further access.
    let isConsent: Bool
    /// The folder, or the file's folder.
    let root: Int32
    /// The file's name beneath `root`; nil for a folder.
    let file: String?

    init(_ path: String, _ access: FenceAccess, base: String, isConsent: Bool = false) throws(FileError) {
        let absolute = PathText.absolute(path, from: base)
        guard let resolved = realpath(absolute, nil) else { throw FileError(.open, absolute, code: errno) }
        defer { free(resolved) }
        let real = String(cString: resolved)
        var isFolder = true
        var descriptor = Glibc.open(real, cubby_open_path | O_DIRECTORY | O_CLOEXEC)
        if descriptor < 0, errno == ENOTDIR {
            isFolder = false
            guard access == .read else {
                throw FileError(
                    .open, absolute, code: ENOTDIR,
                    reason: "only a folder can be granted for writing: files are replaced by way of their folder")
            }
            descriptor = Glibc.open(PathText.parent(of: real), cubby_open_path | O_DIRECTORY | O_CLOEXEC)
        }
        guard descriptor >= 0 else { throw FileError(.open, absolute, code: errno) }
        root = descriptor
        file = isFolder ? nil : PathText.name(of: real)
        spellings = absolute == real ? [real] : [absolute, real]
        self.access = access
        self.isConsent = isConsent
    }

    deinit { close(root) }

    /// The path beneath `root` of an absolute path without "." and ".."; nil outside the grant.
    func beneath(_ path: String) -> String? {
        for spelling in spellings {
            if path == spelling { return file ?? "" }
            guard file == nil else { continue }
            if spelling == "/" { return String(path.dropFirst()) }
            if path.hasPrefix(spelling + "/") { return String(path.dropFirst(spelling.utf8.count + 1)) }
        }
        return nil
    }
}

/// The granted or wanted access to a path.
public enum FenceAccess: Sendable, Hashable {
    /// Reading only.
    case read
    /// Reading, writing, creating and removing.
    case readWrite

    /// Whether this access includes the wanted one.
    func allows(_ wanted: FenceAccess) -> Bool { self == .readWrite || wanted == .read }
}

/// A fence's decision on a path, before any file is opened.
package enum FenceVerdict: Error, Hashable {
    /// Beneath a grant with this access.
    case granted
    /// Outside every grant; the user may be asked. The path is absolute.
    case notGranted(path: String)
    /// Beneath a read-only grant.
    case readOnly(path: String)
    /// One of the host's own files, which no grant opens.
    case closed(path: String)
}
