import Images
import Items
import LineEditor
import Lua
import Plots
import PropertyList
import Scripting

/// An array of similar records as the rows of a table: rows of a CSV, groups, hooks.
struct RecordRows: TableRows {
    /// The column of rows that have keys without a column, as rows far below may.
    private static let unlisted = "…"
    /// Maximum number of a record's keys.
    private static let fieldLimit = 20_000

    let count: Int
    private let table: LuaTable
    private let printer: ValuePrinter
    private let host: ScriptHost
    /// The declared fields of the records' class; nil for tables.
    private var declared: [String]?
    /// The number of items of the largest group, whose bar is the longest; 0 for rows without bars.
    private var greatest = 0
    /// The function by whose value groups are sorted, which is a column; nil for another order.
    private var order: String?
    /// The columns of groups whose dates are days, by the declarations of their fields.
    private var columnsOfDays: NameSet = []
    /// The number of all items, for rows that have the counts and shares of their values; nil for others.
    private var total: Int?
    /// The column of groups' bars, and its width.
    private static let bar = "bar"
    private static let barWidth = 16
    /// The columns of rows of counts, which are the last ones.
    private static let counted = ["count", "share"]
    /// The field of a record, or the property of a group, that has the values of several keys.
    private static let keysField = "keys"
    private static let keyLimit = 64
    /// The most rows that are added up to know whether they are counts.
    private static let countedRows = 100_000

    /// Nil unless the table is an array of records whose values fit one line each: of at least two, or of groups.
    init?(_ table: LuaTable, _ printer: ValuePrinter, _ host: ScriptHost) {
        (self.table, self.printer, self.host) = (table, printer, host)
        count = table.count
        guard count >= 1 else { return nil }
        var className: String?
        var (haveKeys, lackKeys) = (false, false)
        for row in 1...min(count, printer.rowLimit) {
            switch table[row] {
            case .table(let record):
                guard className == nil, record.metatable == nil, record.count == 0,
                    case .other = host.inspect(.table(record))
                else { return nil }
                let (fields, isWhole) = Self.fields(of: record)
                guard isWhole, !fields.isEmpty else { return nil }
                for field in fields where !Self.isFlat(field.value) {
                    guard let greatest = Self.greatestKey(field.name, field.value) else { return nil }
                    if greatest > 0 { haveKeys = true } else { lackKeys = true }
                }
            case .userdata(let userdata):
                guard let name = userdata.className, className ?? name == name, row == 1 || className != nil else {
                    return nil
                }
                className = name
            default: return nil
            }
        }
        guard count >= 2 || className == ItemGroup.luaName else { return nil }
        guard haveKeys || !lackKeys else { return nil }
        guard let className else {
            total = Self.total(of: table)
            return
        }
        if let first = group(0) {
            order = first.order.map(\.function).flatMap { $0 == "count()" ? nil : $0 }
            if !printer.isWhole { greatest = (0..<count).compactMap { group($0)?.count }.max() ?? 0 }
            columnsOfDays = Self.columnsOfDays(first, order)
            // The group's own keys: the length of their table does not count the last ones that are nil.
            if first.keys.count > 1 {
                declared = (1...first.keys.count).map(Self.keyName) + ["count"]
                return
            }
        }
        declared = (host.state.declarations[className, .class]?.properties ?? []).filter { property in
            property.type.alternatives.allSatisfy { type in
                switch type {
                case .text, .string, .integer, .number, .boolean, .any, .choice: true
                default: false
                }
            }
        }.map(\.name)
        guard declared?.isEmpty == false else { return nil }
    }

    /// The columns that have days: keys, and the function by whose value the groups are sorted.
    private static func columnsOfDays(_ group: ItemGroup, _ order: String?) -> NameSet {
        let keys = group.keys.indices.filter { group.hasDays(key: $0) }
        var names = NameSet(keys.map { group.keys.count > 1 ? keyName($0 + 1) : "key" })
        if let order, (try? group.store.haveDays([ItemAggregate(order)])) == [true] { names.insert(order) }
        return names
    }

    /// The group of a row; nil for another value.
    private func group(_ row: Int) -> ItemGroup? {
        host.state.luaClass(of: ItemGroup.self)?.object(of: table[row + 1])
    }

