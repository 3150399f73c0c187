/// The formats of property lists.
public enum PropertyListFormat: String, Sendable, CaseIterable {
    /// Apple's binary form, `bplist00`.
    case binary
    /// The XML form of version 1.0.
    case xml

    /// Detects the format by the first bytes; nil when they are neither.
    public init?(detecting bytes: UnsafeRawBufferPointer) {
        if bytes.count >= 7, bytes.prefix(7).elementsEqual("bplist0".utf8) {
            self = .binary
            return
        }
        var rest = bytes[...]
        if rest.starts(with: [0xEF, 0xBB, 0xBF]) {
            rest = rest.dropFirst(3)
        } else if rest.starts(with: [0xFE, 0xFF]) || rest.starts(with: [0xFF, 0xFE]) {
            self = .xml
            return
        }
        // UTF-16 without a byte order mark has a zero beside the first `<`.
        if rest.starts(with: [0, 0x3C]) || rest.starts(with: [0x3C, 0]) {
            self = .xml
            return
        }
        guard let first = rest.first(where: { $0 != 0x20 && $0 != 0x09 && $0 != 0x0A && $0 != 0x0D }), first == 0x3C
        else { return nil }
        self = .xml
    }
}
