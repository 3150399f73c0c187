public import ColumnEngine
package import PropertyList

/// Declared fields: what is declared of them holds for every way in.
extension ItemStore {
    /// The declared fields, in order.
    package var declarations: FieldDeclarations { columns.declarations }
    /// The declared fields, in the order declared.
    public var declaredFields: [FieldDeclaration] { columns.declarations.all }

    /// Declares fields, each in the place of what was declared of it before. A declaration is a change like others: it
    /// is committed, undone and rolled back.
    ///
    /// ```swift
    /// var sku = FieldDeclaration("sku", .string)
    /// sku.isUnique = true
    /// try store.declare([sku, FieldDeclaration("price", .real)])
    /// ```
    ///
    /// - Parameters:
    ///   - declarations: in order.
    ///   - freed: the names of fields about which nothing is declared any more.
    ///   - converts: whether to convert values of the items that do not fit, such as texts that are numbers, all or
    ///     none. What converts without loss always is.
    /// - Throws: `StoreError`: `invalidValue` for a declaration that is none; `unfittingItems`, with the number of items
    ///   and the first three: nothing is then changed; `unknownField` for a freed field that is not declared;
    ///   `readOnly`.
    public func declare(
        _ declarations: [FieldDeclaration], freeing freed: [String] = [], converting converts: Bool = false
    ) throws {
        if isReadOnly { throw readOnlyError }
        if let denial = replica.remote?.declaringDenial { throw StoreError(.readOnly, denial) }
        var next = columns.declarations
        for declaration in declarations {
            let field = schema.field(named: declaration.name)
            if field == nil, declaration.name != "itemKey" { try FieldValidation.checkName(declaration.name) }
            next.declare(try declaration.checked(field))
        }
        for name in freed where !next.remove(name) {
            let near = NearestNames.nearest(to: name, among: next.all.map(\.name))
            throw StoreError(
                .unknownField(name), "the field \(name) is not declared\(NearestNames.suggestion(near))")
        }
        let former = columns.declarations
        if next == former { return }
        try performBulkChange {
            try allOrNone {
                keepCommitBeforeChange()
                columns.declare(next)
                for declaration in next.all where former[declaration.name] != declaration {
                    try fit(declaration, converting: converts)
                }
            }
        }
    }

    /// Brings the values of all items into the form of a newly declared field.
    private func fit(_ declaration: FieldDeclaration, converting converts: Bool) throws {
        let field = columns.field(named: declaration.name)
        var misfits: (count: Int, examples: [String]) = (0, [])
        var isTaken: Set<PropertyListValue> = []
        for row in columns.slots where row != ItemOrder.hole && columns.isLive(row) {
            if Interruption.isDue { throw WorkStopped() }
            let present = columns.value(row, field)
            let wanted = wanted(present, declaration, field, converts)
            var isUnfit = wanted == nil
            if let wanted, wanted != present {
                do throws(StoreError) { try set(row, field, wanted) } catch {
                    guard case .invalidValue = error.code else { throw error }
                    isUnfit = true
                }
            }
            if declaration.isUnique, let value = wanted ?? nil, !FieldDeclaration.isBlank(value),
                !isTaken.insert(value.comparable).inserted
            {
                isUnfit = true
            }
            if let value = wanted ?? nil, columns.isDangling(value, declaration) { isUnfit = true }
            guard isUnfit else { continue }
            misfits.count += 1
            if misfits.count <= 3 {
                misfits.examples.append("\(FieldValidation.describe(present)) in \(columns.label(row))")
            }
        }
        columns.recountKinds(field)
        if misfits.count > 0 { throw error(declaration, misfits.count, misfits.examples, converts) }
    }

