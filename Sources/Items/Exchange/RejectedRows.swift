import CSV
import PropertyList

/// The rejected rows of an import and the reasons, as comma-separated values to be corrected and imported again.
struct RejectedRows {
    /// The name of the column with the reason.
    static let reason = "error"

    private var names: [String] = []
    private var places: [[UInt8]: Int] = [:]
    private var rows: [(cells: [(place: Int, text: [UInt8])], message: String)] = []

    mutating func append(_ row: [(name: String, text: [UInt8])], _ message: String) {
        var cells: [(place: Int, text: [UInt8])] = []
        for (index, (name, text)) in row.enumerated() {
            // The last column of a file of rejected rows is the reason of the time before.
            if name == Self.reason, index + 1 == row.count { continue }
            let key = Array(name.utf8)
            let place = places[key] ?? names.count
            if place == names.count {
                names.append(name)
                places[key] = place
            }
            cells.append((place, text))
        }
        rows.append((cells, message))
    }

    /// - Throws: `CSVError` for an invalid delimiter.
    func bytes(_ delimiter: UInt8) throws(CSVError) -> [UInt8] {
        if rows.isEmpty { return [] }
        var writer = try CSVWriter(delimiter: delimiter)
        writer.appendRow(names + [Self.reason])
        for row in rows {
            var texts = [[UInt8]](repeating: [], count: names.count)
            for cell in row.cells { texts[cell.place] = cell.text }
            for text in texts { writer.append(text) }
            writer.append(row.message)
            writer.endRow()
        }
        return writer.take()
    }
}
