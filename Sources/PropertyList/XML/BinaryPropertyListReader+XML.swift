extension BinaryPropertyListReader {
    /// The property list as XML, with sorted keys. Dates lose fractions of a second, which XML does not have.
    ///
    /// - Throws: `writeInvalid` for values that XML cannot represent: null, sets, keys that are not texts, texts that are
    ///   not Unicode, dates that are not finite, NUL characters.
    public func xml() throws(PropertyListError) -> [UInt8] {
        var shortened = 0
        return try XMLPropertyListWriter.encode(self, shortened: &shortened)
    }

    /// The property list as XML, and what it lost in words: the number of dates with a fraction of a second.
    package func xmlSayingLoss() throws(PropertyListError) -> (xml: [UInt8], loss: String?) {
        var shortened = 0
        let xml = try XMLPropertyListWriter.encode(self, shortened: &shortened)
        guard shortened > 0 else { return (xml, nil) }
        let dates = shortened == 1 ? "1 date lost its" : "\(shortened) dates lost their"
        return (xml, "\(dates) fraction of a second, which XML does not have; the binary form and JSON do")
    }
}
