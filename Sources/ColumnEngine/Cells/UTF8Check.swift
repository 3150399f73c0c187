/// Validation of UTF-8: eight bytes at a time while they are ASCII.
package enum UTF8Check {
    package static func isValid(_ bytes: UnsafeBufferPointer<UInt8>) -> Bool {
        let raw = UnsafeRawBufferPointer(bytes)
        var offset = 0
        while offset + 8 <= raw.count {
            if raw.loadUnaligned(fromByteOffset: offset, as: UInt64.self) & 0x8080_8080_8080_8080 != 0 {
                return String(validating: bytes, as: UTF8.self) != nil
            }
            offset += 8
        }
        while offset < raw.count {
            if raw[offset] >= 0x80 { return String(validating: bytes, as: UTF8.self) != nil }
            offset += 1
        }
        return true
    }
}
