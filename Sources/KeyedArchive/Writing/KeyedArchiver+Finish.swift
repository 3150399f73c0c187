import PropertyList

extension KeyedArchiver {
    /// Ends the archive and gives its bytes, in `outputFormat`. Nothing can be encoded afterwards.
    ///
    /// - Throws: the first error of the encoding, if there was one.
    public func finishEncoding() throws(ArchiveError) -> [UInt8] {
        if let failure { throw failure }
        guard !isInRecord else { throw .invalid("the archive cannot be finished while an object is being encoded") }
        guard !isFinished else { throw .invalid("the archive is finished already") }
        isFinished = true
        guard entries.count < Int(UInt32.max) - 1 else {
            throw .invalid("an archive holds at most 4294967295 objects")
        }
        let nothing = entries[0]
        for index in entries.indices where entries[index] >= Self.awaited { entries[index] = nothing }
        let binary = try lifted { () throws(PropertyListError) in try binaryArchive() }
        guard outputFormat == .xml else { return binary }
        return try lifted { () throws(PropertyListError) in
            try BinaryPropertyListReader(binary).xml()
        }
    }

    /// The root dictionary, `$top` and the array `$objects`, and behind them the objects.
    private func binaryArchive() throws(PropertyListError) -> [UInt8] {
        let head = BinaryPropertyListWriter()
        let root = head.dictionary(count: 4).references
        for (index, key) in ["$version", "$archiver", "$top", "$objects"].enumerated() {
            head.setReference(index, in: root, to: head.string(key))
        }
        head.setReference(4, in: root, to: head.integer(Int64(100_000)))
        head.setReference(5, in: root, to: head.string(archiverName))
        let (top, topReferences) = head.dictionary(count: topFields.count)
        head.setReference(6, in: root, to: top)
        for (index, field) in topFields.enumerated() {
            head.setReference(index, in: topReferences, to: head.string(table.text(ofKey: field.key)))
        }
        for (index, field) in topFields.enumerated() where field.kind != .object {
            head.setReference(topFields.count + index, in: topReferences, to: head.scalar(field))
        }
        let (objects, references) = head.array(count: entries.count)
        head.setReference(7, in: root, to: objects)
        // Everything in the head is there: now it is known by how much the objects' numbers move.
        let shift = UInt32(truncatingIfNeeded: table.shift(behind: head.objectCount))
        for (index, field) in topFields.enumerated() where field.kind == .object {
            let object = UInt32(truncatingIfNeeded: field.payload) &+ shift
            head.setReference(topFields.count + index, in: topReferences, to: object)
        }
        entries.withUnsafeBufferPointer { head.setReferences($0, shift: shift, in: references) }
        // What only encoding needs goes before the file is made.
        entries = []
        elementUIDs = []
        dateUIDs.removeAll()
        return try table.finish(behind: head)
    }
}
