import CFloor
import Foundation

/// The items by the floor in C.
final class FloorCodec {
    private var texts: [UnsafeMutablePointer<CChar>] = []
    private var items: [floor_item] = []
    private var bytes: UnsafeMutablePointer<UInt8>?
    private var length = 0

    init(_ source: [SampleItem]) {
        for item in source {
            func text(_ value: String) -> (UnsafePointer<CChar>?, UInt32) {
                guard let copy = strdup(value) else { return (nil, 0) }
                texts.append(copy)
                return (UnsafePointer(copy), UInt32(value.utf8.count))
            }
            let (name, serial, key) = (text(item.name), text(item.serialNumber), text(item.itemKey))
            items.append(
                floor_item(
                    name: name.0, serial: serial.0, key: key.0, name_length: name.1, serial_length: serial.1,
                    key_length: key.1, value: Int64(item.valueInDollars), date: item.dateCreated))
        }
    }

    deinit {
        texts.forEach { free($0) }
        free(bytes)
    }

    func write() -> Int {
        free(bytes)
        bytes = floor_write(items, items.count, &length)
        return length
    }

    func read() {
        guard let bytes else { return }
        precondition(floor_read(bytes, length) > 0)
    }
}
