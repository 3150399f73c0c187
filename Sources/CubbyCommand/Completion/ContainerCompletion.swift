import Application
import ArgumentParser
import Files

extension CompletionKind {
    /// Containers: `:memory:`, the usual one, those with a configuration, and folders.
    static let container = CompletionKind.custom { words, index, prefix in
        CompletionCandidates.escaped(
            ContainerCompletion.candidates(CompletionCandidates.typed(words, index, prefix)))
    }
}

/// Candidates for the value of `--container`.
enum ContainerCompletion {
    /// - Parameter prefix: the typed text.
    /// - Returns: the known containers, then folders.
    static func candidates(_ prefix: String) -> [String] {
        let known = ([MemoryContainer.name] + paths).filter { $0.hasPrefix(prefix) }
        return known + folders(prefix).filter { !known.contains($0) }
    }

    /// The usual container, and those with a configuration.
    private static var paths: [String] {
        var paths = Container.locate().map { [$0.path] } ?? []
        if let folder = ConfigurationFolder.locate() {
            for path in ConfigurationFile.containers(in: folder) where !paths.contains(path) { paths.append(path) }
        }
        return paths.filter(isContainer)
    }

    /// Containers in the folder of a path; if there are none, its other folders, as steps to one.
    private static func folders(_ prefix: String) -> [String] {
        let layer = PosixFileLayer()
        let typed = prefix.hasPrefix("~/") ? (HomeFolder.path ?? "~") + prefix.dropFirst() : prefix
        let slash = typed.lastIndex(of: "/")
        let folder = slash.map { String(typed[...$0]) } ?? ""
        let start = slash.map { typed[typed.index(after: $0)...] } ?? typed[...]
        let names = ((try? layer.list(folder.isEmpty ? "." : folder)) ?? []).sorted().filter { name in
            name.hasPrefix(start) && (!name.hasPrefix(".") || start.hasPrefix("."))
                && layer.exists(folder + name + "/.")
        }
        let containers = names.filter { isContainer(folder + $0) }
        return (containers.isEmpty ? names : containers).map { folder + $0 }
    }

    private static func isContainer(_ path: String) -> Bool {
        let container = Container(path: path)
        return PosixFileLayer().exists(container.documents) && PosixFileLayer().exists(container.library)
    }
}
