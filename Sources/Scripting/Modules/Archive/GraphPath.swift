import KeyedArchive
import Lua

/// The path of a value in an opened archive, linked to that of its container: `cubby inspect --path` takes its text.
final class GraphPath {
    private let above: GraphPath?
    private let step: TreePath.Step
    /// The number of linked steps, and whether steps above them were cut off.
    private let count: Int
    private let isCut: Bool
    private static let maximumCount = 256

    init(_ step: TreePath.Step, below above: GraphPath? = nil) {
        self.step = step
        // With an unlimited chain, the cost of each value's path would be proportional to its depth.
        if let above, above.count == Self.maximumCount {
            (self.above, count, isCut) = (nil, 1, true)
        } else {
            (self.above, count, isCut) = (above, (above?.count ?? 0) + 1, above?.isCut ?? false)
        }
    }

    /// The path of an object by its number.
    convenience init(object uid: UInt32) {
        self.init(TreePath.Step(.index(Int(uid))), below: GraphPath(.objects))
    }

    /// `root.items[3].f`; for a very deep value only the last steps, after `…`.
    var text: String {
        var steps: [TreePath.Step] = []
        var next: GraphPath? = self
        while let path = next {
            steps.append(path.step)
            next = path.above
        }
        return (isCut ? "…" : "") + TreePath(steps.reversed()).description
    }

    /// The steps to a table's child and to its key, if an archived dictionary has an object as the key.
    ///
    /// - Parameters:
    ///   - key: the child's key.
    ///   - position: its position among the table's children.
    ///   - table: the table.
    ///   - form: the table's archived form, if any.
    ///   - bridge: stores the keys of the archive.
    /// - Returns: the steps to the key and to the value.
    static func steps(
        to key: LuaValue, at position: Int, in table: LuaTable, as form: TableKind.Form?, _ bridge: ArchiveBridge
    ) -> (key: TreePath.Step, value: TreePath.Step) {
        let entry = (key: TreePath.Step(.entryKey(position)), value: TreePath.Step(.entryValue(position)))
        switch (form, key) {
        case (.countedSet?, _):
            return (TreePath.Step(.index(position)), TreePath.Step(.key("NS.count\(position)")))
        case (_, .string(let text)): return (entry.key, TreePath.Step(.key(text.description)))
        case (.dictionary?, .integer(let number)):
            // A string or a real number may have the same text.
            let isOther = bridge.memory(of: table)?.keys[.integer(number)] != nil || !table[.text("\(number)")].isNil
            guard !isOther, let place = Int(exactly: number), place >= 0 else { return entry }
            return (entry.key, TreePath.Step(.index(place)))
        case (.collection?, .integer(let place)), (.list?, .integer(let place)), (nil, .integer(let place)):
            guard place > 0, let index = Int(exactly: place - 1) else { return entry }
            return (entry.key, TreePath.Step(.index(index)))
        default: return entry
        }
    }
}
