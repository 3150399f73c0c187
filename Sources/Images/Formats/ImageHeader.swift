/// The header of a picture, parsed here for the two commonest formats, so that a picture's size needs neither decoding
/// nor libvips.
struct ImageHeader: Equatable {
    /// Upright, in pixels.
    var width: Int
    var height: Int
    /// EXIF's orientation, 1 to 8.
    var orientation = 1
    /// Whether the file has its end marker, so that it is not truncated.
    var isComplete: Bool
    /// Whether the file has more than the picture and its colours: EXIF, XMP, comments.
    var hasMetadata = false

    /// Swaps width and height if the orientation requires it.
    mutating func turnUpright() {
        if (5...8).contains(orientation) { swap(&width, &height) }
    }
}

/// Reads numbers from bytes, which may be too few.
struct HeaderBytes {
    let bytes: ArraySlice<UInt8>
    var isLittleEndian = false

    init(_ bytes: ArraySlice<UInt8>, isLittleEndian: Bool = false) {
        self.bytes = bytes
        self.isLittleEndian = isLittleEndian
    }

    func byte(_ offset: Int) -> UInt8? {
        offset >= 0 && offset < bytes.count ? bytes[bytes.startIndex + offset] : nil
    }

    func int16(_ offset: Int) -> Int? { number(offset, length: 2) }

    func int32(_ offset: Int) -> Int? { number(offset, length: 4) }

    func has(_ expected: some Collection<UInt8>, at offset: Int) -> Bool {
        offset >= 0 && offset <= bytes.count && bytes.dropFirst(offset).starts(with: expected)
    }

    private func number(_ offset: Int, length: Int) -> Int? {
        guard offset >= 0, offset <= bytes.count - length else { return nil }
        let part = bytes[(bytes.startIndex + offset)..<(bytes.startIndex + offset + length)]
        return isLittleEndian
            ? part.reversed().reduce(0) { $0 << 8 | Int($1) } : part.reduce(0) { $0 << 8 | Int($1) }
    }
}
