import Platform
import PropertyList
import Synchronization
@_exported import Wording

/// The system's time zones, each read on first use.
///
/// The local zone is read again if the system's zone changed. Not Sendable: it belongs to one thread.
package final class ZoneDatabase {
    package static let systemFolder = "/usr/share/zoneinfo"
    private static let maximumSize = 1 << 20

    private let folder: String
    private let variable: String?
    private let localFile: String
    private var zones: [String: Zone] = [:]
    private var cachedLocal: (zone: Zone, status: ZoneFile.Status?)?

    /// - Parameters:
    ///   - variable: the value of TZ: a name, a file, or a POSIX rule; nil for the system's zone.
    ///   - folder: the database.
    ///   - localFile: the system's zone, usually a link into the database.
    package init(
        variable: String?, folder: String = systemFolder, localFile: String = "/etc/localtime"
    ) {
        self.variable = variable
        self.folder = folder
        self.localFile = localFile
    }

    /// The zone with a name.
    ///
    /// - Parameters:
    ///   - name: a name of the database, `Europe/Berlin`; `UTC`; `local`; or an offset, `+02:00`.
    ///   - offersLocal: whether the error for an unknown name has `local` among the names.
    /// - Returns: the zone.
    /// - Throws: `ZoneError` if there is none.
    package func zone(named name: String, offersLocal: Bool = true) throws(ZoneError) -> Zone {
        guard name.utf8.count <= 512 else {
            throw unknown(String(name.unicodeScalars.prefix(64)) + "…", offersLocal: offersLocal)
        }
        switch name {
        case "UTC", "GMT", "Z": return .utc
        case "local": return local
        default: break
        }
        if let offset = Self.offset(name) { return Zone(offset: UTCOffset(seconds: offset)) }
        if let zone = zones[name] { return zone }
        // Must be beneath the folder: the name may come from a script.
        let parts = name.split(separator: "/", omittingEmptySubsequences: false)
        let isName = parts.allSatisfy { part in
            !part.isEmpty && part.utf8.count <= 64
                && part.utf8.allSatisfy {
                    (0x30...0x39).contains($0) || (0x41...0x5A).contains($0 & 0xDF) || [0x2B, 0x2D, 0x5F].contains($0)
                }
        }
        guard isName, parts.count <= 4, let zone = read("\(folder)/\(name)", name) else {
            throw unknown(name, offersLocal: offersLocal)
        }
        zones[name] = zone
        return zone
    }

    /// The zone of the user's clock; UTC if it cannot be read, as in the C library.
    package var local: Zone {
        if let variable {
            if let cachedLocal { return cachedLocal.zone }
            let zone = zone(ofVariable: variable)
            cachedLocal = (zone, nil)
            return zone
        }
        let status = ZoneFile.status(localFile)
        if let cachedLocal, cachedLocal.status == status { return cachedLocal.zone }
        let target = ZoneFile.linkTarget(localFile)
        // The target's path within the database.
        let name = target.flatMap { $0.split(separator: "zoneinfo/", maxSplits: 1).last.map(String.init) }
        let zone = read(localFile, name ?? "local") ?? .utc
        cachedLocal = (zone, status)
        return zone
    }

    private func zone(ofVariable text: String) -> Zone {
        let name = text.hasPrefix(":") ? String(text.dropFirst()) : text
        if name.isEmpty { return .utc }
        if name.hasPrefix("/") { return read(name, name) ?? .utc }
        if name != "local", let zone = try? zone(named: name) { return zone }
        return ZoneRuleParser.parse(name).map { rule in
            Zone(name: name, transitions: [], offsets: [rule.standard], rule: rule)
        } ?? .utc
    }

    private func read(_ path: String, _ name: String) -> Zone? {
        guard let bytes = ZoneFile.contents(of: path, limit: Self.maximumSize) else { return nil }
        return ZoneFileReader.zone(named: name, bytes)
    }

    /// The seconds of an offset `+02:00`, `-0330` or `+5`.
    private static func offset(_ name: String) -> Int? {
        guard let sign = name.first, sign.is("+") || sign.is("-") else { return nil }
        let fields = name.dropFirst().split(separator: ":", omittingEmptySubsequences: false)
        let digits = fields.joined()
        guard digits.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let number = Int(digits) else { return nil }
        let (hours, minutes) = digits.utf8.count > 2 ? (number / 100, number % 100) : (number, 0)
        let isForm = fields.count == 1 ? [1, 2, 4].contains(digits.utf8.count) : fields.map(\.utf8.count) == [2, 2]
        guard isForm, hours < 24, minutes < 60 else { return nil }
        return (hours * 60 + minutes) * (sign.is("-") ? -60 : 60)
    }

    private func unknown(_ name: String, offersLocal: Bool) -> ZoneError {
        guard let table = ZoneFile.contents(of: "\(folder)/zone.tab", limit: Self.maximumSize) else {
            return ZoneError(
                description: "there is no time zone database in \(folder) (Debian's package tzdata has it); "
                    + "UTC and offsets like +02:00 need none")
        }
        let names = String(decoding: table, as: UTF8.self).split(separator: "\n").compactMap { line -> String? in
            let columns = line.split(separator: "\t")
            return line.hasPrefix("#") || columns.count < 3 ? nil : String(columns[2])
        }
        // A city without its region is more probable than another name that looks like it.
        let city = "/" + name.lowercased().replacing(" ", with: "_")
        let whole = name.utf8.count > 64 ? nil : names.first { $0.lowercased().hasSuffix(city) }
        let hint = whole.map { "; did you mean '\($0)'?" } ?? NearestNames.hint(for: name, among: names)
        let known = offersLocal ? "UTC, local or +02:00" : "UTC or +02:00"
        return ZoneError(
            description: "there is no time zone '\(VisibleText.line(String(name.prefix(80))))'"
                + (hint.isEmpty ? " (names are as Europe/Berlin, \(known))" : hint))
    }
}

