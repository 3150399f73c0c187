internal import CFileFormats
internal import PropertyList

/// The members of a ZIP file, read one at a time as streams.
///
/// Memory: a buffer of 64 KiB and what the library keeps of the file's directory. One thread owns it.
package final class ZipReader {
    /// A member's name and its size, as the directory has it.
    package struct Member: Sendable, Hashable {
        package let name: String
        /// In bytes; nil if the directory does not say it.
        package let size: Int?
        package let isEncrypted: Bool
    }

    /// The most members that are looked at: spreadsheets have some dozens.
    package static let memberLimit = 16_384

    /// All members, in the order of the file.
    package private(set) var members: [Member] = []

    private let library: UnsafePointer<cformats_archive>
    private let limits: ExpansionLimits
    private let isStopped: () -> Bool
    private let source: ByteSource

    /// Whether a file is a ZIP file, by its first bytes.
    package static func isZip(_ head: some Collection<UInt8>) -> Bool { head.starts(with: [0x50, 0x4B, 0x03, 0x04]) }

    /// - Parameters:
    ///   - source: the file.
    ///   - limits: how far each member may expand.
    ///   - isStopped: looked at in every 64 KiB of content; true ends the reading with an error.
    /// - Throws: `FormatError`: `unavailable` if libarchive is missing, `corrupt` for another file; errors of the source.
    package init(
        _ source: ByteSource, limits: ExpansionLimits = ExpansionLimits(),
        isStopped: @escaping () -> Bool = { Interruption.isDue }
    ) throws {
        var reason: UnsafePointer<CChar>?
        guard let library = cformats_archive(&reason) else {
            throw FormatError.unavailable("a spreadsheet needs libarchive", "libarchive13", reason)
        }
        (self.library, self.limits, self.isStopped, self.source) = (library, limits, isStopped, source)
        let stream = try opened()
        while let member = try stream.next() {
            if isStopped() { throw FormatError(.stopped, Interruption.message) }
            guard members.count < Self.memberLimit else {
                throw FormatError(.tooLarge, "it has more than \(Self.memberLimit.grouped) members")
            }
            members.append(member)
        }
    }

    /// Opens a member.
    ///
    /// - Parameter name: its name; backslashes are slashes, and case does not count, as in the formats that use it.
    /// - Returns: its content; nil if there is none of the name.
    /// - Throws: `FormatError` for an encrypted member and a damaged file; errors of the source.
    package func open(_ name: String) throws -> ZipMemberReader? {
        let wanted = Self.normal(name)
        guard members.contains(where: { Self.normal($0.name) == wanted }) else { return nil }
        let stream = try opened()
        while let member = try stream.next() {
            guard Self.normal(member.name) == wanted else { continue }
            if member.isEncrypted {
                throw FormatError(.unsupported, "it is encrypted by a password: save it without one")
            }
            return stream
        }
        return nil
    }

    private func opened() throws -> ZipMemberReader {
        try ZipMemberReader(library, source, limits, isStopped)
    }

    private static func normal(_ name: String) -> String {
        var name = name.lowercased()
        if name.utf8.contains(0x5C) { name = String(name.map { $0 == "\\" ? "/" : $0 }) }
        return name
    }
}

