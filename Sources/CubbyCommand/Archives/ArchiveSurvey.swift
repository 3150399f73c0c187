import ArgumentParser
import Files
import Glibc
import KeyedArchive
import PropertyList
import Scripting

/// Inspects many archives and property lists in order: a line of JSON for each, or a line for each place of a text.
struct ArchiveSurvey {
    private let output: TextOutput
    private var search: TreeSearch?
    private let writesJSON: Bool
    private let leafText: LeafText
    private let layer = PosixFileLayer()
    private var progress: CommandProgress?

    private var fileCount = 0
    private var failureCount = 0
    private var passedOverCount = 0
    /// How many files that are passed over are named on standard error.
    private static let namedCount = 10
    private var hitCount = 0
    private var status = ExitStatus.done

    /// - Parameters:
    ///   - output: receives the lines.
    ///   - search: the search; nil to output all files.
    ///   - writesJSON: whether lines are JSON.
    ///   - leafText: the format of values in other lines.
    init(_ output: TextOutput, search: TreeSearch?, writesJSON: Bool, leafText: LeafText) {
        (self.output, self.search, self.writesJSON, self.leafText) = (output, search, writesJSON, leafText)
    }

    mutating func run(_ paths: [String]) throws {
        if StandardStream.error.isTerminal, output.columns == nil {
            progress = CommandProgress("Inspecting", total: FileTree(paths).reduce(0) { count, _ in count + 1 })
        }
        for (index, entry) in FileTree(paths).enumerated() {
            progress?.show(index)
            survey(entry)
            output.flush()
            if output.isClosed { break }
        }
        progress?.finish()
        guard !output.isClosed else { throw ExitCode.success }
        reportCounts()
        if status == .done, search != nil, hitCount == 0 { throw ExitCode(ArchiveFiles.different) }
        if status != .done { throw ExitCode(status.rawValue) }
    }

    private func reportCounts() {
        var parts: [String] = []
        if failureCount > 0 { parts.append("\(failureCount) of \(fileCount.counted("file")) cannot be read whole") }
        if passedOverCount > 0 {
            let unnamed = passedOverCount - Self.namedCount
            parts.append(
                "\(passedOverCount.counted("file")) \(passedOverCount == 1 ? "was" : "were") passed over"
                    + (unnamed > 0 && !writesJSON ? ", \(unnamed) of them not named here: --json-lines names all" : ""))
        }
        if !parts.isEmpty { CommandFailure.say(parts.joined(separator: "; ")) }
    }

    // MARK: - One file

    private mutating func survey(_ entry: FileTree.Entry) {
        let bytes: [UInt8]
        do throws(FileError) {
            if let problem = entry.problem { throw problem }
            if let omission = entry.omission { return passOver(entry, omission) }
            guard let contents = try contents(of: entry) else { return passOver(entry, "not a property list") }
            bytes = contents
        } catch {
            fileCount += 1
            return report(ArchiveReport(file: entry.path, error: error.message), as: .inputOutput)
        }
        fileCount += 1
        var report = ArchiveReport(file: entry.path, digest: SHA256.text(SHA256.digest(bytes)))
        do {
            let tree = try ArchiveTree(PropertyListStorage(bytes))
            report.error = tree.archiveError?.description
            if let search { try find(search, in: tree, &report) }
            if writesJSON { try report.describe(tree) }
        } catch {
            report.error = "\(error)"
        }
        self.report(report, as: .badData)
    }

    /// Names a file that is passed over: each in a line of JSON, or the first ones on standard error.
    private mutating func passOver(_ entry: FileTree.Entry, _ reason: String) {
        passedOverCount += 1
        if writesJSON {
            var report = ArchiveReport(file: entry.path)
            report.omission = reason
            return output.append(json: report.line())
        }
        guard passedOverCount <= Self.namedCount else { return }
        progress?.finish()
        CommandFailure.say(VisibleText.line("passed over \(entry.path): \(reason)"))
    }

