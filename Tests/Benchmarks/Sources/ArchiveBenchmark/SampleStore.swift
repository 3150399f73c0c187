import CFloor
import Foundation

/// A store's items as its columns have them: texts as bytes that lie somewhere, numbers as such. Both codecs, Cubby's and
/// the one in C, are given these.
final class SampleStore {
    let items: [SampleItem]
    let rows: UnsafeBufferPointer<floor_item>
    private let text: UnsafeMutablePointer<UInt8>

    init(_ items: [SampleItem]) {
        self.items = items
        text = .allocate(capacity: items.reduce(16) { $0 + $1.textCount })
        let rows = UnsafeMutableBufferPointer<floor_item>.allocate(capacity: items.count)
        var end = text
        func copy(_ value: String) -> (UnsafePointer<CChar>, UInt32) {
            let start = end
            for byte in value.utf8 {
                end.pointee = byte
                end += 1
            }
            return (UnsafeRawPointer(start).assumingMemoryBound(to: CChar.self), UInt32(end - start))
        }
        for (index, item) in items.enumerated() {
            let (name, serial, key) = (copy(item.name), copy(item.serialNumber), copy(item.itemKey))
            rows.initializeElement(
                at: index,
                to: floor_item(
                    name: name.0, serial: serial.0, key: key.0, name_length: name.1, serial_length: serial.1,
                    key_length: key.1, value: Int64(item.valueInDollars), date: item.dateCreated))
        }
        self.rows = UnsafeBufferPointer(rows)
    }

    deinit {
        rows.deallocate()
        text.deallocate()
    }
}