/// The files of a database of zones, by the C library's calls.
private enum ZoneFile {
    /// What tells a file from the one that was there before.
    struct Status: Equatable {
        let inode: UInt64
        let size: Int64
        let seconds: Int
        let nanoseconds: Int
    }

    /// A file's bytes; nil if it cannot be read, or is longer than a limit.
    static func contents(of path: String, limit: Int) -> [UInt8]? {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        var bytes: [UInt8] = []
        while bytes.count <= limit {
            var count = 0
            bytes += [UInt8](unsafeUninitializedCapacity: 1 << 16) { buffer, used in
                count = read(descriptor, buffer.baseAddress, buffer.count)
                used = max(count, 0)
            }
            if count < 0, errno == EINTR { continue }
            if count < 0 { return nil }
            if count == 0 { return bytes }
        }
        return nil
    }

    static func status(_ path: String) -> Status? {
        var status = stat()
        guard stat(path, &status) == 0 else { return nil }
        return Status(
            inode: UInt64(status.st_ino), size: Int64(status.st_size), seconds: status.st_mtim.tv_sec,
            nanoseconds: status.st_mtim.tv_nsec)
    }

    static func linkTarget(_ path: String) -> String? {
        var buffer = [UInt8](repeating: 0, count: 4096)
        let count = path.withCString { path in
            buffer.withUnsafeMutableBytes { bytes in bytes.baseAddress.map { readlink(path, $0, bytes.count) } ?? -1 }
        }
        return count > 0 ? String(decoding: buffer[..<count], as: UTF8.self) : nil
    }
}

extension Zone {
    /// The process's database, for expressions that name a zone.
    private static let database = Mutex(ZoneDatabase(variable: nil))

    /// The zone with a name, on any thread. The local zone is a host's to know.
    ///
    /// - Throws: `ZoneError` if there is none.
    package static func named(_ name: String) throws(ZoneError) -> Zone {
        if name == "local" {
            throw ZoneError(description: "the zone is given by its name, as Europe/Berlin, not as local")
        }
        return try database.withLock { (database: inout ZoneDatabase) throws(ZoneError) in
            try database.zone(named: name, offersLocal: false)
        }
    }
}

