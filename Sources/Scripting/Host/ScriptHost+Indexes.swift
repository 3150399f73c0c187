import Application
import Items
import Logging
import PropertyList

/// The container stores the names of indexed fields; the indexes are built from the items.
extension ScriptHost {
    private static let indexesKey = "indexes"

    /// Declares the indexes of an earlier run; they are built on demand.
    func restoreIndexes() {
        if let problem = itemPreferences.problem { logger.warning("\(problem)") }
        guard case .array(let names)? = itemPreferences.value(forKey: Self.indexesKey) else { return }
        for case .string(let name) in names {
            do throws(StoreError) { try items.createIndex(name, lazily: true) } catch { logger.warning("\(error)") }
        }
    }

    /// Stores the names of indexed fields. In a read-only store they last for this run.
    func rememberIndexes() throws(DefaultsError) {
        if options.isReadOnly { return }
        let names = items.indexedFields.map(PropertyListValue.string)
        try itemPreferences.set(names.isEmpty ? nil : .array(names), forKey: Self.indexesKey)
        try itemPreferences.synchronize()
    }
}
