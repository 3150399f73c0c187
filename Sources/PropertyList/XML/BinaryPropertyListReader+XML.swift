extension BinaryPropertyListReader {
    /// The same property list as XML.
    public func xml() throws(PropertyListError) -> [UInt8] {
        try value().encoded(as: .xml)
    }
}
