import Application
import Items
import Logging
import PropertyList

/// The container remembers which fields have an index; the indexes themselves are built from the items.
extension ScriptHost {
    private static let indexesKey = "indexes"

    /// Makes the indexes that an earlier run asked for; they are built when queries want them.
    func restoreIndexes() {
        if let problem = itemPreferences.problem { logger.warning("\(problem)") }
        guard case .array(let names)? = itemPreferences.value(forKey: Self.indexesKey) else { return }
        for case .string(let name) in names {
            do throws(StoreError) { try items.createIndex(name, lazily: true) } catch { logger.warning("\(error)") }
        }
    }

    /// Writes down which fields have an index. A store that is opened for reading only has them for this run.
    func rememberIndexes() throws(DefaultsError) {
        if options.isReadOnly { return }
        let names = items.indexedFields.map(PropertyListValue.string)
        try itemPreferences.set(names.isEmpty ? nil : .array(names), forKey: Self.indexesKey)
        try itemPreferences.synchronize()
    }
}
