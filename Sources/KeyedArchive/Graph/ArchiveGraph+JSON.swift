import PropertyList

extension ArchiveGraph {
    /// The graph as it would be archived now, written by `TreeJSON`.
    ///
    /// - Throws: `ArchiveError` when the graph cannot be archived, or unfolds too far.
    package func json() throws -> String {
        let bytes = try encoded(as: .binary)
        let reader = try lifted { () throws(PropertyListError) in try BinaryPropertyListReader(bytes) }
        var writer = TreeJSON(ArchiveTree(reader))
        var json: [UInt8] = []
        try writer.write { json += $0 }
        return String(decoding: json.dropLast(), as: UTF8.self)
    }
}
