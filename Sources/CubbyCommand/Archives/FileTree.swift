import Application
import Files
import Glibc

/// The files of a command line, in its order: the named ones, and those in named folders, in byte order of names. Links
/// and other objects in folders that are not files are entries, too, with the reason why they are not read.
struct FileTree: Sequence, IteratorProtocol {
    /// A file, or the reason why a folder cannot be listed.
    struct Entry {
        let path: String
        /// Whether it is named on the command line.
        let isNamed: Bool
        var problem: FileError?
        /// Why an object in a folder is passed over.
        var omission: String?
    }

    private let layer = PosixFileLayer()
    /// In reverse order: the last one is next.
    private var pending: [Entry]

    init(_ paths: [String]) { pending = paths.reversed().map { Entry(path: $0, isNamed: true) } }

    mutating func next() -> Entry? {
        while var next = pending.popLast() {
            if next.problem != nil { return next }
            do throws(FileError) {
                switch try kind(of: next) {
                case .regular: return next
                case .directory: pending += try contents(of: next.path).reversed()
                case let other:
                    if !next.isNamed { next.omission = Self.omission(other) }
                    return next
                }
            } catch {
                next.problem = error
                return next
            }
        }
        return nil
    }

    private static func omission(_ kind: FileStatus.Kind?) -> String {
        switch kind {
        case .symbolicLink?: "a link, which is not followed"
        case .socket?: "a socket"
        case nil: "it is gone"
        default: "a pipe or a device"
        }
    }

    private func kind(of entry: Entry) throws(FileError) -> FileStatus.Kind? {
        guard entry.isNamed else { return try layer.status(entry.path)?.kind }
        // A named link is followed, also to a folder.
        return entry.path != "-" && !entry.path.isEmpty && layer.exists(PathText.join(entry.path, "."))
            ? .directory : .regular
    }

    private func contents(of folder: String) throws(FileError) -> [Entry] {
        let descriptor = Glibc.open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { throw FileError(.list, folder, code: errno) }
        let stream = try FolderStream(descriptor: descriptor, path: folder)
        var names: [[UInt8]] = []
        while let name = try stream.next() { names.append(name) }
        return names.sorted { $0.lexicographicallyPrecedes($1) }.map { bytes in
            let name = String(decoding: bytes, as: UTF8.self)
            var entry = Entry(path: PathText.join(folder, name), isNamed: false)
            if !name.utf8.elementsEqual(bytes) {
                entry.problem = FileError(.open, entry.path, code: EILSEQ, reason: "the name is not UTF-8")
            }
            return entry
        }
    }
}
