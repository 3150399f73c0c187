public import PropertyList
@_exported import Wording

/// A condition on objects, written in the format language of Cocoa's `NSPredicate` and compiled once.
///
///     let predicate = try FormatPredicate(format: "valueInDollars > 900 AND name CONTAINS[c] $word",
///                                   variables: ["word": .string("fluffy")])
///     predicate.evaluate { fields[$0] }
///
/// Evaluation never fails: values of incomparable kinds are unequal and unordered, and an absent value equals only nil.
public struct FormatPredicate: Sendable, Hashable, CustomStringConvertible {
    /// The text it was made from.
    package let source: String

    /// The condition as a tree, its variables replaced by their values.
    package let node: PredicateNode

    /// The first keys of its key paths, which are the fields that it reads. `SELF` is not among them.
    public var fields: Set<String> { Set(fieldNames) }

    /// The same, in the order of their bytes. Unlike the set, it takes no time for names of many combining marks.
    package var fieldNames: [String] { fieldOffsets.keys.sorted().map(\.string) }

    @usableFromInline package let plan: PredicatePlan
    /// Whether a part of it may have no value for values of the right kinds, or its kinds are not known before
    /// evaluation; a division by 0 aside.
    package let isPartial: Bool
    private let fieldOffsets: [ExactText: Int]

    /// Compiles format text.
    ///
    /// - Parameters:
    ///   - format: The text, of at most 4 MiB and 100 levels.
    ///   - variables: The values of its `$variables`, by their names without the `$`.
    /// - Throws: The problem and its position; a comparison between kinds that can never hold is an error too.
    public init(format: String, variables: PropertyListFields = [:]) throws(FormatPredicateError) {
        var parser = try PredicateParser(format, variables: variables)
        self.init(try parser.parse(), source: format, fieldOffsets: parser.fieldOffsets)
    }

    /// Makes a predicate from a tree; its source is the canonical text. A `MATCHES` with an invalid regular expression
    /// never holds.
    package init(_ node: PredicateNode) {
        self.init(node, source: node.description)
    }

    /// Without offsets every field is at the beginning of the source.
    private init(_ node: PredicateNode, source: String, fieldOffsets: [ExactText: Int]? = nil) {
        self.node = node
        self.source = source
        self.fieldOffsets =
            fieldOffsets ?? Dictionary(uniqueKeysWithValues: Self.fields(of: node).map { ($0, 0) })
        isPartial = node.comparisons.contains { $0.left.isPartial || $0.right.isPartial }
        plan = PredicatePlan(node)
    }

    /// The predicate with other key paths, and the same text.
    package func replacingPaths(_ replaced: (PredicateKeyPath) -> PredicateKeyPath) -> FormatPredicate {
        var offsets: [ExactText: Int] = [:]
        var isSame = true
        for path in Self.paths(of: node) {
            let other = replaced(path)
            if other != path { isSame = false }
            offsets[ExactText(other.field)] = fieldOffsets[ExactText(path.field)]
        }
        return isSame ? self : FormatPredicate(node.replacingPaths(replaced), source: source, fieldOffsets: offsets)
    }

    /// The canonical text: keywords in capitals, text in double quotes, variables replaced by their values.
    ///
    /// Compiling this text gives an equal predicate, unless a variable's value has no literal in the language (a
    /// dictionary, a set).
    public var format: String { node.description }

    public var description: String { format }

    public static func == (lhs: Self, rhs: Self) -> Bool { lhs.node == rhs.node }

    public func hash(into hasher: inout Hasher) { hasher.combine(node) }

    // MARK: Evaluation

    /// Evaluates the predicate for a record.
    ///
    /// - Returns: Whether the record satisfies the predicate. O(size of the predicate and of the values it reads).
    public func evaluate(_ record: some PredicateRecord) -> Bool {
        evaluate { record.value(forKey: $0) }
    }

    /// Evaluates the predicate for an object.
    ///
    /// - Parameter lookup: Returns the value of a field, or nil when the object has none. The key `SELF` stands for the
    ///   object itself.
    /// - Returns: Whether the object satisfies the predicate.
    public func evaluate(_ lookup: (String) -> PropertyListValue?) -> Bool {
        withoutActuallyEscaping(lookup) { PredicateEvaluator(lookup: $0).holds(plan) }
    }

