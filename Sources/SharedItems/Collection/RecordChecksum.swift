import ColumnEngine
import Files

/// The last four bytes of each record on the server: a damaged record may still decode as a valid one.
enum RecordChecksum {
    private static let length = 4

    /// A record with its checksum. The rank is that of the record's item; it is empty for a record of the log.
    static func sealed(_ record: [UInt8], rank: [UInt8] = []) -> [UInt8] {
        let checksum = record.withUnsafeBytes { self.checksum($0, rank[...]) }
        return record + withUnsafeBytes(of: checksum.littleEndian) { Array($0) }
    }

    /// A record without its checksum.
    ///
    /// - Throws: `StoreError` with `corruptJournal` if the checksum does not match.
    static func opened(
        _ sealed: UnsafeRawBufferPointer, rank: ArraySlice<UInt8> = []
    ) throws(StoreError) -> UnsafeRawBufferPointer {
        guard sealed.count >= length else { throw StoreError(.corruptJournal, "a record ends too early") }
        let record = UnsafeRawBufferPointer(rebasing: sealed.dropLast(length))
        let checksum = UInt32(littleEndian: sealed.loadUnaligned(fromByteOffset: record.count, as: UInt32.self))
        guard checksum == self.checksum(record, rank) else {
            throw StoreError(.corruptJournal, "a record's checksum is wrong")
        }
        return record
    }

    private static func checksum(_ record: UnsafeRawBufferPointer, _ rank: ArraySlice<UInt8>) -> UInt32 {
        UInt32(truncatingIfNeeded: Checksum.hash(record, seed: rank.withUnsafeBytes { Checksum.hash($0) }))
    }
}
