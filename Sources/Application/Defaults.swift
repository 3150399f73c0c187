package import Files
package import PropertyList

/// Settings that persist between runs, like Cocoa's user defaults: set values take precedence over registered ones.
///
/// The set values are a property list in `Library/Preferences`, reloaded when another process has changed it. It has a
/// checksum where other readers of property lists do not look, and which a rewritten one has not. Changes
/// stay in memory until `synchronize`, which merges them, key by key, into the file's current values. Not Sendable: the
/// thread that owns the application owns it.
package final class Defaults {
    /// The file of the saved values.
    package let path: String
    /// Why the file could not be read. It then counts as empty, except if only its checksum differs; the next
    /// `synchronize` renames a damaged one.
    package private(set) var problem: DefaultsError?

    private let layer: any FileLayer
    private var registered: PropertyListFields = [:]
    private var stored: PropertyListFields = [:]
    /// The file's entries whose keys are not texts: of another program, and written back.
    private var otherEntries: [PropertyListDictionary.Entry] = []
    /// Changes since the last `synchronize`; nil for a removed key.
    private var changes: [ExactText: PropertyListValue?] = [:]
    private var seen: FileStatus?

    /// - Parameters:
    ///   - folder: a container's `preferences`.
    ///   - domain: the file's name without `.plist`.
    ///   - layer: the file system.
    package init(folder: String, domain: String = "cubby", using layer: any FileLayer = PosixFileLayer()) {
        path = PathText.join(folder, domain + ".plist")
        self.layer = layer
        load()
    }

    /// Registers default values for unset keys. They are not stored; later ones replace earlier ones.
    ///
    /// - Parameter values: by key.
    package func register(_ values: PropertyListFields) {
        registered.merge(values) { _, new in new }
    }

    /// The value of a key, else its registered value.
    ///
    /// - Parameter key: any string.
    /// - Returns: nil when there is neither.
    package func value(forKey key: String) -> PropertyListValue? {
        reloadIfChanged()
        if let change = changes[ExactText(key)] { return change ?? registered[key] }
        return stored[key] ?? registered[key]
    }

    /// Sets a key.
    ///
    /// - Parameters:
    ///   - value: nil removes the value, so that the registered one applies again.
    ///   - key: any string.
    /// - Throws: `DefaultsError.value` for a value that a property list cannot hold.
    package func set(_ value: PropertyListValue?, forKey key: String) throws(DefaultsError) {
        if let value {
            // A file that could not be read again would lose the others, too.
            do throws(PropertyListError) {
                _ = try PropertyListValue(decoding: PropertyListValue.fields([key: value]).encoded(as: .binary))
            } catch {
                throw .value(key: key, error)
            }
        }
        reloadIfChanged()
        if value == stored[key] {
            changes.removeValue(forKey: ExactText(key))
        } else {
            changes.updateValue(value, forKey: ExactText(key))
        }
    }

    /// All values, set and registered.
    package var dictionary: PropertyListFields {
        reloadIfChanged()
        return registered.merging(persistent) { _, set in set }
    }

    /// Whether there are unsaved changes.
    package var hasChanges: Bool { !changes.isEmpty }

    /// Writes the changes to the file, if there are any.
    ///
    /// - Parameter durable: whether to wait for the disk.
    /// - Throws: `DefaultsError`; the changes remain, and the file is unchanged.
    package func synchronize(durable: Bool = true) throws(DefaultsError) {
        reloadIfChanged()
        guard hasChanges else { return }
        let bytes: [UInt8]
        do throws(PropertyListError) {
            var whole = PropertyListDictionary(persistent)
            for (key, value) in otherEntries { whole[key] = value }
            bytes = SealedPropertyList.sealed(try PropertyListValue.dictionary(whole).encoded(as: .binary))
        } catch {
            throw .damaged(path: path, error)
        }
        do throws(FileError) {
            switch problem {
            case .damaged, .notADictionary, .changed: _ = try Self.quarantine(path, using: layer)
            case .file(let error): throw error
            case .value, nil: break
            }
            try AtomicFile.write(bytes, to: path, using: layer, durable: durable, permissions: 0o600)
        } catch {
            throw .file(error)
        }
        stored = persistent
        changes = [:]
        problem = nil
        seen = try? layer.status(path)
    }

    /// Renames a file of preferences that cannot be used.
    ///
    /// - Parameters:
    ///   - path: the file.
    ///   - layer: the file system.
    /// - Returns: its new path.
    /// - Throws: `FileError`.
    package static func quarantine(_ path: String, using layer: any FileLayer) throws(FileError) -> String {
        try layer.rename(path) { "\(path).damaged\($0 == 1 ? "" : "-\($0)")" }
    }

    /// Reads the file again if it was replaced.
    package func reloadIfChanged() {
        if (try? layer.status(path)) != seen { load() }
    }

    private var persistent: PropertyListFields {
        var result = stored
        for (key, value) in changes {
            result[key.string] = value
        }
        return result
    }

    private func load() {
        problem = nil
        (stored, otherEntries) = ([:], [])
        let bytes: [UInt8]
        do throws(FileError) {
            seen = try layer.status(path)
            guard seen != nil else { return }
            bytes = try layer.contents(of: path, limit: 256 << 20)
        } catch {
            problem = .file(error)
            return
        }
        do throws(PropertyListError) {
            let value = try PropertyListValue(decoding: bytes)
            if case .dictionary(let values) = value {
                (stored, otherEntries) = (values.textEntries, values.sortedOtherEntries)
                if SealedPropertyList.isIntact(bytes) == false { problem = .changed(path: path) }
            } else {
                problem = .notADictionary(path: path)
            }
        } catch {
            problem = .damaged(path: path, error)
        }
    }
}

