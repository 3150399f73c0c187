import Foundation
import TestSupport

/// What a page shows: commands with their output, and scripts.
///
/// A block marked `console` holds lines that begin with `$ `, each a shell command, followed by exactly what it prints
/// (the log, which goes to standard error, is left out);
/// a block marked `lua` is a script that runs without an error. In what is printed, `…` stands for anything up to the
/// end of the line.
struct DocumentedSession: Sendable, CustomStringConvertible {
    enum Block: Sendable {
        case commands([(command: String, output: [String])])
        case script(String)
    }

    let name: String
    let blocks: [Block]
    /// Whether each block begins with an empty container, as the page says then; else a reader types all of them in one.
    let hasSeparateBlocks: Bool
    var description: String { name }

    /// The blocks of a page; nil when there is no such page.
    init?(_ name: String) {
        guard let text = try? String(contentsOfFile: "\(Project.root)/\(name)", encoding: .utf8) else { return nil }
        self.name = name
        hasSeparateBlocks = text.contains("begin with an empty container")
        var blocks: [Block] = []
        var open: (kind: Substring, lines: [String])?
        for line in text.split(separator: "\n", omittingEmptySubsequences: false) {
            guard line.hasPrefix("```") else {
                open?.lines.append(String(line))
                continue
            }
            guard let block = open else {
                open = (line.dropFirst(3), [])
                continue
            }
            if block.kind == "console" { blocks.append(.commands(Self.commands(block.lines))) }
            if block.kind == "lua" { blocks.append(.script(block.lines.joined(separator: "\n"))) }
            open = nil
        }
        self.blocks = blocks
    }

    private static func commands(_ lines: [String]) -> [(command: String, output: [String])] {
        var commands: [(command: String, output: [String])] = []
        for line in lines {
            if line.hasPrefix("$ ") {
                commands.append((String(line.dropFirst(2)), []))
            } else if let last = commands.indices.last {
                commands[last].output.append(line)
            }
        }
        return commands
    }

    /// Whether a line was printed as the page has it.
    static func matches(_ shown: String, _ printed: String) -> Bool {
        guard let gap = shown.range(of: "…") else { return shown == printed }
        return printed.hasPrefix(shown[..<gap.lowerBound])
    }

    /// The first line that differs; nil when the page tells the truth.
    static func difference(_ shown: [String], _ printed: [String]) -> String? {
        for index in 0..<max(shown.count, printed.count) {
            let pair = (index < shown.count ? shown[index] : nil, index < printed.count ? printed[index] : nil)
            if let shown = pair.0, let printed = pair.1, matches(shown, printed) { continue }
            return "line \(index + 1): the page has \(pair.0 ?? "nothing"), printed was \(pair.1 ?? "nothing")"
        }
        return nil
    }
}