/// The content of a ZIP file's member.
package final class ZipMemberReader {
    /// The bytes of content given so far.
    package private(set) var expanded = 0

    private let library: UnsafePointer<cformats_archive>
    private let archive: OpaquePointer
    private let input: ZipInput
    private let limits: ExpansionLimits
    private let isStopped: () -> Bool
    private var name = ""
    private static let endOfArchive: Int32 = 1

    init(
        _ library: UnsafePointer<cformats_archive>, _ source: ByteSource, _ limits: ExpansionLimits,
        _ isStopped: @escaping () -> Bool
    ) throws {
        guard let archive = library.pointee.archive_read_new() else {
            throw FormatError(.unavailable, "libarchive does not start: there is no memory")
        }
        (self.library, self.archive, self.limits, self.isStopped) = (library, archive, limits, isStopped)
        input = ZipInput(source, library)
        let functions = library.pointee
        _ = functions.archive_read_support_format_zip_seekable(archive)
        _ = functions.archive_read_set_read_callback(archive) { archive, context, bytes in
            ZipInput.of(context)?.read(archive, bytes) ?? -1
        }
        _ = functions.archive_read_set_seek_callback(archive) { _, context, offset, origin in
            ZipInput.of(context)?.seek(offset, origin) ?? -1
        }
        _ = functions.archive_read_set_skip_callback(archive) { _, context, count in
            ZipInput.of(context)?.skip(count) ?? 0
        }
        _ = functions.archive_read_set_callback_data(archive, Unmanaged.passUnretained(input).toOpaque())
        if functions.archive_read_open1(archive) != 0 { throw failure("it is not a ZIP file, or it is cut") }
    }

    deinit { _ = library.pointee.archive_read_free(archive) }

    /// The next member, whose content is read next; nil behind the last.
    func next() throws -> ZipReader.Member? {
        while true {
            var entry: OpaquePointer?
            let result = library.pointee.archive_read_next_header(archive, &entry)
            if result == Self.endOfArchive { return nil }
            guard result == 0 || result == -20, let entry else { throw failure("its directory is damaged") }
            guard let name = library.pointee.archive_entry_pathname_utf8(entry) else { continue }
            self.name = String(cString: name)
            let size = Int(clamping: library.pointee.archive_entry_size(entry))
            return ZipReader.Member(
                name: self.name, size: size > 0 ? size : nil,
                isEncrypted: library.pointee.archive_entry_is_data_encrypted(entry) != 0)
        }
    }

    /// Reads the next bytes of the content and returns their number; 0 at the end.
    ///
    /// - Throws: `FormatError` for a damaged file, beyond the limits, and after an interruption; errors of the source.
    package func read(into buffer: UnsafeMutableRawBufferPointer) throws -> Int {
        guard let start = buffer.baseAddress, buffer.count > 0 else { return 0 }
        if isStopped() { throw FormatError(.stopped, Interruption.message) }
        let count = library.pointee.archive_read_data(archive, start, min(buffer.count, 65536))
        guard count >= 0 else { throw failure("its member \(name.shortened(to: 100)) is damaged") }
        expanded += count
        try limits.check(
            input.count, expanded,
            "if \(name.shortened(to: 100)) is right, save the spreadsheet as CSV and import that")
        return count
    }

    /// All of the content, of a small member.
    ///
    /// - Throws: as `read(into:)`, and `tooLarge` beyond a number of bytes.
    package func contents(limit: Int) throws -> [UInt8] {
        var bytes: [UInt8] = []
        let chunk = UnsafeMutableRawBufferPointer.allocate(byteCount: 65536, alignment: 16)
        defer { chunk.deallocate() }
        while true {
            let count = try read(into: chunk)
            if count == 0 { return bytes }
            guard bytes.count + count <= limit else {
                throw FormatError(
                    .tooLarge, "its member \(name.shortened(to: 100)) has more than \(limit.grouped) bytes")
            }
            bytes.append(contentsOf: UnsafeRawBufferPointer(rebasing: chunk[..<count]))
        }
    }

    private func failure(_ what: String) -> any Error {
        if let error = input.error { return error }
        let words = library.pointee.archive_error_string(archive).map { " (\(String(cString: $0)))" } ?? ""
        return FormatError(.corrupt, what + words)
    }
}

/// The file of a ZIP reader, for libarchive's callbacks.
private final class ZipInput {
    /// An error of the source, which the library does not carry.
    var error: (any Error)?
    /// The bytes read so far; some are read more than once.
    var count = 0

    private let source: ByteSource
    private let library: UnsafePointer<cformats_archive>
    private let chunk = UnsafeMutableRawBufferPointer.allocate(byteCount: 65536, alignment: 16)
    private var position = 0

    init(_ source: ByteSource, _ library: UnsafePointer<cformats_archive>) {
        (self.source, self.library) = (source, library)
    }

    deinit { chunk.deallocate() }

    static func of(_ context: UnsafeMutableRawPointer?) -> ZipInput? {
        context.map { Unmanaged<ZipInput>.fromOpaque($0).takeUnretainedValue() }
    }

    func read(_ archive: OpaquePointer, _ bytes: UnsafeMutablePointer<UnsafeRawPointer?>) -> Int {
        do {
            let got = try source.read(position, chunk)
            position += got
            count += got
            bytes.pointee = chunk.baseAddress.map { UnsafeRawPointer($0) }
            return got
        } catch {
            self.error = error
            cformats_fail(library, archive, "the file cannot be read")
            return -1
        }
    }

    /// Moves to a place; the origin is that of `lseek`.
    func seek(_ offset: Int64, _ origin: Int32) -> Int64 {
        let base = origin == 1 ? position : origin == 2 ? source.size : 0
        let (place, overflow) = base.addingReportingOverflow(Int(clamping: offset))
        guard !overflow, place >= 0 else { return -1 }
        position = min(place, source.size)
        return Int64(position)
    }

    func skip(_ count: Int64) -> Int64 {
        let step = max(0, min(Int(clamping: count), source.size - position))
        position += step
        return Int64(step)
    }
}