    /// Evaluates the predicate for a value: its fields are those of a dictionary, and `SELF` is the value.
    public func evaluate(value: PropertyListValue) -> Bool {
        evaluate { key in
            if key == PredicateKeyPath.selfKey { return value }
            return PredicateKeyValueCoding.value(value, [key])
        }
    }

    /// Compiles the predicate for objects of one type, for evaluation over many of them.
    ///
    /// - Parameter accessors: Returns the accessor of a field. It is called during compilation for each of `fields`,
    ///   and for `SELF` if the predicate names it.
    /// - Returns: A closure that allocates nothing for comparisons of typed fields with numbers, dates and ASCII text.
    @inlinable
    public func compiled<Root>(accessors: (String) -> PredicateAccessor<Root>) -> (Root) -> Bool {
        withoutActuallyEscaping(accessors) { PredicateCompiler(accessors: $0).condition(plan) }
    }

    // MARK: Checking

    /// Checks that all fields are known.
    ///
    /// - Parameters:
    ///   - knownFields: Their names.
    ///   - noun: The error's noun for an object that has fields.
    /// - Throws: An `unknownField` error at the first unknown field, with the nearest known names.
    public func check(
        knownFields: some Sequence<String>, of noun: String = "record"
    ) throws(FormatPredicateError) {
        let known = Set(knownFields.map { ExactText($0) })
        let unknown = fieldOffsets.filter { !known.contains($0.key) }
        for (name, offset) in unknown.sorted(by: { $0.value < $1.value }) {
            let field = name.string
            let names = NearestNames.nearest(to: field, among: known.sorted().map(\.string))
            if names.isEmpty, asksOnlyForNil({ $0.field == field }) { continue }
            let hint = names.isEmpty ? "; text is written in quotes" : NearestNames.suggestion(names)
            throw FormatPredicateError(
                .unknownField, "no \(noun) has a field \(field)\(hint)", column: offset + 1, source: source,
                suggestions: names)
        }
    }

    /// Whether all that the predicate asks of some paths is whether there is a value.
    package func asksOnlyForNil(_ isMeant: (PredicateKeyPath) -> Bool) -> Bool {
        node.comparisons.allSatisfy { comparison in
            guard Self.paths(of: .comparison(comparison)).contains(where: isMeant) else { return true }
            switch (comparison.left, comparison.operation, comparison.right) {
            case (.keyPath, .equal, .constant(.null)), (.keyPath, .notEqual, .constant(.null)),
                (.constant(.null), .equal, .keyPath), (.constant(.null), .notEqual, .keyPath):
                return comparison.modifier == .direct
            default: return false
            }
        }
    }

    /// Checks that no comparison is between incompatible kinds, given the kinds of the fields.
    ///
    /// - Parameter kinds: The kinds of fields, by name. A field that is not listed may hold any kind.
    /// - Throws: A `typeMismatch` error.
    package func check(kinds: [String: PredicateKind]) throws(FormatPredicateError) {
        var table: NameTable<PredicateKind> = [:]
        for (name, kind) in kinds { table[name] = kind }
        try check(kinds: table) { _, _ in nil }
    }

    /// Checks kinds, with an advice from a field's name and the expression that it is compared with, or nil where it is
    /// computed with; of a part of the predicate, or of all of it.
    package func check(
        kinds: NameTable<PredicateKind>, in part: PredicateNode? = nil,
        advice: (String, FormatExpression?) -> String?
    ) throws(FormatPredicateError) {
        guard let (comparison, problem) = Self.checker(kinds).firstProblem(in: part ?? node) else { return }
        let names = Self.fields(of: .comparison(comparison)).sorted().map(\.string)
        let atFault = problem.operand.map(\.fieldNames) ?? []
        // A conversion is no advice where values of every kind are refused, as by ANY.
        func helpful(_ name: String, _ other: FormatExpression?) -> String? {
            let isHelped = [PredicateKind.string, .number, .date].contains { kind in
                var kinds = kinds
                kinds[name] = kind
                let next = Self.checker(kinds).firstProblem(of: comparison)
                return next.map { $0.operand != problem.operand } ?? true
            }
            return isHelped ? advice(name, other) : nil
        }
        let text =
            atFault.compactMap { helpful($0, nil) }.first
            ?? comparison.fieldsAndOperands.compactMap(helpful).first
            ?? names.compactMap { helpful($0, nil) }.first
        throw error(
            problem.code, "\(problem.message), in \(subject(comparison))\(text.map { "; \($0)" } ?? "")", at: names,
            suggestions: problem.suggestions)
    }

