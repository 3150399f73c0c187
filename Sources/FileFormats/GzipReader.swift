internal import CFileFormats
internal import PropertyList

/// Decompresses a file that gzip has written, as a stream; members one after another are one content.
///
/// Memory: a buffer of 64 KiB and zlib's window. One thread owns it.
package final class GzipReader {
    /// Fills part of a buffer and returns the number of bytes; 0 at the end of the stream.
    package typealias Source = (UnsafeMutableRawBufferPointer) throws -> Int

    /// The compressed bytes read so far, for a progress bar.
    package private(set) var compressed = 0
    /// The bytes of content given so far.
    package private(set) var expanded = 0

    private let library: UnsafePointer<cformats_zlib>
    private let stream: UnsafeMutablePointer<cformats_stream>
    private let chunk: UnsafeMutablePointer<UInt8>
    private let limits: ExpansionLimits
    private let isStopped: () -> Bool
    private let source: Source
    private var isAtEnd = false
    /// Whether the file may end here: between two members.
    private var isBetweenMembers = false
    private static let chunkSize = 65536

    /// Whether a file is compressed by gzip, by its first bytes.
    package static func isGzip(_ head: some Collection<UInt8>) -> Bool { head.starts(with: [0x1F, 0x8B]) }

    /// - Parameters:
    ///   - limits: how far the content may expand.
    ///   - isStopped: looked at in every 64 KiB of content; true ends the reading with an error.
    ///   - source: the compressed bytes.
    /// - Throws: `FormatError` with `unavailable` if zlib is missing.
    package init(
        limits: ExpansionLimits = ExpansionLimits(), isStopped: @escaping () -> Bool = { Interruption.isDue },
        source: @escaping Source
    ) throws(FormatError) {
        var reason: UnsafePointer<CChar>?
        guard let library = cformats_zlib(&reason) else {
            throw .unavailable("a file compressed by gzip needs zlib", "zlib1g", reason)
        }
        (self.library, self.limits, self.isStopped, self.source) = (library, limits, isStopped, source)
        stream = .allocate(capacity: 1)
        stream.initialize(to: cformats_stream())
        chunk = .allocate(capacity: Self.chunkSize)
        guard cformats_begin_inflating(library, stream) == 0 else {
            throw FormatError(.unavailable, "zlib does not start: its version is another one")
        }
    }

    deinit {
        _ = library.pointee.inflateEnd(stream)
        stream.deallocate()
        chunk.deallocate()
    }

    /// Reads the next bytes of the content and returns their number; 0 at the end.
    ///
    /// - Throws: `FormatError` for a damaged file, beyond the limits, and after an interruption; errors of the source.
    package func read(into buffer: UnsafeMutableRawBufferPointer) throws -> Int {
        let buffer = UnsafeMutableRawBufferPointer(rebasing: buffer.prefix(Self.chunkSize))
        guard !isAtEnd, buffer.count > 0 else { return 0 }
        if isStopped() { throw FormatError(.stopped, Interruption.message) }
        stream.pointee.next_out = buffer.baseAddress?.assumingMemoryBound(to: UInt8.self)
        stream.pointee.avail_out = UInt32(buffer.count)
        while stream.pointee.avail_out > 0 {
            if stream.pointee.avail_in == 0, try !fill() { break }
            if isBetweenMembers, try !beginMember() { break }
            let result = library.pointee.inflate(stream, 0)
            if result == 1 {
                isBetweenMembers = true
            } else if result != 0 {
                throw damage()
            }
        }
        let count = buffer.count - Int(stream.pointee.avail_out)
        expanded += count
        try limits.check(compressed, expanded, "if that is right, unpack it first, with gunzip")
        return count
    }

    /// Reads the next compressed bytes; false at the end.
    private func fill() throws -> Bool {
        let count = try source(UnsafeMutableRawBufferPointer(start: chunk, count: Self.chunkSize))
        guard count > 0 else {
            guard isBetweenMembers else {
                throw FormatError(
                    .corrupt,
                    "the compressed file ends early, after \(expanded.grouped) bytes of its content: it is cut")
            }
            isAtEnd = true
            return false
        }
        compressed += count
        stream.pointee.next_in = UnsafePointer(chunk)
        stream.pointee.avail_in = UInt32(count)
        return true
    }

    /// Begins another member; false at the padding of zeros that tapes and block devices add.
    private func beginMember() throws -> Bool {
        guard stream.pointee.next_in?.pointee != 0 else {
            isAtEnd = true
            return false
        }
        isBetweenMembers = false
        guard library.pointee.inflateReset(stream) == 0 else { throw damage() }
        return true
    }

    private func damage() -> FormatError {
        let words = stream.pointee.msg.map { " (\(String(cString: $0)))" } ?? ""
        return FormatError(
            .corrupt, "the compressed file is damaged after \(expanded.grouped) bytes of its content\(words)")
    }
}

extension FormatError {
    /// The error for a missing library.
    ///
    /// - Parameters:
    ///   - what: what is missing, as the beginning of a sentence.
    ///   - package: the package that has it.
    ///   - reason: why it could not be loaded.
    /// - Returns: the error, which names the package.
    package static func unavailable(_ what: String, _ package: String, _ reason: UnsafePointer<CChar>?) -> FormatError {
        let why = reason.map { String(cString: $0) } ?? ""
        return FormatError(.unavailable, "\(what): install \(package) (\(why))")
    }
}
