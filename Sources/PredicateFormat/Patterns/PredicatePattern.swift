// Canonical decomposition: see PredicateFolding.
@_spi(_Unicode) import Swift
import Synchronization

/// The right side of `MATCHES`: a regular expression that the whole text must match, compiled once.
///
/// As in ICU, it matches Unicode scalars, and `.` matches one. With `[d]` the accents of the text and the expression
/// are removed. It runs as an automaton, so that its time is bounded; the features that an automaton lacks
/// (back-references, lookbehinds, atomic groups) are refused.
///
/// All threads may use a pattern. Each scan makes its own matcher with `makeMatcher()`; `matches(_:)` uses a shared one
/// behind a lock.
@usableFromInline
package final class PredicatePattern: Sendable {
    private let options: PredicateOptions
    private let programs: [PatternProgram]
    private let lock = Mutex(())
    /// Guarded by `lock`.
    private nonisolated(unsafe) let shared: PatternMatcher

    /// Longer and deeper expressions could exhaust the stack of the parser.
    private static let lengthLimit = 4096
    private static let depthLimit = 50

    /// The reason why a text is not a regular expression.
    struct Failure: Error {
        let reason: String
    }

    init(_ text: String, _ options: PredicateOptions) throws(Failure) {
        try Self.checkLimits(text)
        self.options = options.intersection(.diacriticInsensitive)
        let source = String(decoding: PredicateFolding.folded(text, self.options), as: UTF8.self)
        // The standard library's parser describes syntax errors.
        do { _ = try Regex(source) } catch { throw Failure(reason: String(describing: error)) }
        let programs = try PatternCompiler.compile(source, ignoringCase: options.contains(.caseInsensitive))
        self.programs = programs
        shared = PatternMatcher(programs)
    }

    /// A matcher for one thread's scan.
    func makeMatcher() -> PatternMatcher { PatternMatcher(programs) }

    /// Whether a text matches, by the shared matcher.
    @usableFromInline
    func matches(_ text: UnsafeBufferPointer<UInt8>) -> Bool {
        lock.withLock { _ in matches(text, by: shared) }
    }

    /// Whether a text matches, by a matcher of this pattern.
    func matches(_ text: UnsafeBufferPointer<UInt8>, by matcher: PatternMatcher) -> Bool {
        PredicateFolding.withFolded(text, options) { matcher.matches($0) }
    }

    private static func checkLimits(_ text: String) throws(Failure) {
        guard text.utf8.count <= lengthLimit else { throw Failure(reason: "it is longer than \(lengthLimit) bytes") }
        var (depth, deepest, setOperators) = (0, 0, 0)
        var previous: UInt8 = 0
        for byte in text.utf8 {
            // Each operator in a character class, as in [a-z&&[^x]], nests its left operand.
            if byte == previous && "&-~".utf8.contains(byte) { setOperators += 1 }
            previous = byte
            switch byte {
            case UInt8(ascii: "("), UInt8(ascii: "["): depth += 1
            case UInt8(ascii: ")"), UInt8(ascii: "]"): depth -= 1
            default: break
            }
            deepest = max(deepest, depth)
        }
        guard deepest <= depthLimit, setOperators <= depthLimit else {
            throw Failure(reason: "it is nested deeper than \(depthLimit) levels")
        }
    }
}

/// Matches texts with a compiled regular expression, and caches the states of its automata.
///
/// A matcher belongs to one thread at a time. The programs are shared; each thread of a scan makes a matcher of its
/// own.
final class PatternMatcher {
    private let runs: [PatternRun]

    /// `memory` is the approximate limit of each program's states, in bytes.
    init(_ programs: [PatternProgram], memory: Int = 1 << 20) {
        runs = programs.map { PatternRun($0, memory: memory) }
    }

    /// The number of steps followed, which tests compare with a bound.
    var followed: Int { runs.reduce(0) { $0 + $1.followed } }

