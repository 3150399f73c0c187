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
    public let base: String
    /// The mechanism that keeps paths beneath their grant, for display: "openat2" or "component walk".
    public var method: String { opener.method.rawValue }

    private let opener: BeneathOpener
    private let state: Mutex<State>

    private struct State: Sendable {
        var grants: [FenceGrant] = []
        var closed: [String] = []
        /// Folders whose contents are closed as well.
        var closedFolders: [String] = []
    }

    /// A fence without grants.
    ///
    /// - Parameter base: an absolute folder, the origin of relative paths; the working directory if not given.
    public convenience init(base: String? = nil) {
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
    public convenience init(
        _ container: Container, access: FenceAccess = .readWrite, base: String? = nil
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

    /// Grants access to which the user consented. After consent to reading, writing requires another one.
    package func grantConsent(_ path: String, _ access: FenceAccess) throws(FileError) {
        let grant = try FenceGrant(path, access, base: base, isConsent: true)
        state.withLock { $0.grants.append(grant) }
    }

    /// Closes one file regardless of grants, under every name. Its folder cannot be moved either.
    ///
    /// - Parameter path: a file of the host; it need not exist yet.
    public func close(_ path: String) {
        let absolute = PathText.absolute(path, from: base)
        state.withLock { $0.closed.append(absolute) }
        // The folder's other spelling as well: the container's path may contain a link.
        let parent = PathText.parent(of: absolute)
        guard let resolved = realpath(parent, nil) else { return }
        defer { free(resolved) }
        let real = PathText.join(String(cString: resolved), PathText.name(of: absolute))
        if real != absolute { state.withLock { $0.closed.append(real) } }
    }

    /// Closes a folder and its contents like a file. Its contents are reached directly in it, or not at all.
    ///
    /// - Parameter path: without links; it need not exist yet.
    package func close(folder path: String) {
        close(path)
        state.withLock { $0.closedFolders.append(path) }
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
        case .failure(let verdict): return verdict.value
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
    public var layer: FencedFileLayer { FencedFileLayer(fence: self) }

    // MARK: - For the layer

    /// A path's grant, and the rest beneath it.
    struct Place {
        var grant: FenceGrant
        var rest: String
    }

    private struct Refusal: Error { var value: FenceVerdict }

    private func locate(_ path: String, _ access: FenceAccess) -> Result<Place, Refusal> {
        let absolute = PathText.absolute(path, from: base)
        return state.withLock { state in
            if state.closed.contains(absolute)
                || state.closedFolders.contains(where: { absolute.hasPrefix($0 + "/") })
            {
                return .failure(Refusal(value: .closed(path: absolute)))
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
            return .failure(Refusal(value: readable ? .readOnly(path: absolute) : .notGranted(path: absolute)))
        }
    }

    func place(
        _ path: String, _ access: FenceAccess, _ operation: FileError.Operation
    ) throws(FileError) -> Place {
        if path.utf8.contains(0) { throw FileError(operation, path, code: EINVAL, reason: "the path holds a NUL") }
        switch locate(path, access) {
        case .success(let place): return place
        case .failure(let refusal):
            switch refusal.value {
            case .closed:
                throw FileError(operation, path, code: EACCES, reason: Self.hostsOwn)
            case .readOnly:
                throw FileError(
                    operation, path, code: EACCES,
                    reason: "it may be read, not written; --allow-write DIR grants it")
            case .notGranted, .granted:
                let option = access == .read ? "--allow-read" : "--allow-write"
                throw FileError(
                    operation, path, code: EACCES,
                    reason: "it is outside the sandbox; \(option) DIR grants it")
            }
        }
    }

    /// Opens a path beneath a grant.
    func open(
        _ place: Place, _ path: String, flags: Int32, permissions: UInt32 = 0, _ operation: FileError.Operation
    ) throws(FileError) -> Int32 {
        let descriptor = opener.open(place.grant.root, place.rest, flags: flags, permissions: permissions)
        if descriptor >= 0 { return descriptor }
        throw Self.error(operation, path, code: -descriptor)
    }

    /// Opens the parent folder of a path, and calls `body` with it and the last component.
    func inFolder<Value>(
        of place: Place, _ path: String, _ operation: FileError.Operation,
        _ body: (Int32, String) throws(FileError) -> Value
    ) throws(FileError) -> Value {
        guard !place.rest.isEmpty else {
            throw FileError(operation, path, code: EACCES, reason: "it is the granted folder itself")
        }
        let folder = Place(grant: place.grant, rest: PathText.parent(of: place.rest))
        let descriptor = try open(folder, path, flags: cubby_open_path | O_DIRECTORY, operation)
        defer { Glibc.close(descriptor) }
        let name = PathText.name(of: place.rest)
        try checkNotClosed(name, in: descriptor, path, operation)
        return try body(descriptor, name)
    }

    /// Refuses a name in an open folder that is a closed file, or a folder of one, regardless of the path to it.
    func checkNotClosed(
        _ name: String, in folder: Int32, _ path: String, _ operation: FileError.Operation
    ) throws(FileError) {
        // Status queries are harmless: the existence of a folder with a closed file is no secret.
        if operation == .status { return }
        let (closed, folders) = state.withLock { ($0.closed, $0.closedFolders) }
        if closed.isEmpty { return }
        var own = stat()
        guard fstat(folder, &own) == 0 else { throw FileError(operation, path, code: errno) }
        for closed in folders where Self.names(closed, own) {
            throw FileError(operation, path, code: EACCES, reason: Self.hostsOwn)
        }
        guard fstatat(folder, name, &own, AT_SYMLINK_NOFOLLOW) == 0 else {
            // A file that does not exist yet is identified by its folder and its name.
            guard fstat(folder, &own) == 0 else { throw FileError(operation, path, code: errno) }
            for closedPath in closed {
                var ancestor = closedPath
                // A folder that is moved there could contain the closed file.
                while ancestor == closedPath || (operation == .rename && ancestor != "/") {
                    if PathText.name(of: ancestor) == name, Self.names(PathText.parent(of: ancestor), own) {
                        throw FileError(operation, path, code: EACCES, reason: Self.hostsOwn)
                    }
                    ancestor = PathText.parent(of: ancestor)
                }
            }
            return
        }
        for closedPath in closed {
            var ancestor = closedPath
            while ancestor != "/" {
                if Self.names(ancestor, own) {
                    let reason = ancestor == closedPath ? Self.hostsOwn : "it holds a file of the host's own"
                    throw FileError(operation, path, code: EACCES, reason: reason)
                }
                ancestor = PathText.parent(of: ancestor)
            }
        }
    }

    /// Refuses a path directly in a closed folder, regardless of the links on the path to the folder.
    func checkFolderNotClosed(of place: Place, _ path: String) throws(FileError) {
        let folders = state.withLock { $0.closedFolders }
        guard !folders.isEmpty, !place.rest.isEmpty else { return }
        let folder = Place(grant: place.grant, rest: PathText.parent(of: place.rest))
        let descriptor = try open(folder, path, flags: cubby_open_path | O_DIRECTORY, .open)
        defer { Glibc.close(descriptor) }
        var own = stat()
        guard fstat(descriptor, &own) == 0 else { throw FileError(.open, path, code: errno) }
        guard !folders.contains(where: { Self.names($0, own) }) else {
            throw FileError(.open, path, code: EACCES, reason: Self.hostsOwn)
        }
    }

    private static let hostsOwn = "it is a file of the host's own"

    /// Whether a path leads to the file of a status.
    private static func names(_ path: String, _ status: stat) -> Bool {
        var other = stat()
        return stat(path, &other) == 0 && other.st_dev == status.st_dev && other.st_ino == status.st_ino
    }

    /// Refuses an open file that is a closed one under another name (a hard link).
    func checkNotClosed(_ descriptor: Int32, _ path: String) throws(FileError) {
        var own = stat()
        guard fstat(descriptor, &own) == 0 else { throw FileError(.open, path, code: errno) }
        let (closed, folders) = state.withLock { ($0.closed, $0.closedFolders) }
        let contents = folders.lazy.flatMap { folder in
            ((try? PosixFileLayer().list(folder)) ?? []).map { PathText.join(folder, $0) }
        }
        guard !closed.contains(where: { Self.names($0, own) }), !contents.contains(where: { Self.names($0, own) })
        else { throw FileError(.open, path, code: EACCES, reason: Self.hostsOwn) }
    }

    static func error(_ operation: FileError.Operation, _ path: String, code: Int32) -> FileError {
        code == EXDEV || code == ELOOP
            ? FileError(operation, path, code: EACCES, reason: "a link in it leads out of the folder that was granted")
            : FileError(operation, path, code: code)
    }
}
