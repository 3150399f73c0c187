import Foundation

/// Parts of pages and of tests, which show the same lines.
package enum DocumentedText {
    /// A file's text; its path is the project's if it is relative.
    package static func file(_ path: String) throws -> String {
        try String(contentsOfFile: path.hasPrefix("/") ? path : "\(Project.root)/\(path)", encoding: .utf8)
    }

    /// The text of a file between two others.
    package static func file(_ path: String, after start: String, until end: String) throws -> String {
        try between(start, end, in: file(path))
    }

    /// The text between two others.
    ///
    /// - Throws: `TestFailure` if one is missing.
    package static func between(_ start: String, _ end: String, in text: String) throws -> String {
        guard let first = text.range(of: start) else { throw TestFailure("\(start) is missing") }
        guard let last = text.range(of: end, range: first.upperBound..<text.endIndex) else {
            throw TestFailure("\(end) is missing")
        }
        return String(text[first.upperBound..<last.lowerBound])
    }

    /// The lines of a test that a page has, too: those between the comments `Page begins.` and `Page ends.`, as at the top of
    /// a program.
    package static func example(in file: String) throws -> String {
        let lines = try self.file(file, after: "// Page begins.\n", until: "        // Page ends.")
        return String(lines.replacing("\n        ", with: "\n").dropFirst(8))
    }
}
