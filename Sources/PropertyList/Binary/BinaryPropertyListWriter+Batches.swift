/// Leaves that are looked up together.
extension BinaryPropertyListWriter {
    /// Whether staging leaves is of use: a table of few leaves is searched as fast one by one.
    public var gainsByStaging: Bool {
        @inline(__always) get { !leaves.isNear }
    }

    /// Takes a string whose place in the table is looked up by `commitStaged`, together with others: a table of many
    /// leaves lies in slow memory, and its slots are fetched at the same time then.
    public func stage(_ value: String) {
        if value.utf8.withContiguousStorageIfAvailable({ stage(validUTF8: $0) }) != nil { return }
        var copy = value
        copy.withUTF8 { stage(validUTF8: $0) }
    }

    /// Takes a string given as UTF-8 that is known to be valid.
    public func stage(validUTF8 text: UnsafeBufferPointer<UInt8>) {
        let length = text.count
        if length > 0, length < 0x100, let source = text.baseAddress {
            staging.ensure(length + 16)
            let start = staging.base + staging.count
            let header = length < 15 ? 1 : 3
            if length < 15 {
                start[0] = 0x50 | UInt8(truncatingIfNeeded: length)
            } else {
                (start[0], start[1], start[2]) = (0x5F, 0x10, UInt8(truncatingIfNeeded: length))
            }
            if Self.copyASCII(source, to: start + header, count: length) {
                return stage(header + length, hash: LeafTable.hash(source, length))
            }
        }
        stageLong(text)
    }

    /// Stages what has been written behind the end of the staging area.
    @inline(__always)
    private func stage(_ length: Int, hash: UInt32) {
        staged.append(StagedLeaf(hash: hash, start: staging.count, length: length))
        staging.advance(length)
    }

    @inline(never)
    private func stageLong(_ text: UnsafeBufferPointer<UInt8>) {
        let start = body.count
        let isPlain = writeString(text)
        let length = body.count - start
        staging.ensure(length)
        let copy = staging.base + staging.count
        copy.update(from: body.base + start, count: length)
        body.truncate(to: start)
        if isPlain, let source = text.baseAddress {
            stage(length, hash: LeafTable.hash(source, text.count))
        } else {
            stage(length, hash: LeafTable.hash(copy, length))
        }
    }

    /// How many leaves are staged.
    public var stagedCount: Int { staged.count }

    /// Adds the staged leaves, in order, and gives their numbers.
    public func commitStaged(_ receive: (_ index: Int, _ number: ObjectNumber) -> Void) {
        for index in 0..<staged.count { peeked ^= leaves.peek(hash: staged[index].hash) }
        // So that whole words can be copied, past the last leaf's end.
        staging.ensure(8)
        for index in 0..<staged.count {
            let leaf = staged[index]
            body.ensure(leaf.length + 8)
            let start = body.count
            Self.copyWords(staging.base + leaf.start, to: body.base + start, count: leaf.length)
            body.advance(leaf.length)
            receive(index, commitLeaf(from: start, hash: leaf.hash))
        }
        staged.truncate(to: 0)
        staging.truncate(to: 0)
    }
}
