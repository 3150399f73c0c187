import PropertyList

/// The methods with arguments that `FUNCTION` calls, by Foundation's selectors.
///
/// A selector without arguments is a property: `FUNCTION(path, "lastPathComponent")` is `path.lastPathComponent`.
enum PredicateMethod: String, CaseIterable {
    case hasPrefix = "hasPrefix:"
    case hasSuffix = "hasSuffix:"
    case containsString = "containsString:"
    case appendingString = "stringByAppendingString:"
    case appendingPathComponent = "stringByAppendingPathComponent:"
    case appendingPathExtension = "stringByAppendingPathExtension:"
    case substringFromIndex = "substringFromIndex:"
    case substringToIndex = "substringToIndex:"
    case replacing = "stringByReplacingOccurrencesOfString:withString:"
    case componentsSeparated = "componentsSeparatedByString:"
    case componentsJoined = "componentsJoinedByString:"
    case objectAtIndex = "objectAtIndex:"
    case containsObject = "containsObject:"
    case dateByAdding = "dateByAddingTimeInterval:"
    case timeIntervalSince = "timeIntervalSinceDate:"

    /// The kinds of the receiver and of the arguments.
    var kinds: [PredicateKind] {
        switch self {
        case .hasPrefix, .hasSuffix, .containsString, .appendingString, .appendingPathComponent,
            .appendingPathExtension, .componentsSeparated:
            [.string, .string]
        case .substringFromIndex, .substringToIndex: [.string, .number]
        case .replacing: [.string, .string, .string]
        case .componentsJoined: [.collection, .string]
        case .objectAtIndex: [.collection, .number]
        case .containsObject: [.collection, .unknown]
        case .dateByAdding: [.date, .number]
        case .timeIntervalSince: [.date, .date]
        }
    }

    /// The kind of the result.
    var result: PredicateKind {
        switch self {
        case .hasPrefix, .hasSuffix, .containsString, .containsObject, .timeIntervalSince: .number
        case .appendingString, .appendingPathComponent, .appendingPathExtension, .substringFromIndex,
            .substringToIndex, .replacing, .componentsJoined:
            .string
        case .componentsSeparated: .collection
        case .objectAtIndex: .unknown
        case .dateByAdding: .date
        }
    }

    /// The result; nil for an argument of another kind, or an index outside.
    func apply(_ receiver: PropertyListValue, _ arguments: [PropertyListValue?]) -> PropertyListValue? {
        guard let first = arguments.first, let argument = first else { return nil }
        switch (receiver, argument) {
        case (.string(let text), .string(let other)): return apply(text, other, arguments)
        case (.string(let text), _):
            let units = Array(text.utf16)
            guard let place = PredicateNumber(argument)?.whole.flatMap({ Int(exactly: $0) }), 0...units.count ~= place
            else { return nil }
            switch self {
            case .substringFromIndex: return String(utf16: units[place...]).map { .string($0) }
            case .substringToIndex: return String(utf16: units[..<place]).map { .string($0) }
            default: return nil
            }
        case (.date(let date), _):
            switch (self, argument) {
            case (.timeIntervalSince, .date): return PredicateArithmetic.subtract.apply(receiver, argument)
            case (.dateByAdding, _): return PredicateArithmetic.add.apply(.date(date), argument)
            default: return nil
            }
        default: return apply(receiver.predicateElements, argument)
        }
    }

    private func apply(_ text: String, _ other: String, _ arguments: [PropertyListValue?]) -> PropertyListValue? {
        // By bytes, as all comparisons of texts without options.
        let (bytes, wanted) = (Array(text.utf8), Array(other.utf8))
        switch self {
        case .hasPrefix: return .boolean(bytes.starts(with: wanted))
        case .hasSuffix: return .boolean(bytes.reversed().starts(with: wanted.reversed()))
        case .containsString: return .boolean(PredicateComparing.holds(.string(text), .contains, .string(other), []))
        case .appendingString: return .string(text + other)
        case .appendingPathComponent: return .string(PredicatePath.appending(other, to: text))
        case .appendingPathExtension: return .string(text + "." + other)
        case .replacing:
            guard arguments.count == 2, case .string(let replacement)? = arguments[1] else { return nil }
            return .string(Self.pieces(bytes, wanted).joined(separator: replacement))
        case .componentsSeparated: return .array(Self.pieces(bytes, wanted).map { .string($0) })
        default: return nil
        }
    }

    private func apply(_ elements: [PropertyListValue]?, _ argument: PropertyListValue) -> PropertyListValue? {
        guard let elements else { return nil }
        switch self {
        case .containsObject: return .boolean(PredicateComparing.holds(argument, .in, .array(elements), []))
        case .objectAtIndex:
            guard let place = PredicateNumber(argument)?.whole.flatMap({ Int(exactly: $0) }),
                elements.indices.contains(place)
            else { return nil }
            return elements[place] == .null ? nil : elements[place]
        case .componentsJoined:
            guard case .string(let separator) = argument else { return nil }
            return .string(elements.map { PredicateText.description(of: $0) ?? "" }.joined(separator: separator))
        default: return nil
        }
    }

    /// A text divided at each occurrence of another, which is not empty.
    private static func pieces(_ text: [UInt8], _ separator: [UInt8]) -> [String] {
        var pieces: [String] = []
        var start = 0
        var place = 0
        while !separator.isEmpty, place + separator.count <= text.count {
            if Interruption.isDueAtStep { break }
            if text[place..<place + separator.count].elementsEqual(separator) {
                pieces.append(String(decoding: text[start..<place], as: UTF8.self))
                place += separator.count
                start = place
            } else {
                place += 1
            }
        }
        return pieces + [String(decoding: text[start...], as: UTF8.self)]
    }
}

extension String {
    /// Nil when the units begin or end within a character.
    fileprivate init?(utf16 units: ArraySlice<UInt16>) {
        guard let text = String(validating: units, as: UTF16.self) else { return nil }
        self = text
    }
}