    /// The bytes of a file; nil for a file in a folder without the start of a property list.
    private func contents(of entry: FileTree.Entry) throws(FileError) -> [UInt8]? {
        if entry.isNamed { return try ArchiveFiles.contents(of: entry.path) }
        let file = try layer.open(entry.path, .read)
        defer { layer.close(file) }
        var failure: FileError?
        let isWanted = withUnsafeTemporaryAllocation(byteCount: 2048, alignment: 16) { buffer in
            do throws(FileError) {
                let count = try layer.read(file, at: 0, into: buffer)
                return Self.isPropertyList(UnsafeRawBufferPointer(rebasing: buffer[..<count]), entry.path)
            } catch {
                failure = error
                return false
            }
        }
        if let failure { throw failure }
        guard isWanted else { return nil }
        let bytes = try layer.contents(of: file, limit: ArchiveFiles.sizeLimit)
        // A comment may be longer than the beginning.
        return bytes.withUnsafeBytes { Self.isPropertyList($0, entry.path) } ? bytes : nil
    }

    /// Whether a file begins like a property list; in OpenStep's text form, which other texts resemble, if its name says
    /// so, too.
    private static func isPropertyList(_ bytes: UnsafeRawBufferPointer, _ path: String) -> Bool {
        if PropertyListFormat.isBeginning(of: bytes) { return true }
        return [".plist", ".strings", ".pbxproj"].contains { path.lowercased().hasSuffix($0) }
            && PropertyListFormat.isTextBeginning(of: bytes)
    }

    private mutating func find(_ search: TreeSearch, in tree: ArchiveTree, _ report: inout ArchiveReport) throws {
        var search = search
        var count = 0
        defer { hitCount += count }
        let file = VisibleText.line(ArchiveFiles.name(report.file))
        var found = ArchiveReport.Found(tree)
        defer { if count > 0 { report.found = found } }
        try search.run(in: tree) { hit in
            if writesJSON {
                try found.add(hit)
            } else if !output.isClosed {
                output.line(
                    [(.label, file), (.guide, ": "), (.reference, hit.path.description), (.guide, ": ")]
                        + InspectCommand.line(hit.tree, hit.node, leafText))
            }
            count += 1
        }
    }

    private mutating func report(_ report: ArchiveReport, as failure: ExitStatus) {
        if report.error != nil {
            failureCount += 1
            if status != .inputOutput { status = failure }
        }
        if writesJSON, search == nil || report.found != nil { return output.append(json: report.line()) }
        if let error = report.error {
            progress?.finish()
            CommandFailure.say(VisibleText.line("\(ArchiveFiles.name(report.file)): \(error)"))
        }
    }
}

/// The output of `cubby inspect --json-lines` for a file.
struct ArchiveReport {
    /// The places at which a searched text was found.
    struct Found {
        private var text = JSONText(.compact)
        private let maximumBytes: Int

        init(_ tree: ArchiveTree) { maximumBytes = ArchiveReport.maximumBytes(of: tree) }

        mutating func add(_ hit: TreeSearch.Hit) throws {
            text.append(text.bytes.isEmpty ? "{" : ",{")
            text.key("path")
            text.string(hit.path.description)
            text.next(1, isFirst: false)
            text.key("value")
            text.append(json: try TreeJSON.brief(hit.node, of: hit.tree))
            text.append("}")
            guard text.bytes.count <= maximumBytes else {
                throw ArchiveError(code: .writeInvalid, message: "the places take more than \(maximumBytes) bytes")
            }
        }

        fileprivate var json: [UInt8] { text.bytes }
    }

    let file: String
    /// The SHA-256 of the file's bytes, in hexadecimal digits.
    var digest: String?
    private var classes: NameTable<Int> = [:]
    private var top: [UInt8]?
    var found: Found?
    /// The first error of reading.
    var error: String?
    /// Why a file in a folder was passed over.
    var omission: String?

    init(file: String, digest: String? = nil, error: String? = nil) {
        (self.file, self.digest, self.error) = (file, digest, error)
    }