    /// The number of all items, if the rows are what `counts` gives: each with its count, and its share of all.
    private static func total(of table: LuaTable) -> Int? {
        guard table.count <= countedRows else { return nil }
        var counts: [Int64] = []
        var total: Int64 = 0
        for row in 1...table.count {
            guard case .table(let record) = table[row], case .integer(let count) = record["count"], count >= 0,
                case .number = record["share"]
            else { return nil }
            let (sum, isTooLarge) = total.addingReportingOverflow(count)
            if isTooLarge { return nil }
            total = sum
            counts.append(count)
        }
        let areShares = counts.enumerated().allSatisfy { place, count in
            guard case .table(let record) = table[place + 1] else { return false }
            return record["share"].numberValue == Double(count) / Double(total)
        }
        return areShares ? Int(exactly: total) : nil
    }

    func names(in rows: Range<Int>) -> [String] {
        if let declared { return declared + [order].compactMap(\.self) + (greatest > 0 ? [Self.bar] : []) }
        var names: NameSet = []
        var (keyCount, areWhole) = (0, true)
        for row in rows {
            guard case .table(let record) = table[row + 1] else { continue }
            let (fields, isWhole) = Self.fields(of: record)
            areWhole = areWhole && isWhole
            for field in fields {
                if case .table = field.value, let greatest = Self.greatestKey(field.name, field.value) {
                    keyCount = max(keyCount, greatest)
                } else if field.name != "key" || !isFirstKey(field.value, of: record) {
                    names.insert(field.name)
                }
            }
        }
        let keys = keyCount > 0 ? (1...keyCount).map(Self.keyName) : []
        let last = total == nil ? [] : Self.counted
        return keys + names.sorted().filter { !last.contains($0) } + last + (areWhole ? [] : [Self.unlisted])
    }

    /// Whether a value is the first of a record's several keys, which has a column of its own.
    private func isFirstKey(_ value: LuaValue, of record: LuaTable) -> Bool {
        guard case .table(let keys) = record[Self.keysField] else { return false }
        return text(keys[1]) == text(value)
    }

    func cell(_ row: Int, _ name: String) -> TableCell? {
        if name == Self.bar, greatest > 0 {
            guard let group = group(row) else { return nil }
            return TableCell(text: TextBar.text(Double(group.count) / Double(greatest), width: Self.barWidth))
        }
        if name == order { return group(row)?.order?.value.flatMap { cell(of: $0, name) } }
        let value = value(name, of: table[row + 1])
        if value.isNil {
            guard name == Self.unlisted, case .table(let record) = table[row + 1] else { return nil }
            return Self.fields(of: record).isWhole ? nil : TableCell(text: Self.unlisted)
        }
        if let total, name == "share", case .table(let record) = table[row + 1],
            case .integer(let count) = record["count"]
        {
            let share = CountRows.percent(Int(clamping: count), of: total)
            return TableCell(text: share, isNumber: true, whole: text(value))
        }
        var isNumber = value.numberValue != nil
        if case .wideInteger = host.inspect(value) { isNumber = true }
        return TableCell(text: text(value), isNumber: isNumber)
    }

    func value(_ row: Int, _ name: String) -> PropertyListValue? {
        if name == order { return group(row)?.order?.value }
        switch value(name, of: table[row + 1]) {
        case .nil: return nil
        case .boolean(let flag): return .boolean(flag)
        case .integer(let number): return .integer(number)
        case .number(let number): return .real(number)
        case let value:
            switch host.inspect(value) {
            case .date(let date): return .date(date)
            case .wideInteger(let number): return .wideInteger(number)
            default: return .string(text(value))
            }
        }
    }

    func cell(of value: PropertyListValue, _ name: String) -> TableCell? {
        switch value {
        case .boolean(let flag): TableCell(text: flag ? "true" : "false")
        case .integer(let number): TableCell(text: String(number), isNumber: true)
        case .wideInteger(let number): TableCell(text: String(number), isNumber: true)
        case .real(let number): TableCell(text: LuaValueText.text(number), isNumber: true)
        case .date(let date): TableCell(text: columnsOfDays.contains(name) ? date.dayText : host.localText(date))
        case .string(let text): TableCell(text: text)
        default: nil
        }
    }

    func isRemoved(_ row: Int) -> Bool {
        switch table[row + 1] {
        case .table: declared != nil
        case .userdata: declared == nil
        default: true
        }
    }

    func record(_ row: Int, columns: Int) -> String? {
        guard !isRemoved(row) else { return nil }
        let fields = names(in: row..<row + 1).compactMap { name -> (String, String)? in
            if name == order || name == Self.unlisted { return cell(row, name).map { (name, $0.text) } }
            let value = value(name, of: table[row + 1])
            return value.isNil ? nil : (name, value.textValue.map { RecordText.value($0, limit: 2000) } ?? text(value))
        }
        return RecordText.text(fields, columns: columns)
    }

