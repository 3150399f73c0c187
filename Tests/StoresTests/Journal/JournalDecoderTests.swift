import Stores
import Testing

@Suite("Decoding of commits")
struct JournalDecoderTests {
    /// Records with wrong bytes under a right checksum: an error or something sensible, never a crash.
    @Test(arguments: 1...8)
    func anythingIsSurvived(seed: UInt64) throws {
        let persistence = MemoryPersistence(keepsRecords: true)
        var driver = StoreDriver(try ItemStore.open(persistence), seed: seed)
        for _ in 0..<30 {
            for _ in 0..<4 { try driver.change() }
            try driver.store.commit()
        }
        let records = persistence.records
        for _ in 0..<300 {
            var damaged = records
            let record = driver.random.number(damaged.count)
            guard !damaged[record].isEmpty else { continue }
            for _ in 0...driver.random.number(3) {
                damaged[record][driver.random.number(damaged[record].count)] = UInt8(driver.random.number(256))
            }
            if driver.random.number(4) == 0 { damaged[record].removeLast(driver.random.number(damaged[record].count)) }
            let other = MemoryPersistence(keepsRecords: true, records: damaged)
            do {
                let store = try ItemStore.open(other)
                _ = try store.records
            } catch let error as StoreError {
                #expect(
                    error.code == .corruptJournal || error.code == .duplicateKey("") || "\(error)".contains("itemKey"))
            }
        }
    }
}
