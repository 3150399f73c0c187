package import SQLite

/// How SQL's statements open files: the host checks each path against its fence, and asks for consent.
package protocol SQLFiles: AnyObject {
    /// Calls a body with a file that is opened for reading.
    ///
    /// - Throws: errors of the body; the host's own for a path that it does not let in.
    func withFile(_ path: String, _ body: (ImportFile) throws -> Void) throws

    /// Opens the folder of a database that is attached.
    ///
    /// - Parameters:
    ///   - path: the path that the user gives.
    ///   - isReadOnly: whether statements only read it.
    /// - Returns: where it is; who opens it closes the descriptors.
    /// - Throws: the host's own error for a path that it does not let in.
    func databasePlace(_ path: String, isReadOnly: Bool) throws -> SQLitePlace
}
