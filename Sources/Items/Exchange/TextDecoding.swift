import CSV
import ColumnEngine
import FileFormats
package import Files

/// Transcodes a text file to UTF-8 while reading.
///
/// Text that is invalid in the file's encoding is an error. One thread owns it.
final class TextDecoding {
    /// Text that is invalid in the encoding.
    struct Failure: Error {
        let message: String
    }

    private let file: ImportFile
    private let form: TextEncoding
    private var input: [UInt8] = []
    private var next = 0
    /// Whether the end of the file was reached.
    private var isAtEnd = false
    /// The first half of a UTF-16 surrogate pair.
    private var highSurrogate: UInt16?

    /// Reads a file from its beginning.
    ///
    /// - Parameters:
    ///   - file: the file.
    ///   - encoding: nil for UTF-8, or UTF-16 if the first bytes are plainly so.
    /// - Throws: `FileError`; `Failure` if the file is not a text, or its mark contradicts the encoding.
    convenience init(_ file: ImportFile, _ encoding: ItemFileEncoding?) throws {
        try self.init(file, form: try Self.form(of: file, encoding))
    }

    /// The form of a file's text in an encoding.
    ///
    /// - Throws: as the initializer.
    static func form(of file: ImportFile, _ encoding: ItemFileEncoding?) throws -> TextEncoding {
        let start = try file.head(4096)
        let unicode = start.withUnsafeBytes { ForeignFile.utf16($0) }
        // UTF-16 is a problem where another encoding is named.
        let problem = start.withUnsafeBytes { encoding == .utf8 ? ForeignFile.problem($0) : ForeignFile.signature($0) }
        if let problem { throw Failure(message: problem) }
        switch encoding {
        case .utf8?: return .utf8
        case .latin1?, .windows1252?: return .windows1252
        case .utf16LittleEndian?: return .utf16LittleEndian
        case .utf16BigEndian?: return .utf16BigEndian
        case .utf16?:
            let zeros = start.withUnsafeBytes { ForeignFile.zeros($0) }
            return unicode?.isBigEndian ?? (zeros.even > zeros.odd) ? .utf16BigEndian : .utf16LittleEndian
        case .automatic?, nil:
            if let unicode { return unicode.isBigEndian ? .utf16BigEndian : .utf16LittleEndian }
            if encoding == nil { return .utf8 }
            file.rewind()
            return try isUTF8(file) ? .utf8 : .windows1252
        }
    }

    init(_ file: ImportFile, form: TextEncoding) throws {
        (self.file, self.form) = (file, form)
        // Skip the mark here; the readers skip the one of UTF-8.
        let mark = try file.head(2).withUnsafeBytes { ForeignFile.utf16($0) }
        file.rewind()
        guard form == .utf16BigEndian || form == .utf16LittleEndian, let mark, mark.hasMark else { return }
        guard mark.isBigEndian == (form == .utf16BigEndian) else {
            throw Failure(message: "its first bytes are the mark of UTF-16 in the other byte order")
        }
        _ = try file.next(2)
    }

    /// Reads the next UTF-8 bytes and returns their number; 0 at the end. The buffer has room for a character.
    func read(into buffer: UnsafeMutableRawBufferPointer) throws -> Int {
        if form == .utf8 { return try file.read(into: buffer) }
        var filled = 0
        while filled + 4 <= buffer.count {
            if next == input.count, try !fill() { break }
            switch form {
            case .utf8: break
            case .windows1252:
                Self.put(Self.scalar(latin1: input[next]), at: &filled, buffer)
                next += 1
            case .utf16LittleEndian, .utf16BigEndian:
                let (first, second) = (UInt16(input[next]), UInt16(input[next + 1]))
                next += 2
                if let scalar = try scalar(form == .utf16BigEndian ? first << 8 | second : second << 8 | first) {
                    Self.put(scalar, at: &filled, buffer)
                }
            }
        }
        if filled == 0, highSurrogate != nil { throw Failure(message: "the text ends within a character of UTF-16") }
        return filled
    }

