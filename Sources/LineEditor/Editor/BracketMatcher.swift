/// Finds the counterpart of the bracket at the cursor.
enum BracketMatcher {
    /// The spans to mark: both brackets of a pair, or an unmatched closing one. Brackets in strings and comments, by
    /// the text's styles, are ignored. Complexity: linear in the text and the spans.
    static func spans(in text: String, cursor: Int, styled spans: [Span]) -> [Span] {
        var text = text
        return text.withUTF8 { bytes in
            guard
                let place = [cursor, cursor - 1].first(where: { $0 >= 0 && $0 < bytes.count && isBracket(bytes[$0]) })
            else { return [] }
            var isHidden = [Bool](repeating: false, count: bytes.count)
            for span in spans where span.style == .string || span.style == .comment || span.style == .escape {
                for index in span.range.clamped(to: 0..<bytes.count) { isHidden[index] = true }
            }
            guard !isHidden[place] else { return [] }
            let opens = isOpening(bytes[place])
            let step = opens ? 1 : -1
            var expected: [UInt8] = []
            var index = place
            while index >= 0, index < bytes.count {
                let byte = bytes[index]
                if !isHidden[index], isBracket(byte) {
                    if isOpening(byte) == opens {
                        expected.append(partner(byte))
                    } else {
                        guard expected.popLast() == byte else {
                            return [Span(index..<index + 1, .unmatchedBracket)]
                        }
                        if expected.isEmpty {
                            return [
                                Span(place..<place + 1, .matchingBracket), Span(index..<index + 1, .matchingBracket),
                            ]
                        }
                    }
                }
                index += step
            }
            // An unmatched opening bracket is being typed; an unmatched closing one is an error.
            return opens ? [] : [Span(place..<place + 1, .unmatchedBracket)]
        }
    }

    private static func isOpening(_ byte: UInt8) -> Bool { byte == 0x28 || byte == 0x5B || byte == 0x7B }

    private static func isBracket(_ byte: UInt8) -> Bool {
        isOpening(byte) || byte == 0x29 || byte == 0x5D || byte == 0x7D
    }

    private static func partner(_ byte: UInt8) -> UInt8 {
        switch byte {
        case 0x28: 0x29
        case 0x29: 0x28
        case 0x5B: 0x5D
        case 0x5D: 0x5B
        case 0x7B: 0x7D
        default: 0x7B
        }
    }
}
