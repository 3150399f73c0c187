import PropertyList

extension KeyedArchiver {
    /// Ends the archive and returns its bytes in `outputFormat`. Nothing can be encoded afterwards.
    ///
    /// - Throws: the first error of the encoding, if there was one.
    public func finishEncoding() throws(ArchiveError) -> [UInt8] {
        guard output == nil else { throw .invalid("this archive goes to a file; end it with finishWriting") }
        try beginFinishing()
        let binary = try lifted { () throws(PropertyListError) in try binaryArchive() }
        guard outputFormat == .xml else { return binary }
        return try lifted { () throws(PropertyListError) in
            try BinaryPropertyListReader(binary).xml()
        }
    }

    /// Ends an archive that is written to a file. Nothing can be encoded afterwards.
    ///
    /// - Throws: the first error of the encoding or of the file.
    public func finishWriting() throws(ArchiveError) {
        guard let output else { throw .invalid("this archive goes to no file; end it with finishEncoding") }
        guard outputFormat == .binary else {
            throw .invalid("an archive is written piece by piece in binary form only")
        }
        try beginFinishing()
        try lifted { () throws(PropertyListError) in
            guard table.hasFlushed else { return try output.writeAll(binaryArchive()) }
            let head = BinaryPropertyListWriter(firstNumber: UInt32(truncatingIfNeeded: table.objectCount))
            let (root, _) = addHead(to: head)
            head.setReference(7, in: root, to: head.firstNumber + UInt32(truncatingIfNeeded: head.objectCount))
            try table.finish(before: head, objectCount: entries.count) { (body) throws(PropertyListError) in
                try entries.forEachPiece(body)
            }
        }
    }

    private func beginFinishing() throws(ArchiveError) {
        if let failure { throw failure }
        guard !isInRecord else { throw .invalid("the archive cannot be finished while an object is being encoded") }
        guard !isFinished else { throw .invalid("the archive is finished already") }
        isFinished = true
        guard entries.count < Int(UInt32.max) - 1 else {
            throw .invalid("an archive holds at most 4294967295 objects")
        }
    }

    /// Adds the root dictionary and `$top`, which refers to objects by their numbers in the table.
    ///
    /// - Returns: the offsets of the root's references and of those of `$top`.
    private func addHead(to head: BinaryPropertyListWriter) -> (root: Int, top: Int) {
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
        for (index, field) in topFields.enumerated() {
            let value =
                field.kind == .object ? UInt32(truncatingIfNeeded: field.payload) : head.scalar(field)
            head.setReference(topFields.count + index, in: topReferences, to: value)
        }
        return (root, topReferences)
    }

    /// The root dictionary, `$top`, the array `$objects`, and the objects.
    private func binaryArchive() throws(PropertyListError) -> [UInt8] {
        // Tables that only encoding needs are released before the file is made.
        dateUIDs.removeAll()
        table.forgetLeaves()
        let head = newHead()
        let (root, top) = addHead(to: head)
        let (objects, references) = head.array(count: entries.count)
        head.setReference(7, in: root, to: objects)
        // The head is complete, so the shift of the objects' numbers is known.
        let shift = UInt32(truncatingIfNeeded: table.shift(behind: head.objectCount))
        for (index, field) in topFields.enumerated() where field.kind == .object {
            let object = UInt32(truncatingIfNeeded: field.payload) &+ shift
            head.setReference(topFields.count + index, in: top, to: object)
        }
        var start = references
        try entries.forEachPiece { (numbers) throws(PropertyListError) in
            head.setReferences(numbers, shift: shift, in: start)
            start += numbers.count * head.referenceSize
        }
        return try table.finish(behind: head)
    }

    /// A table for the head, with references of the file's width.
    private func newHead() -> BinaryPropertyListWriter {
        let most = table.objectCount + topFields.count * 2 + 16
        return BinaryPropertyListWriter.referenceSize(ofObjects: most) < 4
            ? BinaryPropertyListWriter(narrowFrom: 0, expectedBytes: entries.count * 2 + 1024)
            : BinaryPropertyListWriter(expectedBytes: entries.count * 4 + 1024)
    }
}