    /// Reads the next bytes; false at the end.
    private func fill() throws -> Bool {
        if isAtEnd { return false }
        if input.count < 1 << 15 { input = [UInt8](repeating: 0, count: 1 << 15) }
        var count = 0
        // UTF-16 needs whole code units.
        repeat {
            let got = try input.withUnsafeMutableBytes { try file.read(into: .init(rebasing: $0[count...])) }
            if got == 0 { isAtEnd = true }
            count += got
        } while !isAtEnd && count % 2 == 1
        if form != .windows1252, count % 2 == 1 {
            throw Failure(message: "a text in UTF-16 has an even number of bytes, and this one has not")
        }
        input.removeLast(input.count - count)
        next = 0
        return count > 0
    }

    private func scalar(_ unit: UInt16) throws(Failure) -> Unicode.Scalar? {
        if let high = highSurrogate {
            guard UTF16.isTrailSurrogate(unit) else { throw Self.loneSurrogate }
            highSurrogate = nil
            return Unicode.Scalar(0x10000 + (UInt32(high) - 0xD800) << 10 + UInt32(unit) - 0xDC00)
        }
        if UTF16.isLeadSurrogate(unit) {
            highSurrogate = unit
            return nil
        }
        guard let scalar = Unicode.Scalar(unit) else { throw Self.loneSurrogate }
        return scalar
    }

    private static let loneSurrogate = Failure(message: "this is not UTF-16: half of a surrogate pair is missing")

    private static func put(_ scalar: Unicode.Scalar, at place: inout Int, _ buffer: UnsafeMutableRawBufferPointer) {
        for byte in scalar.utf8 {
            buffer[place] = byte
            place += 1
        }
    }

    private static func scalar(latin1 byte: UInt8) -> Unicode.Scalar {
        guard 0x80...0x9F ~= byte else { return Unicode.Scalar(byte) }
        return Unicode.Scalar(windows1252[Int(byte) - 0x80]) ?? Unicode.Scalar(byte)
    }

    /// For bytes from 80 on; bytes that Windows-1252 does not define are the control characters of ISO 8859-1.
    private static let windows1252: [UInt16] = [
        0x20AC, 0x81, 0x201A, 0x0192, 0x201E, 0x2026, 0x2020, 0x2021, 0x02C6, 0x2030, 0x0160, 0x2039, 0x0152, 0x8D,
        0x017D, 0x8F, 0x90, 0x2018, 0x2019, 0x201C, 0x201D, 0x2022, 0x2013, 0x2014, 0x02DC, 0x2122, 0x0161, 0x203A,
        0x0153, 0x9D, 0x017E, 0x0178,
    ]

    /// The byte of a character; nil for one that the encoding does not have.
    static func byte(windows1252 scalar: Unicode.Scalar) -> UInt8? {
        if scalar.value < 0x80 || 0xA0...0xFF ~= scalar.value { return UInt8(scalar.value) }
        return windows1252.firstIndex { UInt32($0) == scalar.value }.map { UInt8($0 + 0x80) }
    }

    /// Whether a whole file is UTF-8; reads it in pieces.
    private static func isUTF8(_ file: ImportFile) throws -> Bool {
        var piece = [UInt8](repeating: 0, count: 1 << 20)
        var pending = 0
        while true {
            let got = try piece.withUnsafeMutableBytes { try file.read(into: .init(rebasing: $0[pending...])) }
            let count = pending + got
            // A character may continue in the next piece.
            let whole = got == 0 ? count : count - piece[..<count].openEnd
            let isValid = piece.withUnsafeBufferPointer { UTF8Check.isValid(.init(rebasing: $0[..<whole])) }
            if !isValid || got == 0 { return isValid }
            piece.replaceSubrange(..<(count - whole), with: Array(piece[whole..<count]))
            pending = count - whole
        }
    }
}