    private static func checker(_ kinds: NameTable<PredicateKind>) -> PredicateChecker {
        PredicateChecker(kindOfPath: { $0.rest.isEmpty ? kinds[$0.field] ?? .unknown : .unknown })
    }

    /// An error at the first of some fields.
    package func error(
        _ code: FormatPredicateError.Code, _ message: String, at fields: [String], suggestions: [String] = []
    ) -> FormatPredicateError {
        let column = fields.compactMap { fieldOffsets[ExactText($0)] }.min() ?? 0
        return FormatPredicateError(code, message, column: column + 1, source: source, suggestions: suggestions)
    }

    /// Whether a part of the predicate may have no value, or never holds, when the values at a path are of a kind. Text
    /// that is compared with a date is such a kind: it may not be the text of a date.
    package func mayRefuse(_ kind: PredicateKind, at path: PredicateKeyPath) -> Bool {
        let checker = PredicateChecker(doubtsDates: true, kindOfPath: { $0 == path ? kind : .unknown })
        return checker.firstProblem(in: node) != nil
    }

    /// The first comparison that has no value, or never holds, whichever of some kinds the values at a path are of.
    package func comparison(refusing kinds: Set<PredicateKind>, at path: PredicateKeyPath) -> PredicateNode? {
        let failing = node.comparisons.first { comparison in
            kinds.allSatisfy { kind in
                PredicateChecker(kindOfPath: { $0 == path ? kind : .unknown }).firstProblem(of: comparison) != nil
            }
        }
        return failing.map { .comparison($0) }
    }

    /// A predicate that stands for an expression, so that it is checked as one; it compares it with nil.
    package init(checking expression: FormatExpression, text: String) {
        let node = PredicateNode.comparison(PredicateComparison(expression, .equal, .constant(.null)))
        self.init(node, source: text)
    }

    private func subject(_ comparison: PredicateComparison) -> String {
        // The comparison with nil of a checked expression is not the user's.
        if case .constant(.null) = comparison.right { return comparison.left.excerpt }
        return PredicateNode.comparison(comparison).excerpt
    }

    // MARK: Indexes

    /// The conditions of the form field, operator, constant that every matching object satisfies: the indexable parts
    /// of the outermost `AND`.
    package var indexableConstraints: [PredicateConstraint] {
        PredicateConstraint.constraints(of: node)
    }

    /// Whether the constraints together are equivalent to the predicate.
    package var isConstraintsOnly: Bool {
        let parts: [PredicateNode] = if case .and(let parts) = node { parts } else { [node] }
        let constraints = indexableConstraints
        return constraints.count == parts.count && constraints.allSatisfy(\.isExact)
    }
}

/// Collects the fields of a tree.
extension FormatPredicate {
    @usableFromInline
    static func fields(of node: PredicateNode) -> Set<ExactText> {
        Set(paths(of: node).map { ExactText($0.field) })
    }

    /// The key paths of a tree from fields.
    package static func paths(of node: PredicateNode) -> Set<PredicateKeyPath> {
        var paths: Set<PredicateKeyPath> = []
        collect(node, &paths)
        return paths
    }

    private static func collect(_ node: PredicateNode, _ paths: inout Set<PredicateKeyPath>) {
        for side in node.sides { collect(side, &paths) }
    }

    private static func collect(_ expression: FormatExpression, _ paths: inout Set<PredicateKeyPath>) {
        if case .keyPath(let path) = expression, !path.isSelf { paths.insert(path) }
        if case .subquery(_, _, let condition) = expression { collect(condition, &paths) }
        for operand in expression.operands { collect(operand, &paths) }
    }
}

extension PredicateNode {
    /// Both sides of each comparison.
    var sides: [FormatExpression] { comparisons.flatMap { [$0.left, $0.right] } }
}

extension FormatExpression {
    /// The expressions of which it is made, without those of a `SUBQUERY`'s condition.
    var operands: [FormatExpression] {
        switch self {
        case .constant, .local, .keyPath: []
        case .conditional(let condition, let first, let second): condition.sides + [first, second]
        case .subquery(let base, _, _), .property(let base, _), .negated(let base): [base]
        case .aggregate(let elements), .function(_, let elements): elements
        case .arithmetic(let left, _, let right): [left, right]
        case .element(let base, let index): [base] + [index.position].compactMap { $0 }
        }
    }

