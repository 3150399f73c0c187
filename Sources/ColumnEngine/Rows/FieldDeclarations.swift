package import PropertyList

/// The declared fields of a collection, in the order in which they were declared. Names are compared by bytes.
package struct FieldDeclarations: Sendable, Hashable {
    /// In order.
    package private(set) var all: [FieldDeclaration] = []
    /// The names of the migrations that have run, in their order.
    package var steps: [String] = []

    /// Declares nothing.
    package init() {}

    /// Creates declarations in order; of two of one field the last holds.
    package init(_ declarations: [FieldDeclaration]) {
        for declaration in declarations { declare(declaration) }
    }

    /// Whether nothing is declared, and no migration has run.
    package var isEmpty: Bool { all.isEmpty && steps.isEmpty }

    /// What is declared of a field; nil for a free one.
    package subscript(_ name: String) -> FieldDeclaration? { all.first { $0.name == name } }

    /// The names of the fields about which something else is declared here than there.
    package func names(differingFrom other: FieldDeclarations) -> [String] {
        all.map(\.name).filter { self[$0] != other[$0] } + other.all.map(\.name).filter { self[$0] == nil }
    }

    /// Declares a field, in its place if it was declared before.
    package mutating func declare(_ declaration: FieldDeclaration) {
        if let place = all.firstIndex(where: { $0.name == declaration.name }) {
            all[place] = declaration
        } else {
            all.append(declaration)
        }
    }

    /// Frees a field.
    ///
    /// - Returns: false if it was free.
    @discardableResult
    package mutating func remove(_ name: String) -> Bool {
        guard let place = all.firstIndex(where: { $0.name == name }) else { return false }
        all.remove(at: place)
        return true
    }
}

/// Their form in records: an array of dictionaries in order, each with `name`, `kind`, and what else is declared; behind
/// them, if migrations have run, one with their names: `steps`.
extension FieldDeclarations {
    /// The value of a record; an empty array if nothing is declared.
    package var record: PropertyListValue {
        var elements = all.map { PropertyListValue.fields($0.record) }
        if !steps.isEmpty { elements.append(.fields(["steps": .array(steps.map { .string($0) })])) }
        return .array(elements)
    }

    /// Reads a record. Its bytes are not trusted.
    ///
    /// - Throws: `corruptJournal` for another value; `newerFormat` for a kind or a constraint that this program does
    ///   not know, and would not keep.
    package init(record: PropertyListValue?) throws(StoreError) {
        guard case .array(let elements)? = record else {
            throw StoreError(.corruptJournal, "the declarations of fields are none")
        }
        for element in elements {
            if let steps = element.fields?["steps"] {
                self.steps += try Self.steps(steps)
            } else {
                declare(try FieldDeclaration(record: element))
            }
        }
    }

    private static func steps(_ value: PropertyListValue) throws(StoreError) -> [String] {
        guard case .array(let elements) = value else {
            throw StoreError(.corruptJournal, "the names of migrations are not an array")
        }
        let steps = elements.compactMap { if case .string(let name) = $0 { name } else { nil } }
        guard steps.count == elements.count else {
            throw StoreError(.corruptJournal, "the name of a migration is not a string")
        }
        return steps
    }
}

extension FieldDeclaration {
    /// The same of a field with another name.
    package func renamed(_ name: String) throws(StoreError) -> FieldDeclaration {
        var fields = record
        fields["name"] = .string(name)
        return try FieldDeclaration(record: .fields(fields))
    }

    /// The declaration by the names that it has in scripts.
    package var record: PropertyListFields {
        var fields: PropertyListFields = ["name": .string(name), "kind": .string(kind.rawValue)]
        if let format { fields["format"] = .string(format.text) }
        if isUnique { fields["unique"] = .boolean(true) }
        if isRequired { fields["required"] = .boolean(true) }
        if !values.isEmpty { fields["oneOf"] = .array(values) }
        fields["least"] = least
        fields["most"] = most
        fields["default"] = initial
        fields["desc"] = summary.map { .string($0) }
        if let references {
            fields["references"] = .string(references.kind)
            fields["onDelete"] = .string(references.onDelete.rawValue)
        }
        return fields
    }

