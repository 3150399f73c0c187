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
        let form = TextForm(bytes)
        let width = form.highFirst == nil ? 1 : 2
        for start in stride(from: form.markLength, to: bytes.count - width + 1, by: width) {
            let (low, high) =
                form.highFirst == true
                ? (bytes[start + 1], bytes[start]) : (bytes[start], width == 2 ? bytes[start + 1] : 0)
            guard high == 0 else { return nil }
            switch low {
            case 0x20, 0x09, 0x0A, 0x0D: continue
            case 0x3C:
                self = .xml
                return
            default: return nil
            }
        }
        return nil
    }
}

extension PropertyListFormat {
    /// Whether bytes begin like a binary or XML property list, damaged or not. Other binary formats, and markup with
    /// another root element, do not. Comments and instructions may come before the root. The beginning of a file
    /// suffices.
    package static func isBeginning(of bytes: UnsafeRawBufferPointer) -> Bool {
        if bytes.starts(with: "bplist".utf8) { return true }
        guard PropertyListFormat(detecting: bytes) == .xml else { return false }
        // The bytes of UTF-16 have zeros between the letters, and no other encoding has any.
        var scanner = XMLScanner(bytes.prefix(1 << 20).dropFirst(TextForm(bytes).markLength).filter { $0 != 0 })
        return scanner.beginsPropertyList()
    }

    /// Whether bytes begin like a property list in OpenStep's text form: so do some texts that are none.
    package static func isTextBeginning(of bytes: UnsafeRawBufferPointer) -> Bool {
        PropertyListFormat(detecting: bytes) == nil && OpenStepPropertyListReader.mayBegin(bytes)
    }
}
