import Application
import Files
package import Images
package import Items
import PropertyList

/// Items as a page to print and to hand over: one HTML file with its pictures inside, which needs nothing else.
///
/// The same items give the same bytes.
package struct ItemReport {
    /// What is on the page.
    package struct Options: Sendable {
        /// The heading, plain text.
        package var title = "Items"
        /// The day of the report, as text.
        package var date = ""
        /// The condition of the items, as text; nil for all items.
        package var condition: String?
        /// The field by which the items are grouped and summed; nil for a fitting one, empty for none.
        package var group: String?
        /// The field that is summed; nil for `valueInDollars` if an item has one, empty for none.
        package var value: String?
        /// The fields of each item, in order; nil for all but the key of items.
        package var columns: [String]?

        /// Creates default options.
        package init() {}
    }

    /// The outcome.
    package struct Summary: Sendable, Hashable {
        /// The number of items.
        package internal(set) var items = 0
        /// The number of pictures on the page.
        package internal(set) var pictures = 0
        /// The reasons for pictures that could not be read, by the item's key, of a further picture with its number.
        package internal(set) var failures: NameTable<String> = [:]
    }

    /// The longest side of a picture, in pixels: 28 mm at 290 dots an inch.
    private static let side = 320
    private static let quality = 0.75

    private let images: ImageStore
    private let options: Options

    /// - Parameters:
    ///   - images: the store of the items' pictures.
    ///   - options: what is on the page.
    package init(images: ImageStore, _ options: Options) { (self.images, self.options) = (images, options) }

    /// Writes the page in pieces.
    ///
    /// - Parameters:
    ///   - items: the items, in order.
    ///   - progress: called after each item with the number of finished ones, and before them with 0 while the pictures'
    ///     headers are read; an error from it ends the work.
    ///   - append: receives the next bytes.
    /// - Returns: the outcome. A picture that cannot be read is not an error: the page says so.
    /// - Throws: `StoreError` for a removed item, and for a field that none of the items has; errors of the functions.
    package func write(
        _ items: [Item], progress: (Int) throws -> Void, to append: (UnsafeRawBufferPointer) throws -> Void
    ) throws -> Summary {
        let content = try ReportContent(items, options)
        let order = content.sections.flatMap(\.items)
        let files = try order.map { images.listedPictureFiles(forKey: try items[$0].itemKey) }
        var summary = Summary(items: items.count)
        // The heading is written before the pictures are decoded.
        var unread = 0
        try ParallelWork.forEach(order.count) { number in
            ImageLibrary.concurrently { files[number].count { (try? $0.open()) == nil } }
        } consume: { _, count in
            unread += count
            try progress(0)
        }
        let page = ReportPage(content, options, pictures: files.reduce(0) { $0 + $1.count }, unread: unread)
        func put(_ text: String) throws { try Array(text.utf8).withUnsafeBytes(append) }
        try put(page.head)
        // The places in the order at which sections begin.
        var starts: [Int: Int] = [:]
        var place = 0
        for (number, section) in content.sections.enumerated() {
            starts[place] = number
            place += section.items.count
        }
        try ParallelWork.forEach(order.count) { number in
            ImageLibrary.concurrently { files[number].map(Self.picture) }
        } consume: { number, results in
            if let section = starts[number] { try put(page.start(ofSection: section)) }
            let item = items[order[number]]
            for (place, (file, result)) in zip(files[number], results).enumerated() {
                switch result {
                case .success: summary.pictures += 1
                case .failure(let error): summary.failures[file.failureKey(place)] = error.message
                }
            }
            try put(page.row(number + 1, try content.row(item), results))
            if starts[number + 1] != nil || number + 1 == order.count { try put(page.endOfSection) }
            try progress(number + 1)
        }
        try put(page.foot(unread: summary.failures.count))
        return summary
    }

    /// A picture for paper, as a JPEG file.
    private static func picture(_ file: PictureFile) -> Result<[UInt8], ImageError> {
        Result { () throws(ImageError) in try file.open().jpeg(within: side, quality: quality) }
    }
}

/// The items of a report in their groups, with totals.
struct ReportContent {
    /// The items of a group.
    struct Section {
        /// The group's value, as text.
        var title: String
        /// The items' places.
        var items: [Int] = []
        var sum = ReportSum()
    }

    /// The texts of an item.
    struct Row {
        let name: String
        let fields: [(name: String, text: String)]
        let value: String
    }

    /// The field of the groups; nil for one section of all items.
    let group: String?
    /// The field that is summed; nil for none.
    let value: String?
    /// The field that names an item.
    private let title: String
    private(set) var sections: [Section] = []
    private(set) var total = ReportSum()
    private let fields: [String]
    /// Whether amounts have decimals, even if all of them are whole.
    private let hasDecimals: Bool

    /// The field that is money.
    static let money = "valueInDollars"
    private static let created = "dateCreated"
    /// The most groups that are chosen without being asked for.
    private static let groupLimit = 40

