/// Where a property list goes that is written piece by piece.
///
/// What is written is never held against what was read, so that a pipe would do; the numbers that the writer has to keep
/// meanwhile lie in scratch files.
public protocol PropertyListOutput: AnyObject {
    /// Appends bytes.
    ///
    /// - Throws: `writeStream`.
    func write(_ bytes: UnsafeRawBufferPointer) throws(PropertyListError)

    /// A new file that vanishes with the object.
    ///
    /// - Throws: `writeStream`.
    func makeScratch() throws(PropertyListError) -> any PropertyListScratch
}

/// A file that is written once and read back once.
public protocol PropertyListScratch: AnyObject {
    /// Appends bytes.
    ///
    /// - Throws: `writeStream`.
    func write(_ bytes: UnsafeRawBufferPointer) throws(PropertyListError)

    /// Reads the next bytes from the beginning on; the whole buffer is filled. Nothing is written any more.
    ///
    /// - Throws: `readStream`.
    func read(into buffer: UnsafeMutableRawBufferPointer) throws(PropertyListError)
}
