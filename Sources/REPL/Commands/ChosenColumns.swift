import Items
import Lua
import Scripting

/// The argument of `:columns`.
enum ChosenColumns {
    /// The fields of the items, and those of the last value's records.
    static func known(_ host: ScriptHost) -> [String] {
        var names = host.items.fieldNames + ["itemKey", "images"]
        if case .table(let table) = host.state.globals["_"], let rows = RecordRows(table, ValuePrinter(host), host) {
            names += rows.names(in: 0..<min(rows.count, 40))
        }
        var seen: NameSet = []
        return names.filter { seen.insert($0).inserted }
    }

    /// The words of a text, each once; in quotes a name may have blanks.
    static func words(_ text: String) -> [String] {
        var words: [String] = []
        for (place, part) in text.split(separator: "\"", omittingEmptySubsequences: false).enumerated() {
            if place % 2 == 1 {
                words.append(String(part))
            } else {
                words += part.split { $0.is(" ") || $0.is(",") || $0.is("\t") }.map(String.init)
            }
        }
        var seen: NameSet = []
        return words.filter { seen.insert($0).inserted }
    }
}
