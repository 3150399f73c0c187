import Application
import Files
import Items
import LineEditor
import PropertyList
import REPL
import Wording

/// What `cubby import` knows of a file's columns before it imports them: a profile, or the answer of the user.
struct ImportQuestion {
    /// The file's absolute path.
    let path: String
    /// How the file is read.
    let options: ItemFileOptions
    /// The name of a profile that was asked for.
    let profileName: String?
    /// Whether the user may be asked.
    let asks: Bool
    let usesColor: Bool
    /// The container's profiles; nil for one in memory, which keeps none.
    let profiles: ImportProfiles?
    /// The fields of every item of the container.
    var schema = ItemSchema.household

    /// What the columns become.
    enum Answer {
        /// As the import finds out by itself.
        case none
        case profile(ImportProfile)
        /// The user has cancelled the import.
        case cancelled
    }

    /// Finds the profile of the file's header, or asks.
    ///
    /// - Throws: `ConfigurationError`; `CSVError`, `FileError` and others for a file that cannot be read.
    func answer() throws -> Answer {
        let known = try profiles?.read() ?? []
        let asks = asks && ImportFormScreen.canAsk
        var found: ImportProfile?
        if let profileName {
            found = known.first { $0.name == profileName }
            if found == nil, !asks {
                let hint = NearestNames.hint(for: profileName, among: known.map(\.name))
                throw CommandFailure.exit(.usage, "there is no profile '\(profileName)'\(hint)")
            }
        }
        if let found { return .profile(found) }
        // A file of one value is read twice only for a question, or for a profile.
        guard asks || !known.isEmpty else { return .none }
        guard let preview = try preview() else { return .none }
        let header = preview.columns.map(\.name)
        if profileName == nil, let same = known.first(where: { $0.header == header }) {
            CommandFailure.say("the columns are those of the profile \(VisibleText.line(same.name))")
            return .profile(same)
        }
        guard asks, !preview.columns.isEmpty,
            !preview.columns.allSatisfy({ schema.has($0.name) })
        else { return .none }
        return try ask(preview, header)
    }

    private func preview() throws -> ItemImportPreview? {
        let layer = PosixFileLayer()
        guard try layer.status(path)?.kind == .regular else { return nil }
        let file = try layer.open(path, .read)
        defer { layer.close(file) }
        return try ItemImportPreview(try ImportFile(file, layer), options, schema)
    }

    private func ask(_ preview: ItemImportPreview, _ header: [String]) throws -> Answer {
        let rows = preview.columns.map {
            ImportForm.Row(
                name: $0.name, field: $0.field, kind: $0.kindText, cells: $0.cells, isTyped: $0.isTyped)
        }
        let form = preview.form.map { ": \($0)" } ?? ""
        let title = "\(PathText.name(of: path))\(form)"
        let naming = preview.titleField.map { (field: $0, columns: preview.likelyNames) }
        let table = ImportForm(title, rows, ImportFormScreen.size, naming: naming)
        guard let answer = ImportFormScreen(usesColor: usesColor).run(table)
        else { return .cancelled }
        let profile = Self.profile(profileName ?? PathText.stem(of: path), header, answer, schema)
        if let profiles {
            try profiles.save(profile)
            CommandFailure.say(
                "kept as the profile \(VisibleText.line(profile.name)), for the next file with these columns")
        }
        return .profile(profile)
    }

    /// The profile of an answer.
    static func profile(
        _ name: String, _ header: [String], _ rows: [ImportForm.Row], _ schema: ItemSchema = .household
    ) -> ImportProfile {
        var fields: [String: String] = [:]
        var kinds: [String: String] = [:]
        for row in rows {
            if row.field != row.name { fields[row.name] = row.field ?? "" }
            if let field = row.field, !schema.has(field) { kinds[field] = row.givenKind }
        }
        return ImportProfile(
            name: name, header: header, fields: fields, kinds: kinds,
            key: rows.filter(\.isKey).compactMap(\.field))
    }
}

extension PathText {
    /// The name of a file without its extensions.
    fileprivate static func stem(of path: String) -> String {
        let name = name(of: path)
        return String(name.dropFirst().prefix { !$0.is(".") }.reduce(String(name.prefix(1))) { $0 + String($1) })
    }
}