/// A binary property list with a checksum: bytes between its objects and its table of offsets, to which no offset leads.
/// Readers of property lists pass over them, and writers of a changed one leave them out.
enum SealedPropertyList {
    private static let mark = Array("CubbySum".utf8)
    private static let trailer = 32

    /// The list with a checksum of all other bytes.
    static func sealed(_ bytes: [UInt8]) -> [UInt8] {
        guard let table = offsetOfTable(bytes) else { return bytes }
        var sealed = Array(bytes[..<table]) + mark + [UInt8](repeating: 0, count: 8) + bytes[table...]
        write(UInt64(table + 16), at: sealed.count - 8, in: &sealed)
        write(Checksum.hash(sealed), at: table + 8, in: &sealed)
        return sealed
    }

    /// Whether a list is as it was sealed; nil for one without a checksum.
    static func isIntact(_ bytes: [UInt8]) -> Bool? {
        guard let table = offsetOfTable(bytes), table >= 16, bytes[(table - 16)..<(table - 8)].elementsEqual(mark)
        else {
            return nil
        }
        var blank = bytes
        write(0, at: table - 8, in: &blank)
        let sum = Checksum.hash(blank)
        return (0..<8).allSatisfy { bytes[table - 8 + $0] == UInt8(truncatingIfNeeded: sum >> (56 - 8 * $0)) }
    }

    private static func offsetOfTable(_ bytes: [UInt8]) -> Int? {
        guard bytes.count > trailer, bytes.starts(with: "bplist00".utf8) else { return nil }
        let offset = bytes.suffix(8).reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        return Int(exactly: offset).flatMap { (8...(bytes.count - trailer)).contains($0) ? $0 : nil }
    }

    private static func write(_ number: UInt64, at position: Int, in bytes: inout [UInt8]) {
        for index in 0..<8 { bytes[position + index] = UInt8(truncatingIfNeeded: number >> (56 - 8 * index)) }
    }
}

/// The reason why defaults could not be read or written.
package enum DefaultsError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The file could not be read or written.
    case file(FileError)
    /// The file is not a property list, or a damaged one.
    case damaged(path: String, PropertyListError)
    /// The file is a property list, but not a dictionary.
    case notADictionary(path: String)
    /// The file does not match its checksum: it was damaged, or changed in place. Its values are used nevertheless.
    case changed(path: String)
    /// A value that a property list cannot hold.
    case value(key: String, PropertyListError)

    /// The cause, the place, and advice.
    package var message: String {
        switch self {
        case .file(let error): error.message
        case .damaged(let path, let error):
            "the preferences \(DisplayPath.abbreviate(path)) are damaged and will be quarantined: \(error)"
        case .notADictionary(let path):
            "the preferences \(DisplayPath.abbreviate(path)) are not a dictionary and will be quarantined"
        case .changed(let path):
            "the preferences \(DisplayPath.abbreviate(path)) differ from their checksum: they are damaged, or another "
                + "program changed them in place; they are used as they are, and the next change keeps this file beside"
        case .value(let key, let error): "the value for \"\(key)\" cannot be kept: \(error)"
        }
    }

    package var description: String { message }
}