/// The bytes of an import file, in order; can be rewound. Of a file that is compressed by gzip they are its content.
///
/// One thread owns it. The file's owner closes it.
package final class ImportFile {
    /// The number of bytes, as far as known: of a compressed file those that it has on disk.
    let size: Int
    /// The bytes of the file read so far, compressed or not.
    private(set) var position = 0
    private let source: (_ offset: Int, UnsafeMutableRawBufferPointer) throws(FileError) -> Int
    private let isPacked: Bool
    private var content: GzipReader?

    package init(_ bytes: [UInt8]) {
        size = bytes.count
        isPacked = GzipReader.isGzip(bytes)
        source = { offset, buffer throws(FileError) in
            let count = min(buffer.count, bytes.count - offset)
            buffer.copyBytes(from: bytes[offset..<offset + count])
            return count
        }
    }

    /// - Throws: `FileError` if the size or the beginning cannot be read.
    package init(_ file: OpenFile, _ layer: any FileLayer) throws(FileError) {
        size = try layer.status(file).size
        var head: UInt16 = 0
        var count = 0
        try withUnsafeMutableBytes(of: &head) { (bytes) throws(FileError) in
            count = try layer.read(file, at: 0, into: bytes)
        }
        isPacked = count == 2 && withUnsafeBytes(of: head) { GzipReader.isGzip($0) }
        source = { offset, buffer throws(FileError) in try layer.read(file, at: offset, into: buffer) }
    }

    func rewind() { (position, content) = (0, nil) }

    /// Reads the next bytes and returns their number; 0 at the end.
    ///
    /// - Throws: `FileError`; `FormatError` for a compressed file that is damaged, or expands too far.
    func read(into buffer: UnsafeMutableRawBufferPointer) throws -> Int {
        guard isPacked else { return try readSource(buffer) }
        let content = try content ?? GzipReader { [unowned self] in try readSource($0) }
        self.content = content
        return try content.read(into: buffer)
    }

    private func readSource(_ buffer: UnsafeMutableRawBufferPointer) throws(FileError) -> Int {
        let count = try source(position, buffer)
        position += count
        return count
    }

    /// The first bytes, as many as are asked for if the file has them.
    func head(_ count: Int) throws -> [UInt8] {
        rewind()
        defer { rewind() }
        return try next(count)
    }

    /// The next bytes, as many as are asked for if the file has them.
    func next(_ count: Int) throws -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: count)
        var filled = 0
        while filled < count {
            let got = try bytes.withUnsafeMutableBytes { try read(into: .init(rebasing: $0[filled...])) }
            if got == 0 { break }
            filled += got
        }
        return Array(bytes[..<filled])
    }

    /// All bytes, for formats that are not streamed.
    func contents() throws -> [UInt8] { try ByteStream.contents(size) { try read(into: $0) } }

    /// The file as one that is read at any place.
    func bytes() throws -> ByteSource {
        if isPacked { return ByteSource(try contents()) }
        return ByteSource(size: size) { [source] offset, buffer in try source(offset, buffer) }
    }
}

/// Reads bytes that arrive in pieces.
enum ByteStream {
    /// Reads all bytes.
    ///
    /// - Parameters:
    ///   - size: the expected number of bytes.
    ///   - read: fills a buffer with the next bytes and returns their number; 0 at the end.
    /// - Returns: the bytes.
    /// - Throws: errors of `read`.
    static func contents(_ size: Int, _ read: (UnsafeMutableRawBufferPointer) throws -> Int) throws -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(size)
        let chunk = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 20, alignment: 16)
        defer { chunk.deallocate() }
        while true {
            let count = try read(chunk)
            if count == 0 { return bytes }
            bytes.append(contentsOf: UnsafeRawBufferPointer(rebasing: chunk[..<count]))
        }
    }
}
