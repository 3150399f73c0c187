import Foundation

/// The keyed archives of other writers: those of the project, and those of the shared data where that is.
package enum ForeignArchives {
    /// An archive, with what its folder's index says of it.
    package struct Entry: Sendable, CustomStringConvertible {
        package let file: String
        package let path: String
        package let objectCount: Int
        /// As far as the index has them.
        package let classes: [String]

        package var description: String { file }

        package func bytes() throws -> [UInt8] { [UInt8](try Data(contentsOf: URL(fileURLWithPath: path))) }
    }

    /// The folders: the project's own first.
    package static let folders =
        ["\(Project.root)/Tests/Fixtures/archives"] + [Project.sharedData("archives")].compactMap(\.self)

    /// Each file once, by name.
    package static let all: [Entry] = {
        var entries: [String: Entry] = [:]
        for entry in folders.flatMap(index) where entries[entry.file] == nil { entries[entry.file] = entry }
        return entries.values.sorted { $0.file < $1.file }
    }()

    /// The archive of a name; nil when it is only in the shared data, and that is absent.
    package static func named(_ file: String) -> Entry? { all.first { $0.file == file } }

    /// What the index of a folder lists.
    package static func index(of folder: String) -> [Entry] {
        let lines = ((try? String(contentsOfFile: "\(folder)/index.tsv", encoding: .utf8)) ?? "")
            .split(whereSeparator: \.isNewline).dropFirst()
        return lines.compactMap { line in
            let cells = line.split(separator: "\t", omittingEmptySubsequences: false).map(String.init)
            guard cells.count > 10, let count = Int(cells[7]) else { return nil }
            var classes = cells[10].split(separator: ",").map(String.init)
            // The index cuts long lists, perhaps within a name.
            if cells[10].utf8.count >= 390 { classes.removeLast() }
            return Entry(file: cells[0], path: "\(folder)/\(cells[0])", objectCount: count, classes: classes)
        }
    }
}
