import PropertyList

extension ArchiveTree {
    /// Maximum depth of opened archives in data.
    private static let maximumEmbedding = 8

    /// The archive or property list in a node's data, or the reason why it cannot be read; nil for other data and
    /// nodes.
    package func embedded(in node: Node) -> Result<ArchiveTree, ArchiveError>? {
        guard let number = try? dataNumber(of: node) else { return nil }
        return embedded(at: number)
    }

    /// The archives and property lists in all data, also in unreferenced ones.
    var embeddedTrees: [ArchiveTree] {
        (0..<propertyList.objectCount).compactMap { try? embedded(at: $0)?.get() }
    }

    /// The number of a node's data: its own, or the one in an NSData.
    private func dataNumber(of node: Node) throws(ArchiveError) -> Int? {
        let (uid, number) = try resolve(node)
        guard let record = try record(number, uid: uid) else { return number }
        guard let builtin = FoundationClass(name: try record.className()), builtin == .data || builtin == .mutableData
        else { return nil }
        guard let slot = record.shape.slot(of: "NS.data") ?? record.shape.slot(of: "NS.bytes") else { return nil }
        return try record.leaf(at: slot)
    }

    private func embedded(at number: Int) -> Result<ArchiveTree, ArchiveError>? {
        guard (try? propertyList.kind(of: number)) == .data else { return nil }
        if let known = embeddings[number] { return known }
        guard let bytes = try? propertyList.data(at: number), PropertyListFormat.isBeginning(of: bytes) else {
            return nil
        }
        let result = Result { () throws(ArchiveError) in try open(bytes) }
        embeddings[number] = result
        return result
    }

    private func open(_ bytes: UnsafeRawBufferPointer) throws(ArchiveError) -> ArchiveTree {
        guard level < Self.maximumEmbedding else {
            throw .corrupt("it is not opened, because it is in more than \(Self.maximumEmbedding) archives")
        }
        // Objects of a hostile file may share their bytes, so the opened data is limited by the file's size.
        embeddedBytes += bytes.count
        guard embeddedBytes <= propertyList.storage.bytes.count else {
            throw .corrupt("it is not opened, because its bytes are those of other data, too")
        }
        let storage = propertyList.storage
        let slice = PropertyListStorage(adopting: bytes) { _ in withExtendedLifetime(storage) {} }
        return try ArchiveTree(slice, limits: limits, level: level + 1)
    }
}