    init(_ items: [Item], _ options: ItemReport.Options) throws {
        var custom: NameSet = []
        for item in items { custom.formUnion(try item.customFieldNames) }
        let domain = items.first?.store.schema.names.filter { $0 != "itemKey" } ?? []
        let known = domain + (items.first?.store.ordered(custom) ?? [])
        for name in [options.group, options.value].compactMap({ $0 }) + (options.columns ?? [])
        where !items.isEmpty && !name.isEmpty && name != "itemKey" && !known.contains(where: { $0 == name }) {
            let hint = NearestNames.hint(for: name, among: known)
            throw StoreError(.unknownField(name), "none of the items has a field \(name)\(hint)")
        }
        let hasMoney = try Self.hasMoney(items)
        value = try options.value.map { $0.isEmpty ? nil : $0 } ?? Self.value(of: items)
        let titleName = items.first?.store.titleName ?? "itemKey"
        title = titleName
        let candidates = known.filter { [value] in
            $0 != value && $0 != titleName && $0 != "serialNumber" && $0 != Self.created
        }
        group = try Self.group(options.group, candidates, items)
        // Every item has these fields: zeros alone say nothing, nor do the moments of one import.
        let hasDates = try Self.hasDates(items)
        fields =
            options.columns
            ?? known.filter { ($0 != Self.money || hasMoney) && ($0 != Self.created || hasDates) }
        hasDecimals = value.flatMap { items.first?.store.declarations[$0] }?.format == .money
        try arrange(items)
    }

    /// Whether the items' dates say something of them: not if all are moments of one day, at which items were imported.
    private static func hasDates(_ items: [Item]) throws -> Bool {
        var day: PropertyListDate?
        for item in items {
            guard case .date(let date)? = try item.value(forField: created), date != date.startOfDay else {
                return true
            }
            if let day, day != date.startOfDay { return true }
            day = date.startOfDay
        }
        return items.count < 2
    }

    /// Whether an item has a value in dollars.
    private static func hasMoney(_ items: [Item]) throws -> Bool {
        guard let names = items.first?.store.schema.names, names.contains(money) else { return false }
        return try items.contains { try $0.value(forField: money) != .integer(0) }
    }

    /// The field that is summed where none is named; nil if no item has a value.
    static func value(of items: [Item]) throws -> String? {
        if try hasMoney(items) { return money }
        // Else the first field that is declared as money.
        return try items.first?.store.declarations.all.first { declaration in
            try declaration.format == .money && items.contains { try $0.value(forField: declaration.name) != nil }
        }?.name
    }

    /// The field of the groups: the room, or the first of those that few different values group.
    private static func group(_ given: String?, _ candidates: [String], _ items: [Item]) throws -> String? {
        if let given { return given.isEmpty ? nil : given }
        let ordered = candidates.filter { $0 == "room" } + candidates.filter { $0 != "room" }
        return try ordered.first { name in
            var texts: NameSet = []
            for item in items {
                switch try item.value(forField: name) {
                case nil: continue
                case .string(let text)?: texts.insert(text)
                case .boolean(let flag)?: texts.insert(flag ? "yes" : "no")
                default: return false
                }
                if texts.count > groupLimit { return false }
            }
            return texts.count > 1 && texts.count <= items.count / 2
        }
    }

    private mutating func arrange(_ items: [Item]) throws {
        // A text is another value than the number or the truth value that is written like it.
        var (texts, plain): (NameTable<Int>, NameTable<Int>) = ([:], [:])
        for (number, item) in items.enumerated() {
            let worth = try value.flatMap { try item.value(forField: $0) }
            let key = try group.flatMap { try item.value(forField: $0) }
            let title = ReportText.title(key)
            let isText = key?.text != nil && !title.isEmpty
            let place = (isText ? texts[title] : plain[title]) ?? sections.count
            if place == sections.count {
                if isText { texts[title] = place } else { plain[title] = place }
                sections.append(Section(title: title))
            }
            sections[place].items.append(number)
            sections[place].sum.add(worth)
            total.add(worth)
        }
        for (title, place) in texts where plain[title] != nil { sections[place].title = "\"\(title)\"" }
        // Items without the field are last.
        sections.sort { a, b in
            if a.title.isEmpty != b.title.isEmpty { return b.title.isEmpty }
            let (first, second) = (Self.number(a.title), Self.number(b.title))
            if (first == nil) != (second == nil) { return second == nil }
            if let first, let second, first != second { return first < second }
            return a.title < b.title
        }
    }

    /// The number that a title is; nil for another title. Numbers are before texts.
    private static func number(_ title: String) -> Double? { Double(title).flatMap { $0.isFinite ? $0 : nil } }

    /// The texts of an item, without fields that it does not have.
    func row(_ item: Item) throws -> Row {
        var texts: [(name: String, text: String)] = []
        for name in fields where name != title && name != value && name != group {
            let value = try item.value(forField: name)
            let text = value.flatMap { Self.shown($0, name, item.store) } ?? ReportText.of(value)
            if !text.isEmpty { texts.append((name, text)) }
        }
        let worth = try value.flatMap { try item.value(forField: $0) }
        var sum = ReportSum()
        sum.add(worth)
        let text = sum.count > 0 ? text(sum) : ReportText.of(worth)
        return Row(name: ReportText.of(try item.value(forField: title)), fields: texts, value: text)
    }

    /// A value in the declared format of its field; nil without one, and for days, which all dates at midnight are.
    private static func shown(_ value: PropertyListValue, _ name: String, _ store: ItemStore) -> String? {
        store.hasDays(name) ? nil : store.shown(value, name)
    }

    /// What is before an amount.
    var currency: String { value == Self.money ? "$" : "" }

    /// A sum, as amounts of this report are written.
    func text(_ sum: ReportSum) -> String { sum.text(currency, hasDecimals: hasDecimals || total.isDecimal) }
}
