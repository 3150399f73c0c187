import ColumnEngine
import PropertyList
import Wording

/// Checks that a file has the columns named in the options.
struct ImportedNames {
    private let options: ItemFileOptions
    private let columns: Set<ExactText>
    private let path: String

    init(_ options: ItemFileOptions, _ columns: Set<ExactText>, _ path: String) {
        (self.options, self.columns, self.path) = (options, columns, path)
    }

    /// - Throws: `StoreError` for a column that the options rename, use as a key or give a kind, and that the file does
    ///   not have.
    func check() throws(StoreError) {
        if columns.isEmpty { return }
        if let missing = options.names.keys.sorted().first(where: { !columns.contains(ExactText($0)) }) {
            throw error("has no column '\(missing)' to be renamed\(advice(missing))")
        }
        let fields = Set(columns.compactMap { options.name(for: $0.string).map { ExactText($0) } })
        if options.transform == nil, let missing = options.key.first(where: { !fields.contains(ExactText($0)) }) {
            throw error("has no column '\(missing)' to be the key\(hint(missing, fields))")
        }
        guard case .named(let kinds)? = options.kinds else { return }
        if let missing = kinds.keys.sorted().first(where: { !fields.contains(ExactText($0)) }) {
            throw error("has no column '\(missing)' to have a kind\(hint(missing, fields))")
        }
    }

    private func error(_ what: String) -> StoreError { StoreError(.unreadableFile, "\(path) \(what)", path: path) }

    /// Suggests the intended name for a missing column.
    private func advice(_ missing: String) -> String {
        if let new = options.names[exactly: missing] ?? nil, columns.contains(ExactText(new)) {
            return "; it has '\(new)': a map goes from the file's names to the items'"
        }
        return hint(missing, columns)
    }

    private func hint(_ missing: String, _ names: Set<ExactText>) -> String {
        let nearest = NearestNames.nearest(to: missing, among: names.sorted().map(\.string))
        guard nearest.isEmpty else { return NearestNames.suggestion(nearest) }
        let listed = names.sorted().prefix(12).map(\.string).joined(separator: ", ")
        return "; it has \(listed)\(names.count > 12 ? ", …" : "")"
    }
}
