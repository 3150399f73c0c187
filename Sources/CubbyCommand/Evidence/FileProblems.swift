import Files
import KeyedArchive

extension FileError {
    /// The failure without the path, for a line that begins with it.
    func brief(for path: String) -> String {
        self.path == path ? "cannot \(operation.rawValue) it: \(reason)" : message
    }
}

/// What in a file cannot be read, by path; of a hostile file not all of it.
struct FileProblems {
    private(set) var list: [(path: String, reason: String)] = []
    private static let maximum = 100

    /// The first place with its reason; nil if everything can be read.
    var first: String? { texts.first }

    var texts: [String] { list.map { $0.path.isEmpty ? $0.reason : "\($0.path): \($0.reason)" } }

    /// - Parameters:
    ///   - path: the place; empty for the file itself.
    ///   - reason: why it cannot be read.
    mutating func add(_ path: String, _ reason: String) {
        if list.count < Self.maximum { return list.append((path, reason)) }
        if list.count == Self.maximum { list.append(("", "more cannot be read, which is not named here")) }
    }

    mutating func add(_ problems: FileProblems) {
        for problem in problems.list { add(problem.path, problem.reason) }
    }

    mutating func add(_ damage: TreeDamage) {
        for place in damage.places { add(place.path.description, place.reason) }
    }

    /// Adds what cannot be read in the archive or property list of a cell.
    mutating func add(_ damage: TreeDamage, in cell: CellPath) {
        for place in damage.places {
            add(CellPath(cell.table, cell.column, cell.row, place.path).description, place.reason)
        }
    }
}