    private static let names: NameSet = [
        "name", "kind", "format", "unique", "required", "oneOf", "least", "most", "default", "desc",
        "references", "onDelete",
    ]

    fileprivate init(record: PropertyListValue) throws(StoreError) {
        guard let fields = record.fields, case .string(let name)? = fields["name"],
            case .string(let kindName)? = fields["kind"], (try? FieldValidation.checkName(name)) != nil
        else { throw StoreError(.corruptJournal, "the declaration of a field is none") }
        guard let kind = Kind(exactly: kindName), fields.keys.allSatisfy(Self.names.contains) else {
            throw StoreError(
                .newerFormat, "the declaration of \(name) has what this program does not know: a newer one wrote it")
        }
        self.init(name, kind)
        func text(_ key: String) throws(StoreError) -> String? {
            switch fields[key] {
            case nil: return nil
            case .string(let text)?: return text
            default: throw StoreError(.corruptJournal, "the \(key) of the declaration of \(name) is none")
            }
        }
        func flag(_ key: String) throws(StoreError) -> Bool {
            switch fields[key] {
            case nil: return false
            case .boolean(let value)?: return value
            default: throw StoreError(.corruptJournal, "\(key) in the declaration of \(name) is none")
            }
        }
        format = try text("format").map { Format($0) }
        isUnique = try flag("unique")
        isRequired = try flag("required")
        if let list = fields["oneOf"] {
            guard case .array(let elements) = list else {
                throw StoreError(.corruptJournal, "oneOf in the declaration of \(name) is none")
            }
            values = elements
        }
        (least, most, initial) = (fields["least"], fields["most"], fields["default"])
        (summary, references) = (try text("desc"), try text("references").map { Reference($0) })
        if let rule = try text("onDelete") {
            guard let rule = DeleteRule(exactly: rule) else {
                throw StoreError(
                    .newerFormat, "onDelete in the declaration of \(name) is \(rule): a newer program wrote it")
            }
            references?.onDelete = rule
        }
    }
}

/// How people see the values of a declared field.
extension FieldDeclaration {
    /// A value's text in the field's format; nil if it has none, or the value is of another kind.
    ///
    /// A text never stands for another value: an amount with more than two decimals is shown with all of them.
    package func shown(_ value: PropertyListValue) -> String? {
        switch (format, value) {
        case (.day?, .date(let date)): date == date.startOfDay ? date.dayText : nil
        case (.pattern(let pattern)?, .date(let date)): (try? DatePattern(pattern))?.text(of: date)
        case (.money?, .integer(let number)): "\(number).00"
        case (.money?, .wideInteger(let number)): "\(number).00"
        case (.money?, .real(let number)): Self.money(number)
        case (.money?, .single(let number)): Self.money(Double(number))
        default: nil
        }
    }

    /// A date of a text in the field's pattern; nil if it has none, or the text is not in it.
    package func date(_ text: String) -> PropertyListDate? {
        guard case .pattern(let pattern)? = format else { return nil }
        return (try? DatePattern(pattern))?.date(text)
    }

    /// An amount with two decimals; nil if that is not the whole number.
    private static func money(_ number: Double) -> String? {
        let cents = (number * 100).rounded()
        guard cents.magnitude < 1e15, cents / 100 == number else { return nil }
        let whole = Int64(cents.magnitude)
        let rest = whole % 100
        return "\(cents < 0 ? "-" : "")\(whole / 100).\(rest < 10 ? "0" : "")\(rest)"
    }
}

extension PropertyListDate {
    /// The day of a date that is its beginning in UTC: `2024-02-29`.
    package var dayText: String {
        let text = exchangeText
        return text.hasSuffix("T00:00:00Z") ? String(text.dropLast(10)) : text
    }
}
