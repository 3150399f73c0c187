import ColumnEngine
import PropertyList
import Wording

extension ItemConflict: CustomStringConvertible {
    /// A description for people: date and other host, followed by the values side by side.
    public var description: String { lines.joined(separator: "\n") }

    private var lines: [String] {
        let other = host.isEmpty ? "what the collection is now" : VisibleText.line(host)
        let head = "the commit of \(date.text) did not follow \(other)"
        var rows = [["item", "field", "mine", "theirs", "base"]]
        for change in changes { rows += Self.rows(of: change) }
        let widths = (0..<5).map { column in rows.map { $0[column].count }.max() ?? 0 }
        return [head]
            + rows.map { row in
                let cells = zip(row, widths).map { $0 + String(repeating: " ", count: $1 - $0.count) }
                return "  " + Self.trimmed(cells.joined(separator: "  "))
            }
    }

    /// A change as a row; an inserted or removed item has one per field whose values differ.
    private static func rows(of change: Change) -> [[String]] {
        let item = label(change)
        switch change.kind {
        case .update:
            return [
                [
                    item, change.shownField ?? "", text(change.mine),
                    change.isPresent ? text(change.theirs) : "(removed)", text(change.base),
                ]
            ]
        case .insert: return [[item, "", "(new)", change.isPresent ? "(new, too)" : "", ""]]
        case .remove: return [[item, "", "(removed)", change.isPresent ? "(changed)" : "(removed)", ""]]
        case .move: return [[item, "", "(moved)", change.isPresent ? "" : "(removed)", ""]]
        }
    }

    private static func label(_ change: Change) -> String {
        let key = change.itemKey.count > 12 ? change.itemKey.prefix(8) + "…" : change.itemKey[...]
        return VisibleText.line(change.name.isEmpty ? "\(key)" : "\(key) \(change.name.prefix(24))")
    }

    private static func text(_ value: PropertyListValue?) -> String {
        VisibleText.line(value == nil ? "nothing" : FieldValidation.describe(value))
    }

    private static func trimmed(_ line: String) -> String {
        var line = line
        while line.hasSuffix(" ") { line.removeLast() }
        return line
    }
}