    /// The value that an item's is to become, nil inside for none; nil if it does not fit, and must not be converted.
    private func wanted(
        _ present: PropertyListValue?, _ declaration: FieldDeclaration, _ field: ItemField, _ converts: Bool
    ) -> PropertyListValue?? {
        if let fitted = try? columns.fitted(present, for: field) as PropertyListValue?? {
            // The time of day is a loss.
            if converts || fitted == present || declaration.kind != .date { return fitted }
        }
        guard converts else { return nil }
        guard let present else { return declaration.initial.map { .some($0) } }
        guard let converted = declaration.kind.converted(present) else { return nil }
        return try? columns.fitted(converted, for: field) as PropertyListValue??
    }

    private func error(
        _ declaration: FieldDeclaration, _ count: Int, _ examples: [String], _ converts: Bool
    ) -> StoreError {
        let what = count == 1 ? "1 item does" : "\(count) items do"
        let listed = examples.joined(separator: ", ") + (count > examples.count ? ", …" : "")
        return StoreError(
            .unfittingItems(field: declaration.name),
            "\(what) not fit \(declaration.name), \(declaration.constraints): \(listed); nothing was declared"
                + (converts ? "" : ": change them, or convert what can be (convert = true)"))
    }

    /// A value's text in the format declared of its field; nil if there is none.
    package func shown(_ value: PropertyListValue, _ name: String) -> String? {
        columns.hasDeclarations ? columns.declarations[name]?.shown(value) : nil
    }

    /// Whether a field is declared to have days.
    package func hasDays(_ name: String) -> Bool { columns.hasDays(name) }

    /// Whether a field is declared to have amounts of money.
    package func hasMoney(_ name: String) -> Bool {
        columns.hasDeclarations && columns.declarations[name]?.format == .money
    }

    /// Names of custom fields in the order for tables and files: the declared ones first, in their order, then the
    /// others by name.
    package func ordered(_ names: some Sequence<String>) -> [String] {
        let sorted = names.sorted { $0 < $1 }
        if !columns.hasDeclarations { return sorted }
        let known = NameSet(sorted)
        let declared = columns.declarations.all.filter { !$0.isFree }.map(\.name).filter(known.contains)
        let first = NameSet(declared)
        return declared + sorted.filter { !first.contains($0) }
    }

    /// What of the items does not fit the declarations, as an archive or another host brought it: a line for each
    /// field, for the user. O(items) for each declared field.
    package var declarationNotices: [String] {
        declarations.all.compactMap { declaration in
            let misfits = columns.unfitting(columns.field(named: declaration.name))
            guard misfits.count > 0 else { return nil }
            let listed = misfits.examples.joined(separator: ", ") + (misfits.count > 3 ? ", …" : "")
            return "\(declaration.name) does not fit what is declared, \(declaration.constraints), in "
                + "\(misfits.count.counted("item")): \(listed)"
        }
    }
}

extension ItemStore {
    /// Whether fields are declared; O(1).
    package var hasDeclaredFields: Bool { columns.hasDeclarations }

    /// What is known of each declared field, for help and completion: see ``FieldDeclaration/documentation``.
    package var fieldDocumentation: NameTable<String> {
        var texts: NameTable<String> = [:]
        for declaration in declarations.all { texts[declaration.name] = declaration.documentation }
        return texts
    }
}

extension FieldDeclaration {
    /// What the field is, and what is declared of it: `what it cost: a real, at least 0.0.`
    package var documentation: String {
        let what = summary.map { VisibleText.line($0.shortened(to: 2000)) } ?? (isFree ? "A field" : "A declared field")
        return "\(what): \(constraints)."
    }

    /// The kind and the constraints in words: `a string, unique, required`.
    package var constraints: String {
        var parts = [kind.named]
        if let format { parts.append("format \(format.text)") }
        return (parts + restrictions).joined(separator: ", ")
    }

    /// The constraints alone, each in words.
    package var restrictions: [String] {
        var parts: [String] = []
        if isUnique { parts.append("unique") }
        if isRequired { parts.append("required") }
        if !values.isEmpty { parts.append("one of \(values.map(FieldValidation.describe).joined(separator: ", "))") }
        if let least { parts.append("at least \(FieldValidation.describe(least))") }
        if let most { parts.append("at most \(FieldValidation.describe(most))") }
        if let references {
            parts.append("refers to \(references.kind.withArticle), on delete \(references.onDelete.rawValue)")
        }
        if let initial { parts.append("default \(FieldValidation.describe(initial))") }
        return parts
    }
}

