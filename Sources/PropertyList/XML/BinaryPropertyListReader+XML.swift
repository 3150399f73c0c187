extension BinaryPropertyListReader {
    /// The property list as XML, with sorted keys.
    ///
    /// - Throws: `writeInvalid` for values that XML cannot represent: null, sets, dates beyond the year 9999, NUL
    ///   characters.
    public func xml() throws(PropertyListError) -> [UInt8] {
        try XMLPropertyListWriter.encode(self)
    }
}
