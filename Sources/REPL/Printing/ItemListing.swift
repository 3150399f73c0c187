import Items
import PropertyList
import Wording

/// Items as a table of aligned columns, as many as fit.
struct ItemListing {
    private let items: [Item]
    private let fields: [String]
    private let columns: Int
    private let rows: Int
    private let date: (PropertyListDate) -> String
    private let imageCount: (Item) -> Int
    private let thumbnail: (Item) -> String?
    /// The cells of a thumbnail.
    static let thumbnailColumns = 2

    /// - Parameters:
    ///   - items: all items; those that do not fit are counted.
    ///   - fields: custom fields of the query, which precede others.
    ///   - columns: the width of the screen.
    ///   - rows: its height.
    ///   - date: the short text of a date.
    ///   - imageCount: how many pictures an item has.
    ///   - thumbnail: an item's picture in `thumbnailColumns` cells; nil without one.
    init(
        _ items: [Item], fields: [String], columns: Int, rows: Int,
        date: @escaping (PropertyListDate) -> String, imageCount: @escaping (Item) -> Int = { _ in 0 },
        thumbnail: @escaping (Item) -> String? = { _ in nil }
    ) {
        self.items = items
        self.fields = fields
        self.columns = columns
        self.rows = rows
        self.date = date
        self.imageCount = imageCount
        self.thumbnail = thumbnail
    }

    func text(seconds: Double) -> String {
        let time = Self.duration(seconds)
        guard !items.isEmpty else { return "no items · \(time)" }
        let shown = Array(items.prefix(rows))
        let thumbnails = shown.map(thumbnail)
        let hasThumbnails = thumbnails.contains { $0 != nil }
        var table = TextTable(columns: columns - (hasThumbnails ? Self.thumbnailColumns + 1 : 0))
        table.add(TextTable.Column(title: "#", cells: (1...shown.count).map(String.init), isNumber: true))
        for title in titles(shown) {
            let values = shown.map { (try? $0.value(forField: title)) ?? nil }
            guard values.contains(where: { $0 != nil && $0 != .string("") }) || title == "name" else { continue }
            let isNumber = values.allSatisfy {
                if case .integer = $0 { true } else if case .real = $0 { true } else { $0 == nil }
            }
            let limit = title == "name" ? 48 : 30
            let cells = values.map { TextTable.cut(cell($0, isMoney: title == "valueInDollars"), to: limit) }
            // Queried fields are shown even when the rest of the line does not fit.
            table.add(TextTable.Column(title: title, cells: cells, isNumber: isNumber))
        }
        let counts = shown.map(imageCount)
        if counts.contains(where: { $0 > 1 }) {
            let cells = counts.map { $0 > 0 ? String($0) : "" }
            table.add(TextTable.Column(title: "images", cells: cells, isNumber: true))
        }
        let blank = String(repeating: " ", count: Self.thumbnailColumns)
        var lines = table.lines
        if hasThumbnails {
            lines = zip([nil] + thumbnails, lines).map { " " + ($0 ?? blank) + $1 }
        }
        if shown.count < items.count { lines.append(" …") }
        lines.append("\(items.count.counted("row")) · \(time)")
        return lines.joined(separator: "\n")
    }

    /// The shown fields, most important first: the domain's, the queried ones, the rest by name.
    private func titles(_ shown: [Item]) -> [String] {
        var titles = ["name", "serialNumber"]
        if shown.contains(where: { ((try? $0.valueInDollars) ?? 0) != 0 }) { titles.append("valueInDollars") }
        titles.append("dateCreated")
        var custom: Set<String> = []
        for item in shown { custom.formUnion((try? item.customFieldNames) ?? []) }
        let asked = fields.filter { custom.contains($0) }
        return titles + asked + custom.subtracting(asked).sorted()
    }

    private func cell(_ value: PropertyListValue?, isMoney: Bool) -> String {
        switch value {
        case nil, .null: ""
        case .string(let text): text
        case .integer(let number): isMoney ? "$" + Int(number).grouped : String(number)
        case .real(let number): "\(number)"
        case .boolean(let flag): flag ? "true" : "false"
        case .date(let date): self.date(date)
        case .data(let bytes): bytes.count.counted("byte")
        case .array(let elements): elements.map { cell($0, isMoney: false) }.joined(separator: ", ")
        case .dictionary(let entries): "{\(entries.count.counted("field"))}"
        default: "…"
        }
    }

    /// A duration for display.
    static func duration(_ seconds: Double) -> String {
        if seconds < 0.000_95 { return "\(Int((seconds * 1e6).rounded())) µs" }
        if seconds < 0.995 { return "\(Int((seconds * 1000).rounded())) ms" }
        let tenths = Int((seconds * 10).rounded())
        return "\(tenths / 10).\(tenths % 10) s"
    }
}