    /// Whether the value may be undefined for values of the right kinds, or depends on kinds that are not known before
    /// evaluation; a division by 0 and an overflow aside.
    package var isPartial: Bool {
        switch self {
        case .constant: false
        case .keyPath(let path): path.rest.contains(where: PredicateKeyValueCoding.computations.contains)
        case .negated(let operand): operand.isPartial
        case .arithmetic(let left, let operation, let right):
            operation.takesWholeNumbers || left.isPartial || right.isPartial
        case .aggregate(let elements): elements.contains(where: \.isPartial)
        case .property, .element, .function, .conditional, .subquery, .local: true
        }
    }

    /// Whether it divides by a value that may be 0, or raises to a power.
    package var mayDivideByZero: Bool {
        switch self {
        case .arithmetic(_, .divide, .keyPath), .arithmetic(_, .divide, .arithmetic), .arithmetic(_, .power, _): true
        case .arithmetic(let left, _, let right): left.mayDivideByZero || right.mayDivideByZero
        case .negated(let operand): operand.mayDivideByZero
        default: false
        }
    }
}

/// A type of the program whose values predicates are evaluated for.
///
///     struct Lamp: PredicateRecord {
///         var room: String
///
///         func value(forKey key: String) -> PropertyListValue? {
///             key == "room" ? .string(room) : nil
///         }
///     }
public protocol PredicateRecord {
    /// Returns the value of a field.
    ///
    /// - Parameter key: The field's name; `SELF` for the record itself, if it is representable as
    ///   a value.
    /// - Returns: The value, or nil when the record has none.
    func value(forKey key: String) -> PropertyListValue?
}

/// An error in a predicate's format text, with its position.
///
/// These errors occur when a predicate is compiled or checked, never during evaluation.
public struct FormatPredicateError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The kinds of errors.
    public enum Code: String, Sendable, Hashable, CaseIterable {
        /// The text does not follow the grammar.
        case syntax
        /// A word or sign in an operator's place is not an operator.
        case unknownOperator
        /// A function or a collection operator such as `@count` does not exist.
        case unknownFunction
        /// No object has the field.
        case unknownField
        /// A `$variable` has no value.
        case unknownVariable
        /// The kinds of the operands can never satisfy the operator.
        case typeMismatch
        /// The text behind `MATCHES` is not a regular expression.
        case invalidPattern
        /// The text is too long or nested too deeply.
        case limitExceeded
    }

    /// The kind of error.
    public let code: Code

    /// The problem and its remedy in one sentence, without the position.
    public let message: String

    /// The position in the format text, in UTF-8 bytes from 1; one past the end when something is missing at the end.
    public let column: Int

    /// The whole format text.
    package let source: String

    /// Known names similar to the misspelt one, nearest first.
    package let suggestions: [String]

    /// An error at a position in a format text.
    package init(_ code: Code, _ message: String, column: Int, source: String, suggestions: [String] = []) {
        self.code = code
        self.message = message
        self.column = column
        self.source = source
        self.suggestions = suggestions
    }

    /// The message, the column, and the excerpt.
    public var description: String {
        "predicate: \(message) (column \(column))\n\(excerpt)"
    }

    /// The line with the error, shortened around the error's column, and a caret under that column.
    package var excerpt: String {
        let reach = 48
        // Characters of a few bytes each: a line may have megabytes.
        let nearby = 16 * reach
        let bytes = Array(source.utf8)
        let place = min(max(column - 1, 0), bytes.count)
        let lineStart =
            bytes[max(place - nearby, 0)..<place].lastIndex(of: 0x0A).map { $0 + 1 } ?? max(place - nearby, 0)
        let farthest = min(place + nearby, bytes.count)
        let lineEnd = bytes[place..<farthest].firstIndex(of: 0x0A) ?? farthest
        var before = Array(String(decoding: bytes[lineStart..<place], as: UTF8.self))
        var after = Array(String(decoding: bytes[place..<lineEnd], as: UTF8.self))
        if before.count > reach { before = ["…"] + before.suffix(reach - 1) }
        if after.count > reach { after = after.prefix(reach - 1) + ["…"] }
        let line = String((before + after).map(Self.printable))
        return "    \(line)\n    \(String(repeating: " ", count: before.count))^"
    }

    /// Control characters are replaced by a space, because a tab would move the caret off its column.
    private static func printable(_ character: Character) -> Character {
        character.unicodeScalars.allSatisfy { $0.value >= 0x20 && $0.value != 0x7F } ? character : " "
    }
}
