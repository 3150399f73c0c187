extension BinaryPropertyListReader {
    /// The same property list as XML, its keys sorted.
    ///
    /// - Throws: `writeInvalid` for what XML cannot hold: null, sets, dates beyond the year 9999, NUL characters.
    public func xml() throws(PropertyListError) -> [UInt8] {
        try XMLPropertyListWriter.encode(self)
    }
}
