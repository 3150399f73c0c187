import Files
import Lua
import Scripting

/// How often each line of scripts was run.
struct LineCoverage: Sendable {
    /// By the scripts' absolute paths, the number of runs of each line.
    private(set) var counts: [String: [Int: Int]] = [:]

    mutating func add(_ other: LineCoverage) {
        for (path, lines) in other.counts { counts[path, default: [:]].merge(lines, uniquingKeysWith: +) }
    }

    mutating func add(_ path: String, _ line: Int) { counts[path, default: [:]][line, default: 0] += 1 }
}

/// Records the lines that a state runs, until its end.
final class CoverageObserver {
    private(set) var coverage = LineCoverage()
    /// The paths of chunks by their names; nil for a chunk that is no script.
    private var paths: [String: String?] = [:]
    private let file: TestFile

    /// - Parameters:
    ///   - state: the state.
    ///   - file: the file with the tests, which is not counted.
    init(_ state: LuaState, _ file: TestFile) {
        self.file = file
        state.debugger.onLine = { [weak self] name, line in self?.record(name, line) }
    }

    private func record(_ name: String, _ line: Int) {
        let path: String?
        if let known = paths[name] {
            path = known
        } else {
            path = self.path(of: name)
            paths[name] = .some(path)
        }
        if let path { coverage.add(path, line) }
    }

    private func path(of name: String) -> String? {
        guard name.hasPrefix("@") else { return nil }
        var path = String(name.dropFirst())
        if path.hasPrefix("~/"), let home = HomeFolder.path { path = PathText.join(home, String(path.dropFirst(2))) }
        path = PathText.absolute(path, from: WorkingDirectory.path ?? "/")
        return path == file.path ? nil : path
    }
}

/// The coverage of all scripts: as a table, and in the format of lcov.
struct CoverageReport {
    private struct Script {
        let path: String
        /// The lines with code, and how often each was run.
        let lines: [(number: Int, count: Int)]
        var covered: Int { lines.count { $0.count > 0 } }
    }

    /// The file that is written in the working folder.
    static let fileName = "lcov.info"

    private let scripts: [Script]

    /// Reads the scripts again, to know which of their lines have code.
    init(_ coverage: LineCoverage) {
        scripts = coverage.counts.sorted { $0.key < $1.key }.map { path, counts in
            let lines = Self.codeLines(of: path) ?? counts.keys.sorted()
            return Script(path: path, lines: lines.map { ($0, counts[$0] ?? 0) })
        }
    }

    private static func codeLines(of path: String) -> [Int]? {
        guard let bytes = try? PosixFileLayer().contents(of: path, limit: 64 << 20), let state = try? LuaState(),
            let function = try? state.load(ScriptHost.withoutShebang(bytes), name: "@" + path)
        else { return nil }
        defer { state.close() }
        return function.codeLines
    }

    /// A row for each script, and their sum.
    var table: [String] {
        if scripts.isEmpty { return ["no script was run beside the tests"] }
        let folder = (WorkingDirectory.path ?? "/") + "/"
        var rows = scripts.map { script in
            let name = script.path.hasPrefix(folder) ? String(script.path.dropFirst(folder.count)) : script.path
            return Self.row(script.covered, script.lines.count, VisibleText.line(name))
        }
        if scripts.count > 1 {
            rows.append(
                Self.row(scripts.reduce(0) { $0 + $1.covered }, scripts.reduce(0) { $0 + $1.lines.count }, "all"))
        }
        return rows
    }

    /// Per cent are rounded down, so that 100 means all.
    private static func row(_ covered: Int, _ count: Int, _ name: String) -> String {
        let share = "\(count == 0 ? 100 : covered * 100 / count) %"
        let lines = "\(covered)/\(count)"
        return "\(pad(share, 7))\(pad(lines, 12))  \(name)"
    }

    private static func pad(_ text: String, _ width: Int) -> String {
        String(repeating: " ", count: max(0, width - text.count)) + text
    }

    /// The text for lcov.
    private var lcov: String {
        scripts.map { script in
            "TN:\nSF:\(script.path)\n" + script.lines.map { "DA:\($0.number),\($0.count)\n" }.joined()
                + "LF:\(script.lines.count)\nLH:\(script.covered)\nend_of_record\n"
        }.joined()
    }

    /// Writes the file.
    ///
    /// - Throws: `FileError`.
    func write() throws(FileError) {
        let path = PathText.absolute(Self.fileName, from: WorkingDirectory.path ?? "/")
        try AtomicFile.write(Array(lcov.utf8), to: path, using: PosixFileLayer())
    }
}
