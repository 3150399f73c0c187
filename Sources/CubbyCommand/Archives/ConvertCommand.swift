import Application
import ArgumentParser
import Files
import Glibc
import PropertyList

/// `cubby convert IN OUT`
struct ConvertCommand: ParsableCommand {
    /// The formats of property lists.
    enum Form: String, ExpressibleByArgument, CaseIterable {
        case binary, xml, json
    }

    static let configuration = CommandConfiguration(
        commandName: "convert",
        abstract: "Convert a property list or a keyed archive to another format: binary, XML or JSON.",
        discussion: """
            The format of OUT follows from --format, or from its extension: .json; .xml; binary for .plist, .bplist, \
            .archive, .bin and a name without an extension.
            The conversion is lossless, except for the width of reals in XML, and for what is said on standard error: \
            fractions of seconds that XML does not have, equal keys, and damage in a text. Values that the format cannot \
            hold are refused.
            """)

    @Option(help: "The format of OUT: binary, xml or json.")
    var format: Form?

    @Argument(help: "The file to read, in any of the three formats; - is standard input.", completion: .file())
    var input: String

    @Argument(help: "The file to write; - is standard output.", completion: .file())
    var output: String

    func validate() throws {
        guard format == nil else { return }
        if output == "-" { throw ValidationError("Standard output has no extension: say --format.") }
        guard extensionForm == nil else { return }
        let advice =
            ["csv", "tsv", "jsonl", "sqlite"].contains(fileExtension)
            ? " For items: import the archive, and use items:export." : ""
        throw ValidationError(
            "A property list is not written as .\(fileExtension): the extensions are .json, .xml, .plist, .bplist, "
                + ".archive and .bin; --format binary, xml or json goes with any other.\(advice)")
    }

    func run() throws {
        SignalMask.restore()
        let reader = try ArchiveFiles.propertyList(input, try ArchiveFiles.bytes(of: input), acceptingJSON: true).reader
        let bytes: [UInt8]
        let notation: VisibleText.Notation?
        do throws(PropertyListError) {
            switch format ?? extensionForm ?? .binary {
            case .binary: (bytes, notation) = (try reader.binary(), nil)
            case .xml:
                let (xml, loss) = try reader.xmlSayingLoss()
                (bytes, notation) = (xml, .xml)
                if let loss { CommandFailure.say(loss) }
            case .json:
                let (json, loss) = try reader.jsonSayingLoss()
                (bytes, notation) = (json, .json)
                if let loss { CommandFailure.say(loss) }
            }
        } catch {
            throw CommandFailure.exit(.badData, "\(ArchiveFiles.name(input)): \(error)")
        }
        try ArchiveFiles.write(bytes, to: output, as: notation)
    }

    /// The format of the extension; nil for other extensions.
    private var extensionForm: Form? {
        switch fileExtension {
        case "json": .json
        case "xml": .xml
        case "plist", "bplist", "archive", "bin", "": .binary
        default: nil
        }
    }

    /// The file's extension in lower case; empty without one.
    private var fileExtension: String {
        let name = output.split(separator: "/").last ?? ""
        guard let point = name.lastIndex(of: "."), point != name.startIndex else { return "" }
        return name[name.index(after: point)...].lowercased()
    }
}

/// File input and output of `cubby inspect`, `convert` and `check`.
enum ArchiveFiles {
    static let different: Int32 = 1
    static let sizeLimit = 1 << 33

    /// The bytes of a file, or of a cell of a database; `-` is standard input.
    ///
    /// - Parameters:
    ///   - path: the file's path, `-`, or `FILE.sqlite#table.column[rowid]`.
    ///   - provenance: records the files of the cell's database.
    /// - Returns: the bytes.
    /// - Throws: `FileError`, also for a device, and for a cell that has no bytes.
    static func contents(of path: String, _ provenance: Provenance? = nil) throws(FileError) -> [UInt8] {
        if let cell = CellReference(path) { return try cell.bytes(provenance) }
        let layer = PosixFileLayer()
        try refuseDevice(path)
        guard path == "-" else { return try layer.contents(of: path, limit: sizeLimit) }
        return try layer.contents(
            of: OpenFile(descriptor: StandardDescriptor.input, path: "standard input"), limit: sizeLimit)
    }

