import CFloor
import Foundation

/// The items by the floor in C.
enum FloorCodec {
    /// An archive that is freed with it.
    final class Archive {
        private let bytes: UnsafeBufferPointer<UInt8>

        init(_ bytes: UnsafeBufferPointer<UInt8>) { self.bytes = bytes }

        func isSame(as other: [UInt8]) -> Bool { bytes.elementsEqual(other) }

        deinit { free(UnsafeMutableRawPointer(mutating: bytes.baseAddress)) }
    }

    static func write(_ store: SampleStore) -> Archive {
        var length = 0
        let bytes = floor_write(store.rows.baseAddress, store.rows.count, &length)
        return Archive(UnsafeBufferPointer(start: bytes, count: length))
    }

    static func read(_ bytes: [UInt8]) {
        precondition(floor_read(bytes, bytes.count) > 0)
    }
}
