/// A sequential output of a property list.
///
/// Written bytes are never read back, so that a pipe suffices; the writer's intermediate numbers go to scratch files.
public protocol PropertyListOutput: AnyObject {
    /// Appends bytes.
    ///
    /// - Throws: `writeStream`.
    func write(_ bytes: UnsafeRawBufferPointer) throws(PropertyListError)

    /// Creates a file that is removed with the object.
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

    /// Reads the next bytes, from the start; fills the whole buffer. Nothing is written afterwards.
    ///
    /// - Throws: `readStream`.
    func read(into buffer: UnsafeMutableRawBufferPointer) throws(PropertyListError)
}
