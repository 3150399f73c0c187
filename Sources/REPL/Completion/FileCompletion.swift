import Application
import Files
import LineEditor
import Scripting

/// Completes paths of files and folders.
struct FileCompletion {
    private let layer: any FileLayer
    private static let limit = 500

    /// - Parameter layer: all files of the user, or those readable by scripts.
    init(_ layer: any FileLayer = PosixFileLayer()) { self.layer = layer }

    /// The entries that complete a path, and the number of bytes that they replace.
    ///
    /// - Parameters:
    ///   - path: the typed path.
    ///   - closing: the text after a file's name.
    /// - Returns: both; the entries in the folder's order.
    func candidates(_ path: String, closing: String = "") -> (candidates: [Candidate], length: Int) {
        let slash = path.utf8.lastIndex(of: UInt8(ascii: "/"))
        let folder = slash.map { String(path[..<path.utf8.index(after: $0)]) } ?? ""
        let name = slash.map { String(path[path.utf8.index(after: $0)...]) } ?? path
        var target = folder.isEmpty ? "." : folder
        if target.hasPrefix("~/"), let home = Environment.value("HOME") { target = home + target.dropFirst() }
        var shown: [Candidate] = []
        for entry in ((try? layer.list(target)) ?? []).sorted() where entry.utf8.starts(with: name.utf8) {
            // Hidden entries are shown for a name that begins with a dot.
            if entry.hasPrefix("."), !name.hasPrefix(".") { continue }
            let status = try? layer.status(PathText.join(target, entry))
            let isFolder = status?.kind == .directory
            shown.append(
                Candidate(
                    entry + (isFolder ? "/" : ""), kind: isFolder ? .folder : .file, suffix: isFolder ? "" : closing))
            if shown.count == Self.limit { break }
        }
        return (shown, name.utf8.count)
    }

    /// The candidates of a command whose argument is a file; nil for any other text.
    func result(_ text: String, cursor: Int) -> CompletionResult? {
        guard let command = CommandLine.parse(text), cursor == text.utf8.count, cursor > command.nameRange.upperBound,
            case .files? = Command.named(command.name)?.completion
        else { return nil }
        let found = candidates(String(decoding: Array(text.utf8)[command.restOffset...], as: UTF8.self))
        return CompletionResult(replacement: cursor - found.length..<cursor, candidates: found.candidates)
    }

    /// The modules that `require` finds in its first folders.
    static func modules(_ host: ScriptHost) -> [String] {
        var names: [String] = []
        let real = PosixFileLayer()
        for folder in host.options.modulePaths + [host.container.scripts] {
            for entry in ((try? real.list(folder)) ?? []).prefix(limit) where entry.hasSuffix(".lua") {
                names.append(String(entry.dropLast(4)))
            }
        }
        return names.filter { $0 != "init" }
    }
}
