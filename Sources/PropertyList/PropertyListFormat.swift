internal import CPlatform

/// The formats of property lists.
public enum PropertyListFormat: String, Sendable, CaseIterable {
    /// Apple's binary form, `bplist00`.
    case binary
    /// The XML form of version 1.0.
    case xml

    /// Detects the format by the first bytes; nil when they are neither.
    package init?(detecting bytes: UnsafeRawBufferPointer) {
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

/// Limits for untrusted input. Input beyond a limit is an error that names the limit.
public struct PropertyListLimits: Sendable, Hashable {
    /// Maximum size of the input, in bytes.
    package var maximumBytes: Int
    /// Maximum number of objects in the object table of a binary property list.
    package var maximumObjects: Int
    /// Maximum nesting depth of containers.
    package var maximumDepth: Int
    /// Maximum number of values in the expanded tree of a property list. Shared containers count each time, because a
    /// few hundred bytes may expand to 2^60 values. Independent of this limit an object counts at most 64 times on
    /// average, plus 65,536 values in total.
    package var maximumValues: Int
    /// Maximum size of a string or data, in bytes as stored.
    package var maximumLeafBytes: Int

    /// Creates limits; omitted ones are the standard ones.
    public init(
        maximumBytes: Int = 1 << 34,
        maximumObjects: Int = 1 << 30,
        maximumDepth: Int = 512,
        maximumValues: Int = 1 << 26,
        maximumLeafBytes: Int = 1 << 31
    ) {
        self.maximumBytes = maximumBytes
        self.maximumObjects = maximumObjects
        self.maximumDepth = maximumDepth
        self.maximumValues = maximumValues
        self.maximumLeafBytes = maximumLeafBytes
    }

    /// The limit of the expanded tree of a property list with `count` objects.
    package func maximumValues(ofObjects count: Int) -> Int {
        ConversionBudget.unfolded(from: count, atMost: maximumValues)
    }

    /// The end of a message if containers may not nest so deep, else nil. A recursion calls this at each level, since
    /// the thread's stack may be too small for the depth limit.
    package func excess(atDepth depth: Int) -> String? {
        if depth >= maximumDepth { return "deeper than the limit of \(maximumDepth)" }
        return cubby_stack_is_short() == 0 ? nil : "deeper than the thread's stack allows"
    }

    /// Limits for files of unknown origin.
    package static let standard = PropertyListLimits()
}

/// An error in reading or writing a property list.
public struct PropertyListError: Error, Sendable, Hashable, CustomStringConvertible {
    /// Cocoa's error number in the domain `NSCocoaErrorDomain`.
    public struct Code: RawRepresentable, Sendable, Hashable {
        public var rawValue: Int

        public init(rawValue: Int) {
            self.rawValue = rawValue
        }

        /// The bytes are not a property list, or a damaged one.
        public static let readCorrupt = Code(rawValue: 3840)
        /// The format is recognised and not supported.
        public static let readUnknownVersion = Code(rawValue: 3841)
        /// The bytes could not be read.
        package static let readStream = Code(rawValue: 3842)
        /// The bytes could not be written.
        package static let writeStream = Code(rawValue: 3851)
        /// The format cannot represent the value.
        public static let writeInvalid = Code(rawValue: 3852)
    }

    /// The kind of error.
    public var code: Code
    /// The problem and, if there is one, its remedy.
    public var message: String
    /// The offset in the input, in bytes.
    package var byteOffset: Int?
    /// The line of an XML property list, from 1.
    public var line: Int?

    /// Creates an error, with its position if known.
    package init(code: Code, message: String, byteOffset: Int? = nil, line: Int? = nil) {
        self.code = code
        self.message = message
        self.byteOffset = byteOffset
        self.line = line
    }

    public var description: String {
        var place = ""
        if let line { place += " (line \(line))" } else if let byteOffset { place += " (at byte \(byteOffset))" }
        return message + place
    }

    static func corrupt(_ message: String, at offset: Int? = nil) -> PropertyListError {
        PropertyListError(code: .readCorrupt, message: message, byteOffset: offset)
    }

    static func unwritable(_ message: String) -> PropertyListError {
        PropertyListError(code: .writeInvalid, message: message)
    }
}