/// Reads compiled time zones: TZif of RFC 8536, versions 1 to 4.
///
/// Foundation's zones have their own database, 41 MB, which is not updated with the system's, and are absent from a
/// statically linked program; the C library supports one zone for the whole process.
struct ZoneFileReader {
    private let bytes: [UInt8]
    private var position = 0

    /// The zone in a file; nil if it is damaged, or counts leap seconds, which Unix time does not.
    static func zone(named name: String, _ bytes: [UInt8]) -> Zone? {
        var reader = ZoneFileReader(bytes: bytes)
        return reader.zone(named: name)
    }

    private init(bytes: [UInt8]) { self.bytes = bytes }

    /// The counts of a header.
    private struct Header {
        var version: UInt8
        var universal = 0
        var standard = 0
        var leaps = 0
        var times = 0
        var types = 0
        var letters = 0

        /// The size of the header's data in bytes.
        func size(time: Int) -> Int {
            times * (time + 1) + types * 6 + letters + leaps * (time + 4) + standard + universal
        }
    }

    private mutating func zone(named name: String) -> Zone? {
        guard var header = header() else { return nil }
        var width = 4
        if header.version >= UInt8(ascii: "2") {
            // The first data block is for readers of version 1.
            guard skip(header.size(time: 4)), let second = self.header() else { return nil }
            header = second
            width = 8
        }
        guard header.leaps == 0, (1...256).contains(header.types), bytes.count - position >= header.size(time: width)
        else { return nil }
        let times = (0..<header.times).map { _ in integer(width) }
        let kinds = (0..<header.times).map { _ in Int(byte()) }
        guard zip(times, times.dropFirst()).allSatisfy({ $0 < $1 }), kinds.allSatisfy({ $0 < header.types })
        else { return nil }
        let types = (0..<header.types).map { _ in (seconds: integer(4), isDaylight: byte(), name: Int(byte())) }
        let letters = bytes[position..<position + header.letters]
        position += header.size(time: width) - header.times * (width + 1) - header.types * 6
        var offsets: [UTCOffset] = []
        for type in types {
            // The bounds of the RFC.
            guard (-89_999...93_599).contains(type.seconds), type.isDaylight < 2, type.name < header.letters
            else { return nil }
            let abbreviation = letters.dropFirst(type.name).prefix { $0 != 0 && (0x20...0x7E).contains($0) }
            offsets.append(
                UTCOffset(
                    seconds: Int(type.seconds), abbreviation: String(decoding: abbreviation, as: UTF8.self),
                    isDaylight: type.isDaylight == 1))
        }
        var rule: ZoneRule?
        if width == 8 {
            guard let text = footer() else { return nil }
            rule = ZoneRuleParser.parse(text)
            if rule == nil, !text.isEmpty { return nil }
        }
        return Zone(
            name: name, transitions: times, offsets: [offsets[0]] + kinds.map { offsets[$0] }, rule: rule)
    }

    private mutating func header() -> Header? {
        guard bytes.count - position >= 44, bytes[position...].starts(with: "TZif".utf8) else { return nil }
        var header = Header(version: bytes[position + 4])
        position += 20
        // Counts have four bytes each: no sum of their products overflows.
        for count in [\Header.universal, \.standard, \.leaps, \.times, \.types, \.letters] {
            header[keyPath: count] = Int(integer(4) & 0xFFFF_FFFF)
        }
        return header
    }

    private mutating func skip(_ count: Int) -> Bool {
        guard bytes.count - position >= count else { return false }
        position += count
        return true
    }

    private mutating func byte() -> UInt8 {
        defer { position += 1 }
        return bytes[position]
    }

    /// A signed big-endian integer of 4 or 8 bytes.
    private mutating func integer(_ width: Int) -> Int64 {
        defer { position += width }
        let value = bytes[position..<position + width].reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        return width == 4 ? Int64(Int32(truncatingIfNeeded: value)) : Int64(bitPattern: value)
    }

    /// The rule between two line breaks; empty if there is none.
    private func footer() -> String? {
        guard position < bytes.count, bytes[position] == 0x0A,
            let end = bytes[(position + 1)...].firstIndex(of: 0x0A)
        else { return nil }
        return String(decoding: bytes[position + 1..<end], as: UTF8.self)
    }
}
