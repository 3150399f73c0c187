/// The metadata of a picture: the fields of EXIF 2.3 by their standard names, such as `DateTimeOriginal`.
package struct ImageMetadata: Sendable, Hashable {
    /// A field's value, by its EXIF type.
    package enum Value: Sendable, Hashable {
        /// A text.
        case text(String)
        /// A whole number.
        case integer(Int64)
        /// A number, such as a fraction.
        case number(Double)
        /// Several numbers, such as degrees, minutes and seconds.
        case numbers([Double])
    }

    /// The metadata to keep in an output file.
    package enum Preserved: Sendable, Hashable {
        /// None of it.
        case nothing
        /// EXIF without the place and without fields that may contain it: maker's notes, comments, a thumbnail.
        case withoutLocation
        /// All of it.
        case everything
    }

    /// The fields by name. A field of both the picture and its thumbnail is the picture's.
    package let fields: [String: Value]

    /// Degrees north and east, if the file has a place.
    package var location: (latitude: Double, longitude: Double)? {
        guard let latitude, let longitude else { return nil }
        return (latitude, longitude)
    }
    private let latitude: Double?
    private let longitude: Double?

    /// - Parameter fields: libvips's names and texts: `ifd2-FNumber`, `28/10 (f/2.8, Rational, 1 components, 8 bytes)`.
    init(fields: [(name: String, text: String)]) {
        var values: [String: Value] = [:]
        for (name, text) in fields {
            guard let dash = name.firstIndex(of: "-"), let value = Self.value(text) else { continue }
            let key = String(name[name.index(after: dash)...])
            // Directory 1 belongs to the thumbnail.
            if name.hasPrefix("ifd1"), values[key] != nil { continue }
            values[key] = value
        }
        self.fields = values
        latitude = Self.degrees(values["GPSLatitude"], values["GPSLatitudeRef"], negative: "S", limit: 90)
        longitude = Self.degrees(values["GPSLongitude"], values["GPSLongitudeRef"], negative: "W", limit: 180)
    }

    /// `value (display form, Type, n components, m bytes)`; the first two are free text for the type ASCII.
    private static func value(_ text: String) -> Value? {
        guard let components = text.range(backwards: ", "), let typed = text[..<components].range(backwards: ", "),
            let kind = text[..<typed].range(backwards: ", ")
        else { return nil }
        let type = text[text.index(kind, offsetBy: 2)..<typed]
        let both = text[..<kind]
        if type == "ASCII" || type == "Undefined" {
            // The value and its display form are equal here, separated by " (".
            let length = (both.count - 2) / 2
            let first = both.prefix(length)
            let value =
                both.dropFirst(length).hasPrefix(" (") ? first : both[..<(both.range(forwards: " (") ?? both.endIndex)]
            return .text(String(value))
        }
        let numbers = both[..<(both.range(forwards: " (") ?? both.endIndex)].split(separator: " ").map(Self.number)
        guard !numbers.isEmpty, !numbers.contains(where: { $0 == nil }) else { return nil }
        if numbers.count > 1 { return .numbers(numbers.compactMap { $0 }) }
        guard let single = numbers[0] else { return nil }
        return type.hasSuffix("Rational")
            ? .number(single) : Int64(exactly: single).map(Value.integer) ?? .number(single)
    }

    /// `28/10` or `100`; nil for a denominator of zero.
    private static func number(_ text: Substring) -> Double? {
        let parts = text.split(separator: "/", maxSplits: 1)
        guard let first = parts.first, let numerator = Double(first) else { return nil }
        guard parts.count == 2 else { return numerator }
        guard let denominator = Double(parts[1]), denominator != 0 else { return nil }
        return numerator / denominator
    }

    private static func degrees(_ value: Value?, _ reference: Value?, negative: String, limit: Double) -> Double? {
        guard case .numbers(let parts) = value, parts.count == 3 else { return nil }
        let degrees = parts[0] + parts[1] / 60 + parts[2] / 3600
        guard degrees <= limit else { return nil }
        if case .text(let letter) = reference, letter.hasPrefix(negative) { return -degrees }
        return degrees
    }
}

extension StringProtocol {
    /// The index of a text's first occurrence.
    fileprivate func range(forwards text: String) -> Index? { firstRange(of: text)?.lowerBound }

    /// The index of a text's last occurrence.
    fileprivate func range(backwards text: String) -> Index? {
        var found: Index?
        var rest = self[...]
        while let range = rest.firstRange(of: text) {
            found = range.lowerBound
            rest = rest[range.upperBound...]
        }
        return found
    }
}
