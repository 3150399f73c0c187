import CPlatform
public import Files
import Glibc
import Synchronization

/// The first fence of the sandbox: lets paths through that are beneath what was granted, and opens them so that they stay
/// there.
///
/// A path is taken as text first: made absolute from `base`, with "." and ".." resolved. Then the longest grant that holds
/// it is looked for, and the rest is opened beneath that grant's open folder, where the kernel sees to it that no symbolic
/// link leads out. Sendable, so that a save on another thread goes through the same fence.
public final class PathFence: Sendable {
    /// Where relative paths begin.
    public let base: String
    /// How paths are kept beneath their grant, for people: "openat2" or "component walk".
    public var method: String { opener.method.rawValue }

    private let opener: BeneathOpener
    private let state: Mutex<State>

    private struct State: Sendable {
        var grants: [FenceGrant] = []
        var closed: [String] = []
    }

    /// A fence that lets nothing through.
    ///
    /// - Parameter base: an absolute folder, where relative paths begin; the working directory if not given.
    public convenience init(base: String? = nil) {
        self.init(base: base, opener: .system)
    }

    init(base: String?, opener: BeneathOpener) {
        self.base = base ?? WorkingDirectory.path ?? "/"
        self.opener = opener
        state = Mutex(State())
    }

    /// A fence around a container, which is granted for reading and writing but for its lock file.
    ///
    /// - Parameters:
    ///   - container: whose folders exist.
    ///   - access: `.read` for a container that is only looked at.
    ///   - base: where relative paths begin.
    /// - Throws: `FileError` when the container cannot be opened.
    public convenience init(
        _ container: Container, access: FenceAccess = .readWrite, base: String? = nil
    ) throws(FileError) {
        self.init(base: base)
        try grant(container.path, access)
        close(container.lockFile)
    }

    /// Lets a folder and all beneath it through, or, for reading, one file. A file must exist, and so must a folder.
    ///
    /// - Parameters:
    ///   - path: which one; where it leads when it is a symbolic link, as it was named on purpose.
    ///   - access: for what.
    /// - Throws: `FileError` when it cannot be opened, or a file is granted for writing.
    public func grant(_ path: String, _ access: FenceAccess) throws(FileError) {
        let grant = try FenceGrant(path, access, base: base)
        state.withLock { $0.grants.append(grant) }
    }

    /// Closes one file, whatever is granted, under every name that leads to it. Nor can it be moved with its folder.
    ///
    /// - Parameter path: the host's own file; it need not exist yet.
    public func close(_ path: String) {
        let absolute = PathText.absolute(path, from: base)
        state.withLock { $0.closed.append(absolute) }
        // The folder's other spelling, too: the container may have been given through a link.
        let parent = PathText.parent(of: absolute)
        guard let resolved = realpath(parent, nil) else { return }
        defer { free(resolved) }
        let real = PathText.join(String(cString: resolved), PathText.name(of: absolute))
        if real != absolute { state.withLock { $0.closed.append(real) } }
    }

    /// What the fence says of a path; nothing is opened.
    ///
    /// - Parameters:
    ///   - path: absolute, or relative to `base`.
    ///   - access: what it is wanted for.
    /// - Returns: the verdict.
    public func verdict(_ path: String, _ access: FenceAccess) -> FenceVerdict {
        switch locate(path, access) {
        case .success: return .granted
        case .failure(let verdict): return verdict.value
        }
    }

    /// Throws what an attempt would end in that the fence refuses; nothing is opened.
    ///
    /// - Parameters:
    ///   - path: absolute, or relative to `base`.
    ///   - access: what it is wanted for, which the error names.
    /// - Throws: `FileError` with `EACCES`.
    public func check(_ path: String, _ access: FenceAccess) throws(FileError) {
        _ = try place(path, access, access == .read ? .open : .write)
    }

    /// The file system as the fence lets it be seen: what is refused is an error with `EACCES`.
    public var layer: FencedFileLayer { FencedFileLayer(fence: self) }

    // MARK: - For the layer

    /// Where a path is: the grant, and the rest beneath it.
    struct Place {
        var grant: FenceGrant
        var rest: String
    }

    private struct Refusal: Error { var value: FenceVerdict }

    private func locate(_ path: String, _ access: FenceAccess) -> Result<Place, Refusal> {
        let absolute = PathText.absolute(path, from: base)
        return state.withLock { state in
            if state.closed.contains(absolute) {
                return .failure(Refusal(value: .closed(path: absolute)))
            }
            var best: Place?
            var readable = false
            for grant in state.grants {
                guard let rest = grant.beneath(absolute) else { continue }
                readable = true
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
                    reason: "it may be read, not written; --allow-write with its folder grants that")
            case .notGranted, .granted:
                let option = access == .read ? "--allow-read" : "--allow-write"
                throw FileError(
                    operation, path, code: EACCES,
                    reason: "it is outside of what the sandbox lets in; \(option) with its folder grants that")
            }
        }
    }

    /// Opens beneath a grant.
    func open(
        _ place: Place, _ path: String, flags: Int32, permissions: UInt32 = 0, _ operation: FileError.Operation
    ) throws(FileError) -> Int32 {
        let descriptor = opener.open(place.grant.root, place.rest, flags: flags, permissions: permissions)
        if descriptor >= 0 { return descriptor }
        throw Self.error(operation, path, code: -descriptor)
    }

    /// Opens the folder that a path's last component is in, and calls `body` with it and the component.
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

    /// Refuses a name in an open folder that is a closed file, or a folder that one is in, by whichever way it was reached.
    private func checkNotClosed(
        _ name: String, in folder: Int32, _ path: String, _ operation: FileError.Operation
    ) throws(FileError) {
        // Asking is no harm; the status of a folder that holds a closed file is nobody's secret.
        if operation == .status { return }
        let closed = state.withLock { $0.closed }
        if closed.isEmpty { return }
        var own = stat()
        guard fstatat(folder, name, &own, AT_SYMLINK_NOFOLLOW) == 0 else {
            // It may be about to be made: go by its folder and its name.
            guard fstat(folder, &own) == 0 else { throw FileError(operation, path, code: errno) }
            for path in closed where PathText.name(of: path) == name && Self.names(PathText.parent(of: path), own) {
                throw FileError(operation, path, code: EACCES, reason: Self.hostsOwn)
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

    private static let hostsOwn = "it is a file of the host's own"

    /// Whether a path leads to the file that a status is of.
    private static func names(_ path: String, _ status: stat) -> Bool {
        var other = stat()
        return stat(path, &other) == 0 && other.st_dev == status.st_dev && other.st_ino == status.st_ino
    }

    /// Refuses an open file that is one of the closed ones under another name (a link).
    func checkNotClosed(_ descriptor: Int32, _ path: String) throws(FileError) {
        var own = stat()
        guard fstat(descriptor, &own) == 0 else { throw FileError(.open, path, code: errno) }
        for closed in state.withLock({ $0.closed }) where Self.names(closed, own) {
            throw FileError(.open, path, code: EACCES, reason: Self.hostsOwn)
        }
    }

    static func error(_ operation: FileError.Operation, _ path: String, code: Int32) -> FileError {
        code == EXDEV || code == ELOOP
            ? FileError(operation, path, code: EACCES, reason: "a link in it leads out of the folder that was granted")
            : FileError(operation, path, code: code)
    }
}
