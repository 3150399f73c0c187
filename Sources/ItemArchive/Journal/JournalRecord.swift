import ColumnEngine
import Files

/// A record of a journal: 32 bytes of header, then its payload.
public enum JournalRecord {
    /// The content of a record.
    public enum Kind: UInt32, Sendable {
        /// The changes of one commit.
        case changes = 1
        /// An archive that is about to replace the old one, and the last record that it contains.
        case checkpoint = 2
    }

    /// The size of a record's header in bytes.
    public static let headerLength = 32
    static let magic: UInt32 = 0x3152_4A43  // "CJR1" in the file

    /// Fills in the header of a record whose payload follows 32 bytes of space.
    package static func seal(_ record: inout [UInt8], kind: Kind, sequence: UInt64, identifier: UInt64) {
        let length = UInt64(record.count - headerLength)
        record.withUnsafeMutableBytes { bytes in
            bytes.storeBytes(of: magic.littleEndian, toByteOffset: 8, as: UInt32.self)
            bytes.storeBytes(of: kind.rawValue.littleEndian, toByteOffset: 12, as: UInt32.self)
            bytes.storeBytes(of: length.littleEndian, toByteOffset: 16, as: UInt64.self)
            bytes.storeBytes(of: sequence.littleEndian, toByteOffset: 24, as: UInt64.self)
            let sum = Checksum.hash(UnsafeRawBufferPointer(rebasing: bytes[8...]), seed: identifier)
            bytes.storeBytes(of: sum.littleEndian, toByteOffset: 0, as: UInt64.self)
        }
    }

    /// The record for a checkpoint.
    static func checkpoint(
        _ archive: ArchiveIdentity, upTo last: UInt64, sequence: UInt64, identifier: UInt64
    ) -> [UInt8] {
        var record = [UInt8](repeating: 0, count: headerLength)
        record.appendLittleEndian(archive.size)
        record.appendLittleEndian(archive.checksum)
        record.appendLittleEndian(last)
        seal(&record, kind: .checkpoint, sequence: sequence, identifier: identifier)
        return record
    }
}
