import CPlatform
import KeyedArchive
import PropertyList
import Testing

@Suite("Archives that take long")
struct ArchiveInterruptionTests {
    /// Runs a body whose thread is asked to stop after so many questions.
    private func stopped<Value>(after questions: Int, _ body: () -> Value) -> Value {
        var left = questions
        return withUnsafeMutablePointer(to: &left) { left in
            let former = cubby_watch_work(
                cubby_watch(
                    is_stopped: {
                        let left = $0?.assumingMemoryBound(to: Int.self)
                        left?.pointee -= 1
                        return left.map { $0.pointee < 0 } == true ? 1 : 0
                    }, capacity: nil, context: left))
            defer { _ = cubby_watch_work(former) }
            return body()
        }
    }

    private func archive(_ value: ArchiveValue) throws -> [UInt8] {
        let archiver = KeyedArchiver()
        try archiver.encode(value, forKey: KeyedArchiver.rootKey)
        return try archiver.finishEncoding()
    }

    /// One object with many leaves asks as often as many objects do: each loop by itself is counted.
    @Test(
        "one long array, and one long dictionary, are given up in their midst", arguments: [false, true])
    func longCollections(isDictionary: Bool) throws {
        let leaves = (0..<100_000).map { ArchiveValue(leaf: .integer(Int64($0))) }
        let value: ArchiveValue
        if isDictionary {
            let dictionary = ArchivedDictionary()
            dictionary.entries = leaves.map { ArchivedDictionary.Entry(key: $0, value: $0) }
            value = .dictionary(dictionary)
        } else {
            value = .collection(ArchivedCollection(elements: leaves))
        }
        let bytes = try archive(value)
        // Reading a thousand leaves asks once: ten questions are far from the end.
        #expect(throws: ArchiveError.self) {
            try stopped(after: 10) { Result { try ArchiveGraph(bytes) } }.get()
        }
        #expect(try ArchiveGraph(bytes).root != nil)
    }
}
