import Images
import Items
import Lua
import PropertyList
import Scripting
import Wording

/// Items as the rows of a table.
struct ItemRows: TableRows {
    /// The width of a thumbnail in cells.
    static let thumbnailColumns = 2

    let count: Int
    let asked: [String]
    private let item: (Int) -> Item
    private let record: ItemRecord

    /// The items of an array.
    init(_ items: [Item], record: ItemRecord) {
        (count, asked, self.record) = (items.count, [], record)
        item = { items[$0] }
    }

    /// The items of a query as they are now. No objects are held: a query may have millions.
    init(_ query: ItemQuery, record: ItemRecord) throws {
        let references = try query.references()
        (count, asked, self.record) = (references.count, query.fields, record)
        item = { query.store.item(references[$0]) }
    }

    func names(in rows: Range<Int>) -> [String] {
        let items = rows.map(item)
        var names = ["name", "serialNumber"]
        let values = items.lazy.compactMap { (try? $0.value(forField: "valueInDollars")) ?? nil }
        if values.contains(where: { $0 != .integer(0) }) { names.append("valueInDollars") }
        names.append("dateCreated")
        var custom: NameSet = []
        for item in items { custom.formUnion((try? item.customFieldNames) ?? []) }
        names += custom.sorted()
        if !custom.contains("images"), items.contains(where: { record.imageCount($0) > 1 }) { names.append("images") }
        // Only a query that names the key adds its column; other fields have theirs already.
        let known = NameSet(names)
        return names + asked.filter { $0 == "itemKey" && !known.contains($0) }
    }

    func cell(_ row: Int, _ name: String) -> TableCell? {
        let item = item(row)
        guard let value = (try? item.value(forField: name)) ?? nil else {
            let images = name == "images" ? record.imageCount(item) : 0
            return images > 0 ? TableCell(text: String(images), isNumber: true) : nil
        }
        switch value {
        case .null: return nil
        case .integer, .wideInteger, .real, .single:
            return TableCell(text: text(value, isMoney: name == "valueInDollars"), isNumber: true)
        case .date(let date):
            let text = record.host.shortText(date)
            return TableCell(text: text, whole: text.hasSuffix("…") ? record.host.localText(date) : nil)
        default: return TableCell(text: text(value, isMoney: false))
        }
    }

    func isRemoved(_ row: Int) -> Bool { item(row).isRemoved }

    func record(_ row: Int, columns: Int) -> String? {
        let item = item(row)
        guard let text = record.text(item, columns: columns) else { return nil }
        // Only a picture of characters can be drawn in part.
        guard let picture = record.picture(item), PagerText.isPageable(picture) else { return text }
        return text + "\n" + picture
    }

    func thumbnail(_ row: Int) -> String? {
        guard let pictures = record.pictures, pictures.graphics != nil, let key = try? item(row).itemKey,
            record.host.images.hasImage(forKey: key),
            let picture = try? record.host.images.thumbnail(forKey: key, size: 40, cornerRadius: 0)
        else { return nil }
        return pictures.inlineText(picture, columns: Self.thumbnailColumns)
    }

    private func text(_ value: PropertyListValue, isMoney: Bool) -> String {
        switch value {
        case .string(let text): text
        case .utf16: value.text ?? ""
        case .integer(let number): isMoney ? "$" + Int(clamping: number).grouped : String(number)
        case .wideInteger(let number): String(number)
        case .real(let number): LuaValueText.text(number)
        case .single(let number): "\(number)"
        case .boolean(let flag): flag ? "true" : "false"
        case .date(let date): record.host.shortText(date)
        case .data(let bytes): bytes.count.counted("byte")
        case .array(let elements), .set(let elements): elements.map { text($0, isMoney: false) }.joined(separator: ", ")
        case .dictionary(let entries): "{\(entries.count.counted("field"))}"
        case .null: "null"
        case .uid(let number): "UID \(number)"
        }
    }
}
