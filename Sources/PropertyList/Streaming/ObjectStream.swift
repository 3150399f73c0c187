/// The objects of a file that is written while more of them are added.
///
/// A failure is kept, and told at the end: adding an object does not fail.
final class ObjectStream {
    /// How much of the body is passed on at a time.
    static let piece = 1 << 20
    /// How much of the body is held at the most, and how much stays for later leaves to be compared with.
    static let held = 6 << 20
    static let kept = 2 << 20
    /// The memory for that, with what is added until it is looked at.
    static let room = held + 2 * piece

    let output: any PropertyListOutput
    /// The place of each object.
    let places: DeltaOffsets
    /// How many bytes of the body are in the file.
    private(set) var written = 0
    private var failure: PropertyListError?

    init(_ output: any PropertyListOutput) {
        self.output = output
        places = DeltaOffsets(output)
    }

    /// Writes the body's bytes from where it was left up to `end`.
    func write(_ body: borrowing GrowableBuffer<UInt8>, upTo end: Int) {
        guard failure == nil, end > written else { return }
        do throws(PropertyListError) {
            if written == 0 { try write(Array("bplist00".utf8)) }
            while written < end {
                let count = min(Self.piece, end - written)
                try output.write(UnsafeRawBufferPointer(start: body.base + written, count: count))
                written += count
            }
        } catch {
            failure = error
            written = end
        }
    }

    private func write(_ bytes: [UInt8]) throws(PropertyListError) {
        try output.writeAll(bytes)
    }

    /// Throws what went wrong, if something did.
    func check() throws(PropertyListError) {
        if let failure { throw failure }
    }
}

extension PropertyListOutput {
    /// Appends an array's bytes.
    package func writeAll(_ bytes: [UInt8]) throws(PropertyListError) {
        let outcome: Result<Void, PropertyListError> = bytes.withUnsafeBytes { bytes in
            do throws(PropertyListError) { return .success(try write(bytes)) } catch { return .failure(error) }
        }
        try outcome.get()
    }
}
