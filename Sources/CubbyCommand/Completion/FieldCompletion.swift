import Application
import ArgumentParser
import Files
import Items

extension CompletionKind {
    /// A predicate: completes the field that is being typed in it.
    static let predicate = CompletionKind.custom { words, index, prefix in
        CompletionCandidates.escaped(
            FieldCompletion(words).predicates(CompletionCandidates.typed(words, index, prefix)))
    }

    /// Fields, with commas between them.
    static let fields = CompletionKind.custom { words, index, prefix in
        CompletionCandidates.escaped(FieldCompletion(words).lists(CompletionCandidates.typed(words, index, prefix)))
    }
}

/// The fields of the items in the container that a command line names.
struct FieldCompletion {
    private let names: [String]

    /// - Parameter words: the command line.
    init(_ words: [String]) {
        names = Self.names(in: CompletionCandidates.value(of: "--container", in: words)).sorted()
    }

    /// - Parameter names: the fields.
    init(names: [String]) { self.names = names }

    /// A predicate with the name at its end completed; nothing within a constant.
    func predicates(_ text: String) -> [String] {
        guard text.count(where: { $0.is("\"") }).isMultiple(of: 2), text.count(where: { $0.is("'") }).isMultiple(of: 2)
        else { return [] }
        return completed(text, after: text.lastIndex { !($0.isLetter || $0.isNumber || $0.is("_")) })
    }

    /// A list with the name at its end completed.
    func lists(_ text: String) -> [String] { completed(text, after: text.lastIndex(of: ",")) }

    private func completed(_ text: String, after index: String.Index?) -> [String] {
        let start = index.map { text.index(after: $0) } ?? text.startIndex
        return names.filter { $0.hasPrefix(text[start...]) }.map { text[..<start] + $0 }
    }

    /// The names, as far as they can be read: a completion reports no errors.
    private static func names(in path: String?) -> [String] {
        let path = path.map { $0.hasPrefix("~/") ? (HomeFolder.path ?? "~") + $0.dropFirst() : $0 }
        guard !ContainerArgument.isMemory(path), let container = Container.locate(path),
            PosixFileLayer().exists(container.documents),
            let store = try? ItemStore.open(
                ArchivePersistence(folder: container.documents, isReadOnly: true, indexFolder: container.caches))
        else { return ItemStore().fieldNames }
        return store.fieldNames
    }
}
