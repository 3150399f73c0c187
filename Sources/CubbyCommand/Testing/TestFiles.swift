import Files

/// A file with tests.
struct TestFile: Sendable {
    /// Its absolute path.
    let path: String
    /// Its path as the user has given it, or beneath such a folder.
    let shown: String

    var folder: String { PathText.parent(of: path) }

    /// The folders of its modules: its own, and that of the scripts which it is beside.
    var moduleFolders: [String] {
        PathText.name(of: folder) == "tests" ? [folder, PathText.parent(of: folder)] : [folder]
    }

    /// The folder of the scripts that it tests.
    var scripts: String { moduleFolders.last ?? folder }
}

/// The files with tests among some paths: `*_test.lua`, and `*.lua` in folders named `tests`.
enum TestFiles {
    /// - Parameter paths: files, and folders that are searched with all beneath them.
    /// - Returns: the files, in the order of the paths, those of a folder by name.
    /// - Throws: `FileError` when a path cannot be examined, or is not there.
    static func find(_ paths: [String]) throws(FileError) -> [TestFile] {
        let layer = PosixFileLayer()
        var files: [TestFile] = []
        var known: Set<String> = []
        func add(_ path: String, _ shown: String) {
            if known.insert(path).inserted { files.append(TestFile(path: path, shown: shown)) }
        }
        func search(_ folder: String, _ shown: String, depth: Int) throws(FileError) {
            // Deeper folders are those of links or of a mistake.
            guard depth < 64 else { return }
            let isOfTests = PathText.name(of: folder) == "tests"
            for name in try layer.list(folder) where !name.hasPrefix(".") {
                let (path, label) = (PathText.join(folder, name), shown == "." ? name : PathText.join(shown, name))
                switch try layer.status(path)?.kind {
                case .directory?: try search(path, label, depth: depth + 1)
                case .regular? where name.hasSuffix("_test.lua") || (isOfTests && name.hasSuffix(".lua")):
                    add(path, label)
                default: break
                }
            }
        }
        for shown in paths {
            let path = PathText.absolute(shown, from: WorkingDirectory.path ?? "/")
            // The status of what a link leads to.
            if layer.exists(path + "/.") {
                try search(path, shown.count > 1 && shown.hasSuffix("/") ? String(shown.dropLast()) : shown, depth: 0)
            } else if layer.exists(path) {
                add(path, shown)
            } else {
                throw FileError(.open, path, code: FileLayerCode.absent)
            }
        }
        return files
    }

    /// The times of last change of all scripts beside tests, by path.
    static func changes(beside files: [TestFile], _ paths: [String]) -> [String: Int64] {
        let layer = PosixFileLayer()
        var changes: [String: Int64] = [:]
        func look(_ folder: String, depth: Int) {
            guard depth < 64 else { return }
            for name in (try? layer.list(folder)) ?? [] where !name.hasPrefix(".") {
                let path = PathText.join(folder, name)
                guard let status = (try? layer.status(path)) ?? nil else { continue }
                if status.kind == .directory { look(path, depth: depth + 1) }
                if status.kind == .regular, name.hasSuffix(".lua") { changes[path] = status.modified }
            }
        }
        let folders = paths.map { PathText.absolute($0, from: WorkingDirectory.path ?? "/") }
        for folder in Set(folders + files.flatMap(\.moduleFolders)) { look(folder, depth: 0) }
        return changes
    }
}