extension FieldDeclaration.Kind {
    /// A value of the kind for another one, such as a number for its text; nil inside for blank text, nil if there is
    /// none.
    func converted(_ value: PropertyListValue) -> PropertyListValue?? { ofTexts.flatMap { $0.converted(value) } }

    /// What the texts of a file become in a declared field; nil if they stay, or are inferred.
    var ofTexts: ItemFieldKind? { ItemFieldKind(rawValue: rawValue) }
}

/// A field for people: what is declared of it, and what the items have.
package struct FieldSummary: Sendable {
    /// Its name.
    package let name: String
    /// The kind of its values: the declared one, or the one that they have.
    package let kind: String
    /// What is declared of it; nil for a free field, and for one of every item about which nothing more is declared.
    package let declaration: FieldDeclaration?
    /// Whether every item has the field.
    package let isOfEveryItem: Bool
    /// The number of items with a value.
    package let count: Int
    /// The number of items that do not fit what is declared.
    package let misfits: Int

    /// The fields as a table; columns without an entry are left out.
    ///
    /// - Parameters:
    ///   - fields: the fields.
    ///   - columns: the width of the screen.
    /// - Returns: the lines.
    package static func text(of fields: [FieldSummary], columns: Int) -> String {
        var table = TextTable(columns: columns)
        func add(_ title: String, isNumber: Bool = false, isAlways: Bool = false, _ cell: (FieldSummary) -> String) {
            // A name may have megabytes.
            let cells = fields.map { TextTable.cut(VisibleText.line(cell($0).shortened(to: 2000)), to: 80) }
            if isAlways || cells.contains(where: { !$0.isEmpty }) {
                table.add(TextTable.Column(title: title, cells: cells, isNumber: isNumber))
            }
        }
        add("field", isAlways: true) { $0.name }
        add("kind", isAlways: true) { $0.kind + ($0.declaration?.isFree ?? !$0.isOfEveryItem ? " (free)" : "") }
        add("format") { $0.declaration?.format?.text ?? "" }
        add("declared") { $0.declaration?.restrictions.joined(separator: ", ") ?? "" }
        add("count", isNumber: true, isAlways: true) { String($0.count) }
        add("misfits", isNumber: true) { $0.misfits > 0 ? String($0.misfits) : "" }
        add("desc") { $0.declaration?.summary ?? "" }
        return table.lines.joined(separator: "\n")
    }
}

extension ItemStore {
    /// The fields: those of every item, then the declared ones in order, then the others that items have. O(items) for
    /// each field.
    package func fieldSummaries() throws -> [FieldSummary] {
        var known: [ExactText: ItemFieldDescription] = [:]
        for description in try query().describe() { known[ExactText(description.field)] = description }
        let declarations = declarations
        var names = schema.names
        names += declarations.all.map(\.name).filter { !schema.has($0) }
        let listed = NameSet(names)
        names += columns.fieldNames.filter { known[ExactText($0)] != nil && !listed.contains($0) }
        return names.map { name in
            let declaration = declarations[name]
            let declared = declaration.flatMap { $0.isFree ? nil : $0.kind }
            let own = schema.field(named: name).map { FieldDeclaration.Kind($0.kind.kind) }
            let kind = (declared ?? own)?.rawValue ?? known[ExactText(name)]?.kindName ?? "string"
            let misfits = declaration.map { columns.unfitting(columns.field(named: $0.name)).count } ?? 0
            return FieldSummary(
                name: name, kind: kind, declaration: declaration, isOfEveryItem: schema.has(name),
                count: known[ExactText(name)]?.count ?? 0, misfits: misfits)
        }
    }
}
