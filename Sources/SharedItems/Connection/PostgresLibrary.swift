import CPostgres

/// libpq's functions, looked up when first needed.
enum PostgresLibrary {
    /// - Throws: ``PostgresError`` with `libraryMissing`, which says what to install.
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
