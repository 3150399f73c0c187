/// An item of a store: a name of 20 bytes, a serial number of 8, a UUID, a date and a number.
struct SampleItem {
    var name: String
    var serialNumber: String
    var valueInDollars: Int
    var dateCreated: Double
    var itemKey: String

    static func make(_ count: Int, store: Int = 0) -> [SampleItem] {
        var random = UInt64(20261121 + store * 7919)
        func next() -> UInt64 {
            random = random &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return random >> 16
        }
        func hex(_ value: UInt64, _ digits: Int) -> String {
            let text = String(value, radix: 16, uppercase: true)
            return String((String(repeating: "0", count: digits) + text).suffix(digits))
        }
        return (0..<count).map { index in
            let key = "\(hex(next(), 8))-\(hex(next(), 4))-4\(hex(next(), 3))-A\(hex(next(), 3))-\(hex(next(), 12))"
            // No two are alike: an odd factor turns the numbers into others, each into its own.
            let serial = UInt32(truncatingIfNeeded: store * count + index) &* 2_654_435_761
            return SampleItem(
                name: "Fluffy Bear \(10_000_000 + store * count + index)", serialNumber: hex(UInt64(serial), 8),
                valueInDollars: index % 100, dateCreated: 7e8 + Double(index) * 1.37, itemKey: key)
        }
    }

    /// Items of which many have names, numbers, dates and values of others.
    static func makeAlike(_ count: Int) -> [SampleItem] {
        let items = make(count)
        return items.indices.map { index in
            var item = items[index]
            item.name = items[index / 3].name
            item.serialNumber = items[index % 7].serialNumber
            item.dateCreated = items[index / 2].dateCreated
            item.valueInDollars = [index % 100, index, -index, index << 20, index << 40][index % 5]
            return item
        }
    }

    /// How many bytes its texts have.
    var textCount: Int { name.utf8.count + serialNumber.utf8.count + itemKey.utf8.count }

    /// What a reader that has seen everything knows.
    static func sum(_ items: [SampleItem]) -> Int {
        items.reduce(0) { $0 + $1.valueInDollars + $1.textCount }
    }
}