    /// The fields of a record, and whether they are all that it has: other keys are no texts, or too many.
    private static func fields(of record: LuaTable) -> (fields: [(name: String, value: LuaValue)], isWhole: Bool) {
        var fields: [(name: String, value: LuaValue)] = []
        var count = 0
        try? record.forEach { key, value in
            count += 1
            guard count <= fieldLimit else { return false }
            if let name = key.textValue { fields.append((name, value)) }
            return true
        }
        return (fields, fields.count == count)
    }

    private static func isFlat(_ value: LuaValue) -> Bool {
        switch value {
        case .function, .thread, .table: false
        default: true
        }
    }

    /// The number of the last key with a value, in a field of a record that has the values of several keys, as `aggregate`
    /// gives them; 0 without a value, nil for another field.
    private static func greatestKey(_ name: String, _ value: LuaValue) -> Int? {
        guard name == keysField, case .table(let table) = value, table.metatable == nil,
            RawAccess.fields(of: table, limit: 1, depth: 1).isEmpty
        else { return nil }
        let greatest = (1...keyLimit).last { !table[$0].isNil } ?? 0
        return table.count <= keyLimit && (0..<greatest).allSatisfy({ isFlat(table[$0 + 1]) }) ? greatest : nil
    }

    private func value(_ name: String, of row: LuaValue) -> LuaValue {
        switch row {
        case .table(let table):
            guard let place = Self.keyPlace(name), case .table(let keys) = table[Self.keysField] else {
                return table[name]
            }
            return keys[place]
        // Properties of the host's objects, which no script can replace.
        case .userdata:
            guard let place = Self.keyPlace(name) else { return (try? host.state.field(name, of: row)) ?? .nil }
            return Self.keys(host, of: row)?[place] ?? .nil
        default: return .nil
        }
    }

    private static func keyName(_ place: Int) -> String { "\(keysField)[\(place)]" }

    private static func keyPlace(_ name: String) -> Int? {
        name.hasPrefix("\(keysField)[") ? Int(name.dropFirst(5).dropLast()) : nil
    }

    private static func keys(_ host: ScriptHost, of group: LuaValue) -> LuaTable? {
        guard case .table(let keys)? = try? host.state.field(keysField, of: group) else { return nil }
        return keys
    }

    private func text(_ value: LuaValue) -> String {
        switch value {
        case .nil: ""
        case .string(let text): text.text ?? text.quoted(limit: 2000)
        case .number(let number): LuaValueText.text(number)
        // An unchecked row far below may hold a table; no script code runs for it.
        case .table: "{…}"
        case .function, .thread: value.typeName
        default: printer.describe(value)
        }
    }
}

/// The fields of an object, one per line: names aligned, long values wrapped and indented.
enum RecordText {
    /// Lines of fields whose values are for display.
    static func text(_ fields: [(name: String, value: String)], columns: Int) -> String {
        // Names have less than half of a narrow screen.
        let names = fields.map { TextTable.cut($0.name, to: min(30, max(4, columns / 2 - 4))) }
        let widest = names.map { DisplayWidth.of($0) }.max() ?? 0
        let width = max(4, columns - widest - 4)
        var lines: [String] = []
        for (name, field) in zip(names, fields) {
            var margin = " " + name + String(repeating: " ", count: widest - DisplayWidth.of(name) + 2)
            for line in wrapped(VisibleText.escaped(field.value), to: width) {
                lines.append(line.isEmpty ? margin.trimmedEnd : margin + line)
                margin = String(repeating: " ", count: widest + 3)
            }
        }
        return lines.joined(separator: "\n")
    }

    /// A whole number of dollars.
    static func dollars(_ number: Int64) -> String {
        let text = Int(clamping: number).grouped
        return number < 0 ? "-$" + text.dropFirst() : "$" + text
    }

    /// A text, quoted if it could be read as a value of another kind or has blanks at its ends.
    static func value(_ text: String, limit: Int) -> String {
        let isShort = text.utf8.count < 40
        let readsOtherwise = isShort && (Double(text) != nil || ["", "true", "false", "nil"].contains(text))
        return readsOtherwise || text.first == " " || text.last == " "
            ? cut(text, limit: limit).quoted() : cut(text, limit: limit)
    }

    /// The beginning of a text, with the full length.
    static func cut(_ text: String, limit: Int) -> String {
        guard text.utf8.count > limit else { return text }
        let scalars = text.unicodeScalars
        guard let end = scalars.index(scalars.startIndex, offsetBy: limit, limitedBy: scalars.endIndex),
            end < scalars.endIndex
        else { return text }
        return String(scalars[..<end]) + "… (\(text.utf8.count.counted("byte")))"
    }