    /// A file's line is buffered until it is complete, so that an error leaves no partial line.
    private static func maximumBytes(of tree: ArchiveTree) -> Int {
        (4 << 20) + 16 * tree.propertyList.storage.bytes.count
    }

    /// Adds a tree's contents.
    mutating func describe(_ tree: ArchiveTree) throws {
        classes = tree.classCounts
        var writer = TreeJSON(
            tree, layout: .compact, keepsData: false, maximumBytes: Self.maximumBytes(of: tree))
        var json: [UInt8] = []
        try writer.write { json += $0 }
        json.removeLast()
        top = json
        if error == nil { error = writer.damage?.description }
    }

    /// The JSON object as one line.
    func line() -> [UInt8] {
        var text = JSONText(.compact)
        text.append("{")
        text.key("file")
        text.string(file)
        func next(_ key: String) {
            text.next(1, isFirst: false)
            text.key(key)
        }
        if let digest {
            next("sha256")
            text.string(digest)
        }
        if let top {
            next("classes")
            text.append("{")
            for (index, name) in classes.keys.sorted().enumerated() {
                text.next(2, isFirst: index == 0)
                text.key(name)
                text.append("\(classes[name, default: 0])")
            }
            text.append("}")
            next("top")
            text.append(json: top)
        }
        if let found {
            next("found")
            text.append("[")
            text.append(json: found.json)
            text.append("]")
        }
        if let error {
            next("error")
            text.string(error)
        }
        if let omission {
            next("passedOver")
            text.string(omission)
        }
        text.append("}\n")
        return text.take()
    }
}

/// The files of a command line, in its order: the named ones, and those in named folders, in byte order of names. Links
/// and other objects in folders that are not files are entries, too, with the reason why they are not read.
struct FileTree: Sequence, IteratorProtocol {
    /// A file, or the reason why a folder cannot be listed.
    struct Entry {
        let path: String
        /// Whether it is named on the command line.
        let isNamed: Bool
        var problem: FileError?
        /// Why an object in a folder is passed over.
        var omission: String?
    }

    private let layer = PosixFileLayer()
    /// In reverse order: the last one is next.
    private var pending: [Entry]

    init(_ paths: [String]) { pending = paths.reversed().map { Entry(path: $0, isNamed: true) } }

    mutating func next() -> Entry? {
        while var next = pending.popLast() {
            if next.problem != nil { return next }
            do throws(FileError) {
                switch try kind(of: next) {
                case .regular: return next
                case .directory: pending += try contents(of: next.path).reversed()
                case let other:
                    if !next.isNamed { next.omission = Self.omission(other) }
                    return next
                }
            } catch {
                next.problem = error
                return next
            }
        }
        return nil
    }

    private static func omission(_ kind: FileStatus.Kind?) -> String {
        switch kind {
        case .symbolicLink?: "a link, which is not followed"
        case .socket?: "a socket"
        case nil: "it is gone"
        default: "a pipe or a device"
        }
    }

    private func kind(of entry: Entry) throws(FileError) -> FileStatus.Kind? {
        guard entry.isNamed else { return try layer.status(entry.path)?.kind }
        // A named link is followed, also to a folder.
        return entry.path != "-" && !entry.path.isEmpty && layer.exists(PathText.join(entry.path, "."))
            ? .directory : .regular
    }

    private func contents(of folder: String) throws(FileError) -> [Entry] {
        let descriptor = Glibc.open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { throw FileError(.list, folder, code: errno) }
        let stream = try FolderStream(descriptor: descriptor, path: folder)
        var names: [[UInt8]] = []
        while let name = try stream.next() { names.append(name) }
        return names.sorted { $0.lexicographicallyPrecedes($1) }.map { bytes in
            let name = String(decoding: bytes, as: UTF8.self)
            var entry = Entry(path: PathText.join(folder, name), isNamed: false)
            if !name.utf8.elementsEqual(bytes) {
                entry.problem = FileError(.open, entry.path, code: EILSEQ, reason: "the name is not UTF-8")
            }
            return entry
        }
    }
}
