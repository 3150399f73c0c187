/// Reads the orientation from EXIF.
enum EXIFOrientation {
    private static let tag = 0x0112
    private static let shortType = 3

    /// The orientation, 1 to 8, in a JPEG's APP1 segment without its marker and length; nil when it has none.
    static func inSegment(_ segment: HeaderBytes) -> Int? {
        guard segment.has(Array("Exif\0\0".utf8), at: 0) else { return nil }
        let tiff = segment.bytes.dropFirst(6)
        let isLittleEndian = tiff.starts(with: "II".utf8)
        guard isLittleEndian || tiff.starts(with: "MM".utf8) else { return nil }
        let file = HeaderBytes(tiff, isLittleEndian: isLittleEndian)
        guard file.int16(2) == 42, let directory = file.int32(4), let count = file.int16(directory) else { return nil }
        for entry in 0..<count {
            let offset = directory + 2 + entry * 12
            guard let found = file.int16(offset) else { return nil }
            if found == tag && file.int16(offset + 2) == shortType {
                return file.int16(offset + 8).flatMap { (1...8).contains($0) ? $0 : nil }
            }
        }
        return nil
    }
}
