import Lua
import Scripting
import Wording

/// `:columns`: the fields that tables show.
extension Prompt {
    func chooseColumns(_ argument: String) {
        let words = ChosenColumns.words(argument)
        switch words {
        case []:
            let chosen = printer.chosenFields.map { $0.contains(" ") ? $0.quoted() : $0 }
            return print(
                chosen.isEmpty
                    ? "tables show the fields of the question, then those that differ; :columns name … chooses others\n"
                    : "tables show \(chosen.joined(separator: " ")); :columns * goes back\n")
        case ["*"], ["auto"]:
            printer.chosenFields = []
        default:
            let known = ChosenColumns.known(host)
            if let absent = words.first(where: { !known.contains($0) }) {
                return complain("no field '\(absent)'\(NearestNames.hint(for: absent, among: known))")
            }
            printer.chosenFields = words
        }
        // The last table, with its new columns.
        let last = host.state.globals["_"]
        guard !last.isNil else { return }
        let shown = printer.printed([last], seconds: 0)
        if shown.includesDuration { page(shown) }
    }
}
