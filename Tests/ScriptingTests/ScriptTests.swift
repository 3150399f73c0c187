import Files
import Foundation
import Lua
import Scripting
import TestSupport
import Testing

/// Runs each script of Tests/Scripts in a container of its own and holds what it writes against its own comments:
///
/// - `-- expect: text` is the next line of standard output;
/// - `-- expect log: text` is on standard error, behind those before it; without any, only saving may be told there;
/// - `-- expect error: text` is in the error that ends the script.
@Suite("Scripts")
struct ScriptTests {
    static let folder = "\(Project.root)/Tests/Scripts"

    static let names =
        ((try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []).filter { $0.hasSuffix(".lua") }.sorted()

    @Test("a script does what its comments say", arguments: names)
    func script(name: String) throws {
        let path = "\(Self.folder)/\(name)"
        let source = try String(contentsOfFile: path, encoding: .utf8)
        let expected = Expectations(source)
        let scratch = try TemporaryDirectory()
        let embedding = try Embedding(scratch.file("container")) { options in
            options.modulePaths = ["\(Self.folder)/modules"]
            options.readable = [Self.folder, "\(Project.root)/examples"]
            options.bundles = ["\(Project.root)/examples/data"]
        }
        embedding.host.launch()
        embedding.host.sources.remember(source, as: name)
        let result = embedding.host.run(
            Array(source.utf8), name: "@\(name)", arguments: [.text("\(Project.root)/examples/data")])
        embedding.end()

        #expect(Expectations.lines(embedding.recorder.output) == expected.output, "in \(name)")
        var log = embedding.recorder.errors[...]
        for text in expected.log {
            guard let found = log.range(of: text) else {
                Issue.record("\(name): \(text.debugDescription) is not in the log:\n\(embedding.recorder.errors)")
                continue
            }
            log = log[found.upperBound...]
        }
        if expected.log.isEmpty {
            let others = Expectations.lines(embedding.recorder.errors).filter {
                !$0.hasSuffix("Saved all of the Items")
            }
            #expect(others == [], "in \(name)")
        }
        switch result {
        case .success: #expect(expected.error == nil, "\(name) ended without an error")
        case .failure(let error):
            let text = ErrorText.describe(error, sources: embedding.host.sources)
            if embedding.host.exitCode != 0 || error.kind != .cancelled || expected.error != nil {
                #expect(text.contains(expected.error ?? "(none)"), "\(name) ended in: \(text)")
            }
        }
    }

    /// What a script says of itself.
    struct Expectations {
        var output: [String] = []
        var log: [String] = []
        var error: String?

        init(_ source: String) {
            for line in Self.lines(source) {
                if let text = Self.text(of: line, after: "-- expect:") { output.append(text) }
                if let text = Self.text(of: line, after: "-- expect log:") { log.append(text) }
                if let text = Self.text(of: line, after: "-- expect error:") { error = text }
            }
        }

        static func lines(_ text: String) -> [String] {
            var lines = text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
            if lines.last == "" { lines.removeLast() }
            return lines
        }

        private static func text(of line: String, after marker: String) -> String? {
            guard let range = line.range(of: marker) else { return nil }
            let text = line[range.upperBound...]
            return String(text.first == " " ? text.dropFirst() : text)
        }
    }
}
