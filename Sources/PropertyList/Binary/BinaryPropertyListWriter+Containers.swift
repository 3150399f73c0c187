extension BinaryPropertyListWriter {
    // MARK: - References set later

    /// Adds an array whose `count` references are set later by `setReference`.
    ///
    /// - Returns: its number, and the offset of its first reference.
    package func array(count: Int) -> (number: ObjectNumber, references: Int) {
        openContainer(0xA0, count: count, references: count)
    }

    /// Adds a set whose `count` references are set later.
    package func set(count: Int) -> (number: ObjectNumber, references: Int) {
        openContainer(0xC0, count: count, references: count)
    }

    /// Adds a dictionary of `count` entries: the references of all keys, then those of all values.
    package func dictionary(count: Int) -> (number: ObjectNumber, references: Int) {
        openContainer(0xD0, count: count, references: count * 2)
    }

    /// Sets the reference at `index` of `references`, which `array`, `set` or `dictionary` returned.
    @inline(__always)
    package func setReference(_ index: Int, in references: Int, to number: ObjectNumber) {
        let size = sizes.referenceSize
        precondition(references + (index + 1) * size <= body.count, "a reference outside its container")
        precondition(size == 4 || number <= 0xFFFF, "a reference beyond those that were reserved")
        store(number, size, at: UnsafeMutableRawPointer(body.base + references + index * size))
    }

    /// Sets consecutive references to the numbers of another table, increased by `shift`.
    package func setReferences(_ numbers: UnsafeBufferPointer<ObjectNumber>, shift: ObjectNumber, in references: Int) {
        let size = sizes.referenceSize
        precondition(references + numbers.count * size <= body.count, "references outside their container")
        store(numbers, shift: shift, at: UnsafeMutableRawPointer(body.base + references))
    }

    /// The size of a reference in bytes.
    package var referenceSize: Int { sizes.referenceSize }

    /// Adds a container; with `isCleared` its references are initially 0.
    @inline(__always)
    private func openContainer(
        _ marker: UInt8, count: Int, references: Int, isCleared: Bool = true
    ) -> (number: ObjectNumber, references: Int) {
        let size = references &* sizes.referenceSize
        body.ensure(size &+ 16)
        let start = UnsafeMutableRawPointer(body.base + body.count)
        let header = Self.storeHeader(marker, count: count, at: start)
        if isCleared { (start + header).initializeMemory(as: UInt8.self, repeating: 0, count: size) }
        let place = body.count &+ header
        return (appendObject(ofSize: header &+ size), place)
    }

    // MARK: - Complete containers

    /// Adds an array of objects of the table.
    package func array(of objects: UnsafeBufferPointer<ObjectNumber>) -> ObjectNumber {
        reserveReferences(toMore: 1)
        let (number, references) = openContainer(
            0xA0, count: objects.count, references: objects.count, isCleared: false)
        store(objects, at: UnsafeMutableRawPointer(body.base + references))
        return number
    }

    /// Adds an array of references into `$objects`: the form of a keyed archive's collections.
    package func array(ofUIDs uids: UnsafeBufferPointer<UInt32>) -> ObjectNumber {
        reserveReferences(toMore: uids.count + 1)
        let (number, references) = array(count: uids.count)
        for index in 0..<uids.count { setReference(index, in: references, to: uid(uids[index])) }
        return number
    }

    /// Adds an array of a list of objects of the table, which is empty afterwards. Finished parts go to the file.
    package func array(of objects: NumberList) throws(PropertyListError) -> ObjectNumber {
        reserveReferences(toMore: 1)
        let number = openContainer(0xA0, count: objects.count, references: 0).number
        try objects.forEachPiece { piece in
            let size = piece.count * sizes.referenceSize
            body.ensure(size)
            store(piece, at: UnsafeMutableRawPointer(body.base + body.count))
            body.advance(size)
            flush()
        }
        return number
    }

    /// Adds a dictionary of leaves and objects of the table: itself first, then its new keys, then its new values.
    package func dictionary(_ fields: UnsafeBufferPointer<BinaryPropertyListField>) -> ObjectNumber {
        let count = fields.count
        reserveReferences(toMore: count &* 2 &+ 1)
        let (number, references) = openContainer(0xD0, count: count, references: count &* 2, isCleared: false)
        let size = sizes.referenceSize
        var place = references
        for index in 0..<count {
            let key = Int(fields[index].key)
            precondition(key < keyObjects.count, "a key of another table")
            var object = keyObjects[key]
            if object == Self.none {
                object = string(text(ofKey: fields[index].key))
                keyObjects[key] = object
            }
            store(object, size, at: UnsafeMutableRawPointer(body.base + place))
            place &+= size
        }
        for index in 0..<count {
            let object = scalar(fields[index])
            store(object, size, at: UnsafeMutableRawPointer(body.base + place))
            place &+= size
        }
        return number
    }

    /// Adds the scalar of a field.
    @inline(__always)
    package func scalar(_ field: BinaryPropertyListField) -> ObjectNumber {
        switch field.kind {
        case .uid: uid(UInt32(truncatingIfNeeded: field.payload))
        case .object: UInt32(truncatingIfNeeded: field.payload)
        case .boolean: boolean(field.payload != 0)
        case .integer: integer(Int64(bitPattern: field.payload))
        case .real: real(Double(bitPattern: field.payload))
        case .unsharedReal: unsharedReal(field.payload)
        case .single: real(Float(bitPattern: UInt32(truncatingIfNeeded: field.payload)))
        }
    }

    @inline(__always)
    private func store(
        _ numbers: UnsafeBufferPointer<ObjectNumber>, shift: ObjectNumber = 0, at target: UnsafeMutableRawPointer
    ) {
        if sizes.referenceSize == 2 {
            for index in 0..<numbers.count {
                let number = UInt16(truncatingIfNeeded: numbers[index] &+ shift)
                target.storeBytes(of: number.bigEndian, toByteOffset: index &* 2, as: UInt16.self)
            }
        } else {
            for index in 0..<numbers.count {
                let number = numbers[index] &+ shift
                target.storeBytes(of: number.bigEndian, toByteOffset: index &* 4, as: UInt32.self)
            }
        }
    }

    @inline(__always)
    private func store(_ number: ObjectNumber, _ size: Int, at target: UnsafeMutableRawPointer) {
        if size == 2 {
            target.storeBytes(of: UInt16(truncatingIfNeeded: number).bigEndian, as: UInt16.self)
        } else {
            target.storeBytes(of: number.bigEndian, as: UInt32.self)
        }
    }
}
