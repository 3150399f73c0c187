import ItemsTestSupport
import TestSupport
import Testing

@testable import ColumnEngine
@testable import ItemArchive
@testable import Items

@Suite("Decoding of commits")
struct JournalDecoderTests {
    /// Records with wrong bytes under a right checksum: an error or something sensible, never a crash.
    @Test(arguments: 1...8)
    func anythingIsSurvived(seed: UInt64) throws {
        let persistence = RecordPersistence()
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
            let other = RecordPersistence(damaged)
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

/// Keeps commits as the payloads of a journal's records.
private final class RecordPersistence: ItemPersistence {
    private(set) var records: [[UInt8]]
    let isReadOnly = false

    init(_ records: [[UInt8]] = []) {
        self.records = records
    }

    func load(into loader: ItemLoader) throws(StoreError) -> ItemLoadReport {
        for record in records { try loader.replay(record) }
        return ItemLoadReport()
    }

    func append(_ commit: borrowing ItemCommit, durable: Bool) throws(StoreError) -> ItemRevision {
        records.append(Array(JournalEncoder.record(of: commit).bytes[JournalRecord.headerLength...]))
        return commit.revision.next
    }

    func synchronize() throws(StoreError) {}
}
