/// Writes objects to a file while more are added.
///
/// A failure is reported at the end: adding an object does not fail.
final class ObjectStream {
    /// The size of a written piece.
    static let piece = 1 << 20
    /// Maximum size of the body in memory, and the part that stays for comparison with later leaves.
    static let held = 6 << 20
    static let kept = 2 << 20
    /// The memory for the body, including objects added before the next check.
    static let room = held + 2 * piece

    let output: any PropertyListOutput
    /// The offsets of the objects.
    let offsets: DeltaOffsets
    /// The number of bytes of the body in the file.
    private(set) var written = 0
    private var failure: PropertyListError?

    init(_ output: any PropertyListOutput) {
        self.output = output
        offsets = DeltaOffsets(output)
    }

    /// Writes the body's bytes since the last call up to `end`.
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

    /// Throws the first failure.
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
