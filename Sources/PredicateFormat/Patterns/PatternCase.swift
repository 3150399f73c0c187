/// Case variants of characters, by Unicode's simple case folding.
enum PatternCase {
    /// The character itself and its other cases.
    static func variants(of scalar: Unicode.Scalar) -> [Unicode.Scalar] {
        if scalar.isASCII {
            let value = scalar.value
            guard value | 0x20 >= 0x61, value | 0x20 <= 0x7A else { return [scalar] }
            guard let other = Unicode.Scalar(value ^ 0x20) else { return [scalar] }
            return [scalar, other] + (strays[Unicode.Scalar(value | 0x20) ?? scalar] ?? [])
        }
        let properties = scalar.properties
        guard properties.isCased || properties.changesWhenCaseMapped else { return [scalar] }
        let folded = folded(scalar)
        var result = [scalar]
        let mapped = [properties.lowercaseMapping, properties.uppercaseMapping, properties.titlecaseMapping]
        let ofFolded = [folded.properties.uppercaseMapping, folded.properties.titlecaseMapping]
        for other in [folded] + (mapped + ofFolded).compactMap(single) + (strays[folded] ?? []) {
            if !result.contains(other), Self.folded(other) == folded { result.append(other) }
        }
        return result
    }

    /// The common form of all cases of a character.
    static func folded(_ scalar: Unicode.Scalar) -> Unicode.Scalar {
        if scalar.value == 0x1E9E { return "ß" }
        // In simple folding the Turkish letters have no other case.
        if scalar.value == 0x130 || scalar.value == 0x131 { return scalar }
        let upper = single(scalar.properties.uppercaseMapping) ?? scalar
        return single(upper.properties.lowercaseMapping) ?? upper
    }

    private static func single(_ text: String) -> Unicode.Scalar? {
        let scalars = text.unicodeScalars
        return scalars.count == 1 ? scalars.first : nil
    }

    /// The cases that are neither upper nor title case, by folded character.
    private static let strays: [Unicode.Scalar: [Unicode.Scalar]] = {
        var strays: [Unicode.Scalar: [Unicode.Scalar]] = [:]
        let values: [UInt32] = [
            0xB5, 0x17F, 0x1C5, 0x1C8, 0x1CB, 0x1F2, 0x345, 0x3C2, 0x3D0, 0x3D1, 0x3D5, 0x3D6, 0x3F0, 0x3F1, 0x3F4,
            0x3F5, 0x1C80, 0x1C81, 0x1C82, 0x1C83, 0x1C84, 0x1C85, 0x1C86, 0x1C87, 0x1C88, 0x1E9B, 0x1E9E, 0x1FBE,
            0x2126, 0x212A, 0x212B,
        ]
        for scalar in values.compactMap(Unicode.Scalar.init) { strays[folded(scalar), default: []].append(scalar) }
        return strays
    }()
}
