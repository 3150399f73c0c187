import Cubby
import Foundation

/// Saves the same items with Cubby's store and with Foundation's archiver, and reports the ratio.
///
///     swift run -c release Benchmarks CSV
@main
enum Benchmarks {
    static func main() throws {
        guard CommandLine.arguments.count > 1 else { return print("usage: Benchmarks CSV") }
        let rows = try CSVReader.rows(of: Array(Data(contentsOf: URL(fileURLWithPath: CommandLine.arguments[1]))))
        guard let header = rows.first else { return print("no rows") }
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }

        let store = try ItemStore.open(ArchivePersistence(folder: folder.path))
        for row in rows.dropFirst() { try store.createItem(fields(row, header)) }
        let objects = try store.allItems.map(ArchivedItem.init)

        var ours: [Double] = []
        for round in 0..<7 {
            // Something to save: a store without changes writes nothing.
            try store[round]?.setValueInDollars(Int64(round + 1))
            ours.append(try seconds { _ = try store.saveChanges() })
        }
        let opening = try seconds { _ = try ItemStore.open(ArchivePersistence(folder: folder.path, isReadOnly: true)) }

        let theirPath = folder.appendingPathComponent("theirs.archive")
        let theirs = try seconds {
            let data = try NSKeyedArchiver.archivedData(
                withRootObject: NSArray(array: objects), requiringSecureCoding: false)
            try data.write(to: theirPath, options: .atomic)
            precondition(data.count > objects.count, "Foundation archived nothing")
        }

        let median = ours.sorted()[ours.count / 2]
        let ourBytes = try size(folder.appendingPathComponent("items.archive"))
        print("\(objects.count) items, \(header.count) columns")
        print(
            "save, durable, Cubby: \(ms(median)) ms (median of \(ours.count)), \(ourBytes / objects.count) bytes an item"
        )
        print("save, not fsynced, Foundation: \(ms(theirs)) ms, \(try size(theirPath) / objects.count) bytes an item")
        print("ratio: \(Int(theirs / median)) times")
        print("open, Cubby: \(ms(opening)) ms")
    }

    private static func fields(_ row: [String], _ header: [String]) throws -> ItemFields {
        var fields = ItemFields()
        for (name, cell) in zip(header, row) {
            switch name {
            case "title": fields.name = cell
            case "accession_number": fields.serialNumber = cell
            default: try fields.set(.string(cell), forField: name)
            }
            if name == "date_acquired" { fields.dateCreated = ISO8601.parse(cell) }
        }
        return fields
    }

    private static func seconds(_ body: () throws -> Void) rethrows -> Double {
        let start = DispatchTime.now().uptimeNanoseconds
        try body()
        return Double(DispatchTime.now().uptimeNanoseconds - start) / 1e9
    }

    private static func size(_ url: URL) throws -> Int {
        try FileManager.default.attributesOfItem(atPath: url.path)[.size] as? Int ?? 0
    }

    private static func ms(_ seconds: Double) -> String { String(format: "%.1f", seconds * 1000) }
}

/// The same item as an application with Foundation would have it.
final class ArchivedItem: NSObject, NSCoding {
    private let fields: [(String, Any)]

    init(_ item: Item) throws {
        var fields: [(String, Any)] = [
            ("name", try item.name), ("itemKey", try item.itemKey),
            ("dateCreated", Date(timeIntervalSinceReferenceDate: try item.dateCreated.secondsSinceReferenceDate)),
            ("valueInDollars", Int(try item.valueInDollars)),
        ]
        if let serial = try item.serialNumber { fields.append(("serialNumber", serial)) }
        for name in try item.customFieldNames {
            if case .string(let text)? = try item.value(forField: name) { fields.append((name, text)) }
        }
        self.fields = fields
    }

    required init?(coder: NSCoder) { nil }

    func encode(with coder: NSCoder) {
        for (name, value) in fields {
            switch value {
            case let number as Int: coder.encode(number, forKey: name)
            case let date as Date: coder.encode(date as NSDate, forKey: name)
            case let text as String: coder.encode(text as NSString, forKey: name)
            default: continue
            }
        }
    }
}
