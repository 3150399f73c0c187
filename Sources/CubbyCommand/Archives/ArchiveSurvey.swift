import Application
import ArgumentParser
import Files
import Glibc
import KeyedArchive
import PropertyList
import Scripting
import Wording

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
        if isatty(STDERR_FILENO) == 1, output.columns == nil {
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
        tellCounts()
        if status == .done, search != nil, hitCount == 0 { throw ExitCode(ArchiveFiles.different) }
        if status != .done { throw ExitCode(status.rawValue) }
    }

    private func tellCounts() {
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
