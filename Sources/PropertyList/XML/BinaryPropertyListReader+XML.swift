extension BinaryPropertyListReader {
    /// The property list as XML, with sorted keys. Dates lose fractions of a second, which XML does not have.
    ///
    /// - Throws: `writeInvalid` for values that XML cannot represent: null, sets, keys that are not texts, texts that are
    ///   not Unicode, dates that are not finite, NUL characters.
    public func xml() throws(PropertyListError) -> [UInt8] {
        var shortened = 0
        return try XMLPropertyListWriter.encode(self, shortened: &shortened)
    }

    /// The property list as XML and the number of dates that lost a fraction of a second.
    package func xmlCountingShortenedDates() throws(PropertyListError) -> (xml: [UInt8], shortened: Int) {
        var shortened = 0
        let xml = try XMLPropertyListWriter.encode(self, shortened: &shortened)
        return (xml, shortened)
    }
}
