import Foundation
import LineEditor
import Testing

@Suite("History")
struct HistoryTests {
    @Test("Duplicates move to the end, blanks and secrets are not kept")
    func adding() {
        var history = EditorHistory(limit: 3)
        for entry in ["a", "b", "a", "", "  ", " secret", "c"] { history.add(entry) }
        #expect(history.entries == ["b", "a", "c"])
        history.add("d")
        #expect(history.entries == ["a", "c", "d"])
        history.isRecording = false
        #expect(history.add("e") == false)
        #expect(history.entries == ["a", "c", "d"])
        #expect(EditorHistory(["x", "y", "x", "z"], limit: 2).entries == ["x", "z"])
    }

    @Test(
        "The newest entry that goes on from a prefix",
        arguments: [("f", 3), ("foo", 1), ("foo()", nil), ("", 4), ("é", 2)] as [(String, Int?)])
    func prefix(_ prefix: String, _ index: Int?) {
        let history = EditorHistory(["for", "foo()", "été", "fa", "x"])
        #expect(history.newest(withPrefix: prefix) == index)
    }

    private func temporaryPath() -> String {
        FileManager.default.temporaryDirectory.appending(path: "history-\(UUID().uuidString)").path
    }

    @Test("Entries come back from the file as they were")
    func file() throws {
        let path = temporaryPath()
        defer { try? FileManager.default.removeItem(atPath: path) }
        let file = HistoryFile(path: path)
        #expect(try file.load().entries == [])
        let entries = [
            "x = 1", "for i=1,2 do\n  print(i)\nend", #"s = "a\nb\\" "#, "é漢😀", "tab\there\r", "\\", "a\\\nb",
        ]
        for entry in entries { try file.append(entry) }
        #expect(try file.load().entries == entries)
        let mode = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
        #expect(mode == 0o600)
    }

    @Test("A torn line loses itself alone, invalid bytes nothing")
    func torn() throws {
        let path = temporaryPath()
        defer { try? FileManager.default.removeItem(atPath: path) }
        try Data(Array("one\n\\q \\\n\nha".utf8) + [0xFF]).write(to: URL(filePath: path))
        let file = HistoryFile(path: path)
        try file.append("two")
        #expect(try file.load().entries == ["one", "\\q \\", "ha\u{FFFD}", "two"])
    }

    @Test("A file that has grown is written anew")
    func compaction() throws {
        let path = temporaryPath()
        defer { try? FileManager.default.removeItem(atPath: path) }
        let file = HistoryFile(path: path)
        for index in 0..<25 { try file.append("e\(index)") }
        #expect(try file.load(limit: 10).entries == (15..<25).map { "e\($0)" })
        #expect(try String(contentsOfFile: path, encoding: .utf8).split(separator: "\n").count == 10)
    }

    @Test("Writers at the same time lose nothing")
    func concurrent() async throws {
        let path = temporaryPath()
        defer { try? FileManager.default.removeItem(atPath: path) }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for writer in 0..<4 {
                group.addTask {
                    for index in 0..<50 { try HistoryFile(path: path).append("w\(writer)\n\(index)") }
                }
            }
            try await group.waitForAll()
        }
        #expect(try HistoryFile(path: path).load().entries.count == 200)
    }

    @Test("What can't be opened is an error with a reason")
    func failure() {
        let file = HistoryFile(path: "/nonexistent/history")
        let error = #expect(throws: HistoryError.self) { try file.append("x") }
        #expect(error?.description.contains("No such file or directory") == true)
    }
}
