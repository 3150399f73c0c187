import ColumnEngine
import PropertyList

extension PropertyListError {
    /// An archive that is no archive of items.
    static func unusable(_ message: String) -> PropertyListError {
        PropertyListError(code: .readCorrupt, message: message)
    }
}
