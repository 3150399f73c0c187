/// The columns of a table, in order: the fields that the query names, those whose values differ among the rows, the
/// others. Absent fields have no column.
struct TableLayout {
    private(set) var names: [String] = []
    /// The number of fields that the user's choice leaves out.
    private(set) var unchosenCount = 0
    private var known: NameSet
    private let isChosen: Bool

    /// - Parameters:
    ///   - rows: the table's rows.
    ///   - shown: those that determine the order.
    ///   - chosen: the user's choice; ignored if it names no field of the rows.
    init(_ rows: any TableRows, in shown: Range<Int>, chosen: [String] = []) {
        let found = rows.names(in: shown)
        known = NameSet(found)
        let asked = rows.asked.filter(known.contains)
        let isAsked = NameSet(asked)
        var (differing, equal): ([String], [String]) = ([], [])
        for name in found {
            var texts = shown.lazy.filter { !rows.isRemoved($0) }.map { rows.cell($0, name)?.text ?? "" }.makeIterator()
            let first = texts.next() ?? ""
            var differs = false
            while !differs, let text = texts.next() { differs = text != first }
            if isAsked.contains(name) || (first.isEmpty && !differs) { continue }
            if differs || shown.count == 1 { differing.append(name) } else { equal.append(name) }
        }
        names = asked + differing + equal
        if names.isEmpty { names = Array(found.prefix(1)) }
        let choice = chosen.filter(known.contains)
        isChosen = !choice.isEmpty
        guard isChosen else { return }
        let isTaken = NameSet(choice)
        unchosenCount = names.count { !isTaken.contains($0) }
        names = choice
    }

    /// Appends the fields that only these rows have.
    mutating func extend(_ rows: any TableRows, in shown: Range<Int>) {
        for name in rows.names(in: shown) where known.insert(name).inserted {
            if isChosen { unchosenCount += 1 } else { names.append(name) }
        }
    }
}