    /// Refuses what may have no end, or nobody who writes it: a device, and a pipe by name. The program's own streams,
    /// also those of a shell's `<(…)`, are read.
    private static func refuseDevice(_ path: String) throws(FileError) {
        var raw = stat()
        var null = stat()
        guard (path == "-" ? fstat(StandardDescriptor.input, &raw) : stat(path, &raw)) == 0 else { return }
        let isStream = path == "-" || ["/dev/stdin", "/dev/fd/", "/proc/"].contains { path.hasPrefix($0) }
        switch raw.st_mode & S_IFMT {
        case S_IFIFO, S_IFSOCK:
            if isStream { return }
        case S_IFBLK: break
        case S_IFCHR:
            if path == "-", isatty(StandardDescriptor.input) == 1 { return }
            if stat("/dev/null", &null) == 0, null.st_rdev == raw.st_rdev { return }
        default: return
        }
        throw FileError(
            .read, path == "-" ? "standard input" : path, code: EINVAL, reason: "it is a pipe or a device")
    }

    /// The bytes of a command's only file.
    ///
    /// - Throws: the exit status, after a message on standard error.
    static func bytes(of path: String, _ provenance: Provenance? = nil) throws -> [UInt8] {
        do throws(FileError) {
            return try contents(of: path, provenance)
        } catch {
            provenance?.recordUnread(path, reason: error.message)
            throw CommandFailure.exit(.inputOutput, error.message)
        }
    }

    /// Replaces a whole file; `-` is standard output.
    ///
    /// - Parameters:
    ///   - bytes: the contents.
    ///   - path: the file's path, or `-`.
    ///   - notation: the escapes for control characters on a terminal; nil for the binary form, which is not written to
    ///     a terminal.
    /// - Throws: the exit status, after a message on standard error.
    static func write(_ bytes: [UInt8], to path: String, as notation: VisibleText.Notation? = nil) throws {
        var bytes = bytes
        if path == "-", StandardStream.output.isTerminal {
            guard let notation else {
                throw CommandFailure.exit(
                    .usage, "the binary form is not written to a terminal: name a file, or choose --format xml or json")
            }
            bytes = Array(VisibleText.escaped(String(decoding: bytes, as: UTF8.self), as: notation).utf8)
        }
        do throws(FileError) {
            try FileTarget.write(bytes, to: path == "-" ? "/dev/stdout" : path, reachesStreams: true)
        } catch {
            throw CommandFailure.isOfOutput(error)
                ? CommandFailure.exit(error) : CommandFailure.exit(.inputOutput, error.message)
        }
    }

    /// Opens the bytes of a file. What its text form has and the property list does not show is said on standard error.
    static func propertyList(
        _ path: String, _ bytes: [UInt8], acceptingJSON: Bool = false
    ) throws -> (reader: BinaryPropertyListReader, format: PropertyListFormat?) {
        let storage = PropertyListStorage(bytes)
        do throws(PropertyListError) {
            let format = PropertyListFormat(detecting: storage.bytes)
            if format == nil, acceptingJSON, looksLikeJSON(storage.bytes) { return (try json(storage, path), nil) }
            return (try list(storage, path), format)
        } catch {
            throw CommandFailure.exit(.badData, "\(name(path)): \(error)")
        }
    }

    /// Opens JSON, or a text property list, which begins like it. The error is of the form that was read further.
    private static func json(
        _ storage: PropertyListStorage, _ path: String
    ) throws(PropertyListError) -> BinaryPropertyListReader {
        do throws(PropertyListError) { return try BinaryPropertyListReader(json: storage.bytes) } catch {
            guard PropertyListFormat.isTextBeginning(of: storage.bytes) else { throw error }
            let failure = error
            do throws(PropertyListError) { return try list(storage, path) } catch {
                throw (error.byteOffset ?? 0) > (failure.byteOffset ?? 0) ? error : failure
            }
        }
    }

    private static func list(
        _ storage: PropertyListStorage, _ path: String
    ) throws(PropertyListError) -> BinaryPropertyListReader {
        var findings: [PropertyListFinding] = []
        let reader = try BinaryPropertyListReader(detecting: storage, findings: &findings)
        for finding in findings { CommandFailure.say(VisibleText.line("\(name(path)): \(FileCheck.text(finding))")) }
        return reader
    }

    /// Whether the bytes begin like JSON.
    private static func looksLikeJSON(_ bytes: UnsafeRawBufferPointer) -> Bool {
        let rest = bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? bytes.dropFirst(3) : bytes[...]
        guard let first = rest.first(where: { ![0x20, 0x09, 0x0A, 0x0D].contains($0) }) else { return false }
        return "{[\"-0123456789tfn".utf8.contains(first)
    }

    static func name(_ path: String) -> String { path == "-" ? "standard input" : path }
}
