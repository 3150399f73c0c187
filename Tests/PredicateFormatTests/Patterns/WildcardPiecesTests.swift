import TestSupport
import Testing

@testable import PredicateFormat

@Suite("LIKE by pieces")
struct WildcardPiecesTests {
    private static let characters = [
        "a", "b", "A", "é", "e\u{301}", "e", "\u{301}", "ß", "s", "日", "が", "😀", "\n", "\r", "\r\n", "\u{AD}", "д", "й",
        "각", "\u{212A}", "ſ", " ", "ﬁ", "\u{345}", "İ", "Ω", "\u{200D}",
    ]

    @Test("pieces of bytes match what characters match", arguments: 0...3 as ClosedRange<UInt8>)
    func agreement(rawOptions: UInt8) {
        let options = PredicateOptions(rawValue: rawOptions)
        var random = TestGenerator(seed: UInt64(rawOptions))
        func character() -> String {
            let common = ["a", "b", "e", "é"]
            return random.number(3) > 0
                ? common[random.number(common.count)] : Self.characters[random.number(Self.characters.count)]
        }
        var matched = 0
        for _ in 0..<5000 {
            let text = (0..<random.number(10)).map { _ in character() }.joined()
            let pattern = (0..<random.number(6)).map { _ in
                random.number(3) == 0 ? "*" : random.number(4) == 0 ? "?" : character()
            }.joined()
            let wildcard = PredicateWildcard(pattern, options)
            let expected = PredicateFolding.folded(text, options).withUnsafeBufferPointer {
                wildcard.matches(characters: $0)
            }
            let verdict = PredicateFolding.withBytes(text) { wildcard.matches($0) }
            #expect(verdict == expected, "\(pattern.debugDescription) \(text.debugDescription)")
            if verdict { matched += 1 }
        }
        #expect(matched > 300)
    }

    @Test("bytes that are not UTF-8 are judged, too", arguments: 0...3 as ClosedRange<UInt8>)
    func invalid(rawOptions: UInt8) {
        let options = PredicateOptions(rawValue: rawOptions)
        var random = TestGenerator(seed: 21)
        let needle = PredicateNeedle("é", options)
        for pattern in ["*", "?*", "*é?", "a*é*?", "*\u{301}"] {
            let wildcard = PredicateWildcard(pattern, options)
            for _ in 0..<500 {
                let bytes = (0..<random.number(12)).map { _ in
                    [0x61, 0x65, 0xC3, 0xA9, 0xCC, 0x81, 0xE2, 0x80, 0xF0, 0x9F, 0xFF][random.number(11)] as UInt8
                }
                bytes.withUnsafeBufferPointer { text in
                    let folded = PredicateFolding.folded(text, options)
                    let expected = folded.withUnsafeBufferPointer { wildcard.matches(characters: $0) }
                    // What is not UTF-8 is repaired only where a text is divided into characters.
                    if String(validating: text, as: UTF8.self) != nil { #expect(wildcard.matches(text) == expected) }
                    _ = wildcard.matches(text)
                    _ = needle.isContained(in: text) || needle.begins(text) || needle.ends(text)
                }
            }
        }
    }

    @Test("texts of plain characters are divided where their characters are")
    func plain() {
        var random = TestGenerator(seed: 9)
        var plain = 0
        for _ in 0..<5000 {
            let text = (0..<1 + random.number(6)).map { _ in Self.characters[random.number(Self.characters.count)] }
                .joined()
            PredicateFolding.withBytes(text) { bytes in
                guard PlainCharacters.make(up: bytes) else { return }
                plain += 1
                var (place, ends) = (0, [Int]())
                while place < bytes.count {
                    place = PlainCharacters.end(bytes, place)
                    ends.append(place)
                }
                #expect(ends.count == text.count, "\(text.debugDescription)")
                #expect(ends.dropLast().allSatisfy { PlainCharacters.isBorder(bytes, $0) })
                #expect(
                    ends.indices.allSatisfy { PlainCharacters.start(bytes, ends[$0]) == ($0 > 0 ? ends[$0 - 1] : 0) })
            }
        }
        #expect(plain > 300)
    }
}
