import PropertyList

/// A client's numbering of lines and columns.
struct ClientConventions: Sendable {
    private var firstLine = 1
    private var firstColumn = 1

    init() {}

    /// Reads the arguments of `initialize`.
    init(_ arguments: JSONValue) throws(DebugRefusal) {
        if let format = arguments["pathFormat"]?.text, format != "path" {
            throw DebugRefusal("paths are plain here: pathFormat has to be path")
        }
        firstLine = arguments["linesStartAt1"]?.flag ?? true ? 1 : 0
        firstColumn = arguments["columnsStartAt1"]?.flag ?? true ? 1 : 0
    }

    /// The client's number for a line that is counted from 1.
    func client(line: Int) -> Int { line &- 1 &+ firstLine }

    /// The line for a client's number.
    func line(client number: Int) -> Int { number &- firstLine &+ 1 }

    /// The offset, counted from 0, of a client's column.
    func offset(client column: Int) -> Int { max(column &- firstColumn, 0) }

    /// The client's number of a line's first column.
    var column: Int { firstColumn }
}
