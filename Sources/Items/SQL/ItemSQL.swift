package import PropertyList

/// SQL over a store's items, and over files: a connection to SQLite, whose tables ask the column engine.
///
///     let sql = ItemSQL(store, files)
///     let statement = try sql.prepare("select room, count(*) n from items where valueInDollars > ? group by room")
///     try statement.bind(.integer(100), at: 0)
///     while let row = try statement.next() { print(row) }
///
/// The connection is made by the first statement. One thread owns it, that of the store.
package final class ItemSQL {
    /// The store whose items are the table `items`; nil when it is gone.
    package private(set) weak var store: ItemStore?
    private let files: any SQLFiles
    /// The bytes that a script may use; nil for no limit. Values have a quarter of it at most.
    package var memoryLimit: Int?

    package init(_ store: ItemStore, _ files: any SQLFiles) { (self.store, self.files) = (store, files) }

    // MARK: Statements

    /// Prepares one statement. Files that it names are read now.
    ///
    /// - Throws: `SQLError`; errors of files.
    package func prepare(_ text: String) throws -> SQLStatement { throw SQLError(.failed, "not there yet") }

    /// Whether a text is a whole statement, for a prompt: reads no file, and runs nothing.
    package func completeness(of text: String) -> SQLCompleteness { .complete }

    /// The plans of a statement: SQLite's own, and what of it the items answer.
    package func explain(_ text: String) throws -> SQLPlan { throw SQLError(.failed, "not there yet") }

    // MARK: Names

    /// Adds a function, which may be called with any number of arguments; NULL is `.null`. A function of the same name
    /// is replaced. Nil removes it.
    ///
    /// - Parameters:
    ///   - name: its name, in any case.
    ///   - function: is called in the middle of a statement, and may throw: the statement then ends with this error.
    /// - Throws: `SQLError` for a name of SQLite's own or of this module's.
    package func define(
        _ name: String, _ function: (([PropertyListValue]) throws -> PropertyListValue)?
    ) throws {
        throw SQLError(.failed, "not there yet")
    }

    /// Attaches a database, whose tables statements name as `name.table`.
    ///
    /// - Throws: `SQLError`; errors of the file.
    package func attach(_ name: String, _ path: String, isWritable: Bool = false) throws {
        throw SQLError(.failed, "not there yet")
    }

    /// Detaches a database.
    package func detach(_ name: String) throws { throw SQLError(.failed, "not there yet") }

    /// The names for completion.
    package var names: SQLNames { SQLNames() }
}

/// Whether a text is a statement.
package enum SQLCompleteness: Sendable, Hashable {
    case complete
    /// More has to come.
    case incomplete
    case error(SQLError)
}

/// The plans of a statement.
package struct SQLPlan: Sendable, Hashable, CustomStringConvertible {
    /// A line of SQLite's plan, with its depth in the tree from 0.
    package struct Line: Sendable, Hashable {
        package var depth: Int
        package var text: String
    }

    /// SQLite's plan.
    package var lines: [Line] = []
    /// What each table answers by itself, such as `items: carrier = ?, by columns carrier, arr_delay`.
    package var pushed: [String] = []

    /// Both, as text.
    package var description: String {
        (lines.map { String(repeating: "  ", count: $0.depth) + $0.text } + pushed).joined(separator: "\n")
    }
}

/// Names of tables, of their columns, and of functions.
package struct SQLNames: Sendable, Hashable {
    /// The columns by table; tables of an attached database as `name.table`.
    package var tables: [String: [String]] = [:]
    /// The functions, sorted; defined ones among them.
    package var functions: [String] = []
    /// The attached databases.
    package var databases: [String] = []

    package init() {}
}
