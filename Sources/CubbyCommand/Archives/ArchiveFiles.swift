import Application
import ArgumentParser
import Files
import Glibc
import KeyedArchive
import PropertyList
import Wording

/// File input and output of `cubby inspect`, `convert` and `check`.
enum ArchiveFiles {
    static let different: Int32 = 1
    static let sizeLimit = 1 << 33

    /// The bytes of a file; `-` is standard input.
    static func contents(of path: String) throws(FileError) -> [UInt8] {
        let layer = PosixFileLayer()
        guard path == "-" else { return try layer.contents(of: path, limit: sizeLimit) }
        return try layer.contents(of: OpenFile(descriptor: STDIN_FILENO, path: "standard input"), limit: sizeLimit)
    }

    /// The bytes of a command's only file.
    ///
    /// - Throws: the exit status, after a message on standard error.
    static func bytes(of path: String) throws -> [UInt8] {
        do throws(FileError) {
            return try contents(of: path)
        } catch {
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
        if path == "-", isatty(STDOUT_FILENO) == 1 {
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

    /// Opens a property list or an archive, or JSON where allowed.
    static func propertyList(
        _ path: String, acceptingJSON: Bool = false
    ) throws -> (reader: BinaryPropertyListReader, format: PropertyListFormat?) {
        let storage = PropertyListStorage(try bytes(of: path))
        do throws(PropertyListError) {
            let format = PropertyListFormat(detecting: storage.bytes)
            if format == nil, acceptingJSON, looksLikeJSON(storage.bytes) { return (try json(storage), nil) }
            return (try BinaryPropertyListReader(detecting: storage), format)
        } catch {
            throw CommandFailure.exit(.badData, "\(name(path)): \(error)")
        }
    }

    /// Opens JSON, or a text property list, which begins like it. The error is of the form that was read further.
    private static func json(_ storage: PropertyListStorage) throws(PropertyListError) -> BinaryPropertyListReader {
        do throws(PropertyListError) { return try BinaryPropertyListReader(json: storage.bytes) } catch {
            guard PropertyListFormat.isTextBeginning(of: storage.bytes) else { throw error }
            let failure = error
            do throws(PropertyListError) { return try BinaryPropertyListReader(detecting: storage) } catch {
                throw (error.byteOffset ?? 0) > (failure.byteOffset ?? 0) ? error : failure
            }
        }
    }

    /// Whether the bytes begin like JSON.
    private static func looksLikeJSON(_ bytes: UnsafeRawBufferPointer) -> Bool {
        let rest = bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? bytes.dropFirst(3) : bytes[...]
        guard let first = rest.first(where: { ![0x20, 0x09, 0x0A, 0x0D].contains($0) }) else { return false }
        return "{[\"-0123456789tfn".utf8.contains(first)
    }

    static func name(_ path: String) -> String { path == "-" ? "standard input" : path }
}
