import Foundation

/// The items by Foundation's archiver.
enum FoundationCodec {
    static func measure(_ items: [SampleItem]) throws -> (write: Double, read: Double, bytes: Int) {
        let objects = items.map(ArchivedSample.init)
        var data = Data()
        let write = try ArchiveBenchmark.best(1) {
            data = try NSKeyedArchiver.archivedData(withRootObject: objects, requiringSecureCoding: false)
        }
        let read = try ArchiveBenchmark.best(1) {
            let unarchiver = try NSKeyedUnarchiver(forReadingFrom: data)
            unarchiver.requiresSecureCoding = false
            let back = unarchiver.decodeObject(forKey: NSKeyedArchiveRootObjectKey) as? [ArchivedSample]
            precondition(back.map { SampleItem.sum($0.map(\.item)) } == SampleItem.sum(items))
        }
        return (write, read, data.count)
    }
}

/// An item as an application with Foundation would have it.
final class ArchivedSample: NSObject, NSCoding {
    let item: SampleItem

    init(_ item: SampleItem) { self.item = item }

    func encode(with coder: NSCoder) {
        coder.encode(item.name, forKey: "name")
        coder.encode(item.serialNumber, forKey: "serialNumber")
        coder.encode(item.valueInDollars, forKey: "valueInDollars")
        coder.encode(Date(timeIntervalSinceReferenceDate: item.dateCreated), forKey: "dateCreated")
        coder.encode(item.itemKey, forKey: "itemKey")
    }

    init?(coder: NSCoder) {
        let date = coder.decodeObject(forKey: "dateCreated") as? Date
        item = SampleItem(
            name: coder.decodeObject(forKey: "name") as? String ?? "",
            serialNumber: coder.decodeObject(forKey: "serialNumber") as? String ?? "",
            valueInDollars: coder.decodeInteger(forKey: "valueInDollars"),
            dateCreated: date?.timeIntervalSinceReferenceDate ?? 0,
            itemKey: coder.decodeObject(forKey: "itemKey") as? String ?? "")
    }
}