    /// The lines of a text, broken at blanks, and within words that are wider than a line.
    private static func wrapped(_ text: String, to width: Int) -> [String] {
        text.split(separator: "\n", omittingEmptySubsequences: false).flatMap { line -> [String] in
            guard DisplayWidth.of(line) > width else { return [String(line)] }
            var lines: [String] = []
            var (current, used) = ("", 0)
            for word in line.split(separator: " ") {
                let wordWidth = DisplayWidth.of(word)
                if used > 0, used + 1 + wordWidth <= width {
                    current += " " + word
                    used += 1 + wordWidth
                    continue
                }
                if used > 0 { lines.append(current) }
                (current, used) = ("", 0)
                for character in word {
                    let next = DisplayWidth.of(character)
                    if used > 0, used + next > width {
                        lines.append(current)
                        (current, used) = ("", 0)
                    }
                    current.append(character)
                    used += next
                }
            }
            return lines + [current]
        }
    }
}

extension String {
    fileprivate var trimmedEnd: String {
        var text = self
        while text.last == " " { text.removeLast() }
        return text
    }
}

/// An item with all of its fields, one per line.
struct ItemRecord {
    let host: ScriptHost
    /// Draws pictures; nil when pictures are not drawn.
    let pictures: TerminalPictures?
    /// Maximum length of a value in characters.
    let limit: Int
    /// Whether a table has all columns, as for no screen.
    let isWhole: Bool
    /// The time of this session's last change to an item; nil if unknown.
    let changed: (Item) -> PropertyListDate?

    /// The fields, those of the domain first; nil for an item that was removed.
    func text(_ item: Item, columns: Int) -> String? { fields(item).map { RecordText.text($0, columns: columns) } }

    /// The names of the fields, and their values for display.
    func fields(_ item: Item) -> [(name: String, value: String)]? {
        guard let custom = try? item.customFieldNames else { return nil }
        var fields: [(name: String, value: String)] = []
        for name in item.store.schema.names + item.store.ordered(custom) {
            guard let value = (try? item.value(forField: name)) ?? nil, value != .null else { continue }
            let shown = item.store.shown(value, name)
            fields.append((name, shown ?? text(value, isMoney: name == "valueInDollars")))
        }
        if let key = try? item.itemKey, let images = imageText(key) { fields.append(("images", images)) }
        if let date = changed(item) { fields.append(("(changed)", host.localText(date))) }
        return fields
    }

    /// An item's first picture, small; nil without one, or if the terminal draws none.
    func picture(_ item: Item) -> String? {
        guard let pictures, pictures.graphics != nil, let key = try? item.itemKey, let image = image(key) else {
            return nil
        }
        do throws(ImageError) { return try pictures.text(image, columns: 40, rows: 12) } catch {
            return "(\(VisibleText.line(error.message)))\n"
        }
    }

    /// The number of an item's pictures.
    func imageCount(_ item: Item) -> Int {
        (try? item.itemKey).map { host.images.pictureFiles(forKey: $0).count } ?? 0
    }

    /// The first picture of a key, if it is local: displaying an item fetches nothing.
    func image(_ key: String) -> BitmapImage? {
        guard host.images.pictureFiles(forKey: key).first?.isAtHand ?? false else { return nil }
        return (try? host.images.image(forKey: key)) ?? nil
    }

    private func imageText(_ key: String) -> String? {
        let files = host.images.pictureFiles(forKey: key)
        let count = files.count
        guard let file = files.first else { return nil }
        guard let image = image(key) else {
            return count.counted("image")
                + (file.isAtHand ? ", \(count > 1 ? "of which the first " : "")cannot be read" : "")
        }
        return "\(count.counted("image")), \(count > 1 ? "the first " : "")\(image.width)×\(image.height)"
    }

    private func text(_ value: PropertyListValue, isMoney: Bool) -> String {
        switch value {
        case .string(let text): RecordText.value(text, limit: limit)
        case .utf16: RecordText.value(value.text ?? "", limit: limit)
        case .integer(let number): isMoney ? RecordText.dollars(number) : String(number)
        case .wideInteger(let number): String(number)
        case .real(let number): LuaValueText.text(number)
        case .single(let number): "\(number)"
        case .boolean(let flag): flag ? "true" : "false"
        case .date(let date): host.localText(date)
        case .data(let bytes): bytes.count.counted("byte")
        default: RecordText.cut(LuaLiteral.text(PlainValues(host: host).plain(value)), limit: limit)
        }
    }
}
