import PropertyList

/// A comparison of text with a constant on the right, prepared once.
@usableFromInline
package enum PredicateTextTest: Sendable {
    case always(Bool)
    case compare(PredicateOperator, PredicateNeedle)
    case begins(PredicateNeedle)
    case ends(PredicateNeedle)
    case contains(PredicateNeedle)
    case like(PredicateWildcard)
    case matches(PredicatePattern)
    case between(PredicateNeedle, PredicateNeedle)
    /// One of several texts.
    case among(PredicateTextSet)
    /// A substring of a constant text, which is already folded: `name IN "a longer text"`.
    case within([UInt8], PredicateOptions)

    /// The test for a constant; nil when the constant does not compare as text, as a date does not.
    init?(_ operation: PredicateOperator, _ options: PredicateOptions, _ constant: PropertyListValue) {
        switch (operation, constant) {
        case (.equal, .string(let text)), (.notEqual, .string(let text)), (.lessThan, .string(let text)),
            (.lessThanOrEqual, .string(let text)), (.greaterThan, .string(let text)),
            (.greaterThanOrEqual, .string(let text)):
            self = .compare(operation, PredicateNeedle(text, options))
        case (.beginsWith, .string(let text)):
            self = .begins(PredicateNeedle(text, options))
        case (.endsWith, .string(let text)):
            self = .ends(PredicateNeedle(text, options))
        case (.contains, .string(let text)):
            self = .contains(PredicateNeedle(text, options))
        case (.like, .string(let text)):
            self = .like(PredicateWildcard(text, options))
        case (.matches, .string(let text)):
            guard let pattern = try? PredicatePattern(text, options) else {
                self = .always(false)
                return
            }
            self = .matches(pattern)
        case (.in, .string(let text)):
            self = .within(PredicateFolding.folded(text, options), options)
        case (.in, .array(let elements)), (.in, .set(let elements)):
            guard let set = PredicateTextSet(elements, options) else { return nil }
            self = .among(set)
        case (.between, .array(let bounds)):
            guard bounds.count == 2, case .string(let lower) = bounds[0], case .string(let upper) = bounds[1] else {
                return nil
            }
            self = .between(PredicateNeedle(lower, options), PredicateNeedle(upper, options))
        default:
            return nil
        }
    }

    /// The test for the scan of one thread. Its cache is not shared with other threads.
    package func makeScan() -> (UnsafeBufferPointer<UInt8>) -> Bool {
        guard case .matches(let pattern) = self else { return holds }
        let matcher = pattern.makeMatcher()
        return { pattern.matches($0, by: matcher) }
    }

    @inlinable
    package func holds(_ text: UnsafeBufferPointer<UInt8>) -> Bool {
        switch self {
        case .always(let verdict): verdict
        case .compare(.equal, let needle): needle.equals(text)
        case .compare(.notEqual, let needle): !needle.equals(text)
        case .compare(let operation, let needle): operation.accepts(needle.order(of: text))
        case .begins(let needle): needle.begins(text)
        case .ends(let needle): needle.ends(text)
        case .contains(let needle): needle.isContained(in: text)
        case .like(let wildcard): wildcard.matches(text)
        case .matches(let pattern): pattern.matches(text)
        case .between(let lower, let upper): lower.order(of: text) >= 0 && upper.order(of: text) <= 0
        case .among(let set): set.contains(text)
        case .within(let longer, let options):
            longer.withUnsafeBufferPointer { longer in
                PredicateNeedle(String(decoding: text, as: UTF8.self), options).isContained(inFolded: longer)
            }
        }
    }
}
