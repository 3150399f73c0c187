/// Keys that become file names: those of images.
public enum FileNameKey {
    /// Why a key cannot be a file name.
    public enum Problem: Error, Sendable, Hashable, CustomStringConvertible {
        case empty
        /// More than 255 bytes.
        case tooLong(bytes: Int)
        /// It holds "/".
        case separator
        case nul
        /// It is "." or "..".
        case dots
        /// Its bytes are no UTF-8.
        case notText
        /// It is the name of a file that is not the scripts' own.
        case reserved(String)

        public var message: String {
            switch self {
            case .empty: "a key must not be empty"
            case .tooLong(let bytes): "a key is a file name of at most 255 bytes; this one has \(bytes)"
            case .separator: "a key is a file name and must not hold a \"/\""
            case .nul: "a key is a file name and must not hold a NUL"
            case .dots: "a key must not be \".\" or \"..\""
            case .notText: "a key must be UTF-8"
            case .reserved(let name): "\"\(name)\" is a file of the store itself, and closed to other uses"
            }
        }

        public var description: String { message }
    }

    /// The longest name that Linux's file systems take, in bytes.
    public static let longest = 255

    /// Checks a key.
    ///
    /// - Parameters:
    ///   - key: as it came.
    ///   - reserved: names that are taken; temporary files of atomic writes are, too.
    /// - Throws: the first `Problem` found.
    public static func validate(_ key: String, reserved: Set<String> = []) throws(Problem) {
        if key.isEmpty { throw .empty }
        if key.utf8.contains(0x2F) { throw .separator }
        if key.utf8.contains(0) { throw .nul }
        if key.utf8.count > longest { throw .tooLong(bytes: key.utf8.count) }
        if key == "." || key == ".." { throw .dots }
        if reserved.contains(where: { $0.utf8.elementsEqual(key.utf8) }) || TemporaryName.matches(key) {
            throw .reserved(key)
        }
    }

    /// Checks a key of which only the bytes are known.
    ///
    /// - Parameters:
    ///   - bytes: as they came.
    ///   - reserved: names that are taken.
    /// - Returns: the key as text.
    /// - Throws: the first `Problem` found.
    public static func validate(bytes: some Collection<UInt8>, reserved: Set<String> = []) throws(Problem) -> String {
        guard let key = String(validating: bytes, as: UTF8.self) else { throw .notText }
        try validate(key, reserved: reserved)
        return key
    }
}
