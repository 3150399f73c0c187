import Files
import Glibc
import PropertyList

/// How columns of a file become fields, as a user has said it once: for the next file with the same header.
package struct ImportProfile: Sendable, Hashable {
    /// Its name.
    package let name: String
    /// The names of the file's columns, in their order.
    package let header: [String]
    /// The fields of columns that have another name, by column; an empty one leaves the column out.
    package let fields: NameTable<String>
    /// The kinds by field, as the option has them: `real`, `date(dd.MM.yyyy)`.
    package let kinds: NameTable<String>
    /// The fields that identify an item.
    package let key: [String]

    package init(
        name: String, header: [String], fields: NameTable<String>, kinds: NameTable<String>, key: [String]
    ) {
        (self.name, self.header, self.fields, self.kinds, self.key) = (name, header, fields, kinds, key)
    }

    /// - Returns: nil for a value of another structure.
    fileprivate init?(_ name: String, _ value: PropertyListValue) {
        guard let entries = value.fields, let header = entries["header"]?.texts, let key = entries["key"]?.texts,
            let fields = entries["fields"]?.textsByName, let kinds = entries["kinds"]?.textsByName
        else { return nil }
        self.init(name: name, header: header, fields: fields, kinds: kinds, key: key)
    }

    fileprivate var propertyList: PropertyListValue {
        func list(_ texts: [String]) -> PropertyListValue { .array(texts.map { .string($0) }) }
        func table(_ texts: NameTable<String>) -> PropertyListValue {
            .fields(texts.reduce(into: [:] as PropertyListFields) { $0[$1.key] = .string($1.value) })
        }
        return .fields(["header": list(header), "fields": table(fields), "kinds": table(kinds), "key": list(key)])
    }
}

/// The import profiles of a container, in a property list beside its configuration.
package struct ImportProfiles {
    /// The path of the file, which need not exist.
    package let path: String

    /// - Parameter configuration: the container's configuration.
    package init(beside configuration: ConfigurationFile) {
        path =
            (configuration.path.hasSuffix(".plist") ? String(configuration.path.dropLast(6)) : configuration.path)
            + ".imports.plist"
    }

    /// All profiles, by name.
    ///
    /// - Throws: `ConfigurationError` for a file that cannot be read, or is damaged.
    package func read() throws(ConfigurationError) -> [ImportProfile] {
        let layer: BeneathFileLayer
        let bytes: [UInt8]
        do throws(FileError) {
            layer = try BeneathFileLayer(PathText.parent(of: path))
            guard try layer.contains(path, .regular) else { return [] }
            bytes = try layer.contents(of: path, limit: ConfigurationFile.limit)
        } catch {
            if [ENOENT, ENOTDIR, EACCES].contains(error.code) { return [] }
            throw .file(error)
        }
        do throws(PropertyListError) {
            guard let entries = try PropertyListValue(decoding: bytes, limits: ConfigurationFile.limits).fields else {
                throw PropertyListError(code: .readCorrupt, message: "it is not a dictionary")
            }
            return try entries.sortedByName.map { name, value throws(PropertyListError) in
                guard let profile = ImportProfile(name, value) else {
                    throw PropertyListError(code: .readCorrupt, message: "the profile \(name) is of another form")
                }
                return profile
            }
        } catch {
            throw .damaged(path: path, reason: "\(error)")
        }
    }

    /// Writes a profile in the place of the one with its name.
    ///
    /// - Throws: `ConfigurationError`, and the file is unchanged then.
    package func save(_ profile: ImportProfile) throws(ConfigurationError) {
        var entries: PropertyListFields = [:]
        for known in try read() { entries[known.name] = known.propertyList }
        entries[profile.name] = profile.propertyList
        let layer: BeneathFileLayer
        do throws(FileError) {
            let folder = PathText.parent(of: path)
            try PosixFileLayer().makeDirectories(folder, permissions: 0o700)
            layer = try BeneathFileLayer(folder)
        } catch {
            throw .file(error)
        }
        try ConfigurationFile.write(.fields(entries), to: path, using: layer)
    }
}

extension PropertyListValue {
    fileprivate var texts: [String]? {
        guard case .array(let values) = self else { return nil }
        let texts = values.compactMap(\.text)
        return texts.count == values.count ? texts : nil
    }

    fileprivate var textsByName: NameTable<String>? {
        guard let fields else { return nil }
        var texts: NameTable<String> = [:]
        for (name, value) in fields {
            guard let text = value.text else { return nil }
            texts[name] = text
        }
        return texts
    }
}
