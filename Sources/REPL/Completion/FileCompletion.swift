import Application
import Files
import LineEditor
import Scripting

/// Completes paths of files and folders.
struct FileCompletion {
    private let host: ScriptHost
    private static let limit = 500

    init(_ host: ScriptHost) { self.host = host }

    /// The entries that complete a path, and the number of bytes that they replace.
    ///
    /// - Parameters:
    ///   - path: the typed path.
    ///   - granted: whether to show only paths that scripts may read; else those of the user.
    ///   - closing: the text after a file's name.
    /// - Returns: both, the entries in the folder's order.
    func candidates(_ path: String, granted: Bool, closing: String) -> (candidates: [Candidate], length: Int) {
        let slash = path.utf8.lastIndex(of: UInt8(ascii: "/"))
        let folder = slash.map { String(path[..<path.utf8.index(after: $0)]) } ?? ""
        let name = slash.map { String(path[path.utf8.index(after: $0)...]) } ?? path
        var target = folder.isEmpty ? "." : folder
        if target.hasPrefix("~/"), let home = Environment.value("HOME") { target = home + target.dropFirst() }
        let real = PosixFileLayer()
        let entries: [String]
        if granted {
            let layer = host.fence.layer
            entries = (try? layer.list(target)) ?? []
        } else {
            entries = (try? real.list(target)) ?? []
        }
        var shown: [Candidate] = []
        for entry in entries.sorted() where entry.utf8.starts(with: name.utf8) {
            // Hidden entries are shown for a name that begins with a dot.
            if entry.hasPrefix("."), !name.hasPrefix(".") { continue }
            let isFolder = isFolder(PathText.join(target, entry), granted)
            shown.append(
                Candidate(
                    entry + (isFolder ? "/" : ""), kind: isFolder ? .folder : .file, suffix: isFolder ? "" : closing))
            if shown.count == Self.limit { break }
        }
        return (shown, name.utf8.count)
    }

    private func isFolder(_ path: String, _ granted: Bool) -> Bool {
        let status = granted ? try? host.fence.layer.status(path) : try? PosixFileLayer().status(path)
        return status?.kind == .directory
    }

    /// The modules that `require` finds in its first folders.
    func modules() -> [String] {
        var names: [String] = []
        let real = PosixFileLayer()
        for folder in host.options.modulePaths + [host.container.scripts] {
            for entry in ((try? real.list(folder)) ?? []).prefix(Self.limit) where entry.hasSuffix(".lua") {
                names.append(String(entry.dropLast(4)))
            }
        }
        return names.filter { $0 != "init" }
    }
}
