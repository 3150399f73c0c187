import CPostgres

/// libpq's functions, resolved on first use.
enum PostgresLibrary {
    /// - Throws: ``PostgresError`` with `libraryMissing`, whose message names the package to install.
    static func functions() throws(PostgresError) -> cpostgres_library {
        var reason: UnsafePointer<CChar>?
        guard let library = cpostgres_library(&reason) else {
            throw PostgresError(
                .libraryMissing,
                "shared collections need libpq (\(reason.map { String(cString: $0) } ?? "")): install it with apt install libpq5"
            )
        }
        return library.pointee
    }
}
