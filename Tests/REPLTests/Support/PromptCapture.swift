import Foundation
import TestSupport
import Testing

/// A screen that was captured in tmux, and what had been typed.
struct PromptCapture: CustomTestStringConvertible, Sendable {
    struct Size: Hashable, Sendable { var columns, rows: Int }

    var name: String
    var size: Size
    /// Line by line.
    var typed: [String]
    var screen: String

    var testDescription: String { "\(size.columns)×\(size.rows): \(name)" }

    private static let end = "(the process has ended: "
    /// The exit status of an entry that leaves.
    var status: Int32? {
        screen.split(separator: "\n").last.flatMap { line in
            line.hasPrefix(Self.end) ? Int32(line.dropFirst(Self.end.count).dropLast()) : nil
        }
    }
    /// What the program itself shows.
    var shown: String { status == nil ? screen : screen.split(separator: "\n").dropLast().joined(separator: "\n") }

    /// The captures of a folder's files, which are named by the screen's size.
    static func all(in folder: String) -> [PromptCapture] {
        let path = "\(Project.root)/Tests/Fixtures/\(folder)"
        let files = (try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []
        return files.sorted().flatMap { file in
            let size = file.prefix { $0 != "." }.split(separator: "x").compactMap { Int($0) }
            return size.count == 2
                ? captures(of: "\(path)/\(file)", size: Size(columns: size[0], rows: size[1])) : []
        }
    }

    /// The captures of a file.
    static func captures(of path: String, size: Size) -> [PromptCapture] {
        guard let text = try? String(contentsOfFile: path, encoding: .utf8) else { return [] }
        return text.components(separatedBy: "\n== ").dropFirst().map { block in
            let lines = block.components(separatedBy: "\n")
            let typed = lines.dropFirst().prefix { $0.hasPrefix("<< ") }
            return PromptCapture(
                name: lines[0], size: size, typed: typed.map { String($0.dropFirst(3)) },
                screen: lines.dropFirst(1 + typed.count).joined(separator: "\n").trimmingCharacters(in: .newlines))
        }
    }

    /// A screen with what varies replaced, as it is in the captures.
    static func withoutTimes(_ screen: String) -> String {
        var shown = screen.replacing(/[ ]*\b[0-9][0-9.,]* (ns|µs|ms|s)\b/, with: " (time)")
        shown = shown.replacing(/\(time\) +[0-9]+ %/, with: "(time) (share) %")
        shown = shown.replacing(/[0-9][0-9,]* (sample|round|run)s?\b/) { "(count) \($0.1)s" }
        shown = shown.replacing(/\ba run \([\s\S]*?runs\)/, with: "a run (rounds)")
        shown = shown.replacing(/20\d\d-\d\d-\d\d \d\d:\d\d/, with: "2026-01-01 00:00")
        return shown.replacing(/00:00:\d\d(\.\d+)?/, with: "00:00:00")
    }
}