    /// The number of cache clearings, for tests.
    var clearings: Int { runs.reduce(0) { $0 + $1.clearings } }

    /// Whether the whole text matches.
    func matches(_ text: UnsafeBufferPointer<UInt8>) -> Bool {
        runs.allSatisfy { $0.accepts(text) }
    }
}

/// Decodes the characters of a text in UTF-8.
enum PatternText {
    typealias Bytes = UnsafeBufferPointer<UInt8>

    /// The character at an offset whose byte is not ASCII, and its length in bytes. An invalid byte stands for one
    /// U+FFFD.
    static func scalar(_ text: Bytes, _ offset: Int) -> (value: UInt32, length: Int) {
        let lead = UInt32(text[offset])
        let left = text.count - offset
        func trail(_ index: Int) -> UInt32 { UInt32(text[offset + index]) ^ 0x80 }
        if lead < 0xE0 {
            guard lead >= 0xC2, left > 1, trail(1) < 0x40 else { return (0xFFFD, 1) }
            return ((lead & 0x1F) << 6 | trail(1), 2)
        }
        if lead < 0xF0 {
            guard left > 2, trail(1) | trail(2) < 0x40 else { return (0xFFFD, 1) }
            let value = (lead & 0xF) << 12 | trail(1) << 6 | trail(2)
            return value < 0x800 || value & 0xF800 == 0xD800 ? (0xFFFD, 1) : (value, 3)
        }
        guard left > 3, trail(1) | trail(2) | trail(3) < 0x40 else { return (0xFFFD, 1) }
        let value = (lead & 7) << 18 | trail(1) << 12 | trail(2) << 6 | trail(3)
        return lead > 0xF4 || value < 0x10000 || value > 0x10FFFF ? (0xFFFD, 1) : (value, 4)
    }

    /// The character at any offset, and its length in bytes.
    static func anyScalar(_ text: Bytes, _ offset: Int) -> (value: UInt32, length: Int) {
        text[offset] < 0x80 ? (UInt32(text[offset]), 1) : scalar(text, offset)
    }
}

/// A regular expression for one thread, outside of predicates: linear in the text, as that of `MATCHES`.
package final class TextPattern {
    private let pattern: PredicatePattern
    private let matcher: PatternMatcher

    /// Compiles an expression.
    ///
    /// - Parameters:
    ///   - text: the expression.
    ///   - isWhole: whether the whole text has to match; else a part of it.
    /// - Throws: `TextPatternError` for a text that is not an expression.
    package init(_ text: String, isWhole: Bool) throws(TextPatternError) {
        do throws(PredicatePattern.Failure) {
            // Checked alone first: a bracket too many would close that of the search.
            _ = try PredicatePattern(text, [])
            pattern = try PredicatePattern(isWhole ? text : "(?s:.*)(?:\(text))(?s:.*)", [])
        } catch {
            throw TextPatternError(description: "\(text.quoted()) is not a regular expression: \(error.reason)")
        }
        matcher = pattern.makeMatcher()
    }

    /// Whether a text matches.
    package func matches(_ text: UnsafeBufferPointer<UInt8>) -> Bool { pattern.matches(text, by: matcher) }
}

/// A text that is not a regular expression.
package struct TextPatternError: Error, Sendable, Hashable, CustomStringConvertible {
    package let description: String
}

/// Texts without what people do not tell apart.
package enum TextFolding {
    /// A text without its accents; characters without one stay as they are.
    package static func unaccented(_ text: String) -> String {
        if text.utf8.allSatisfy({ $0 < 0x80 }) { return text }
        var result = String.UnicodeScalarView()
        for scalar in text.unicodeScalars {
            if scalar.value < 0xC0 {
                result.append(scalar)
                continue
            }
            let parts = Array(String(scalar)._nfd)
            let letters = parts.filter { $0.properties.generalCategory != .nonspacingMark }
            if letters.count == parts.count { result.append(scalar) } else { result.append(contentsOf: letters) }
        }
        return String(result)
    }
}
