import CSV
import PredicateFormat
import PropertyList
import TestSupport
import Testing

@testable import ColumnEngine
@testable import Items

/// Of all values put into declared fields, through every way in, each comes back equal, or in the form of its kind, or
/// an error names field, value and kind, and nothing has changed.
@Suite("Declared fields, accounted")
struct DeclaredFieldAccountingTests {
    private let kinds = FieldDeclaration.Kind.allCases

    private func declaration(_ foreign: inout ForeignValues) -> FieldDeclaration {
        var declaration = FieldDeclaration("f", foreign.pick(kinds))
        let isOrdered = declaration.kind.isNumeric || [.string, .date].contains(declaration.kind)
        if isOrdered, foreign.random.number(4) == 0 { declaration.isUnique = true }
        if declaration.kind.isNumeric, foreign.random.number(4) == 0 {
            (declaration.least, declaration.most) = (.integer(-50), .integer(50))
        }
        if foreign.random.number(6) == 0 { declaration.isRequired = true }
        if declaration.kind == .date, foreign.random.number(3) == 0 { declaration.format = .day }
        return declaration
    }

    /// The value that must come out, by the words of the documentation; nil if it has to be an error.
    private func expected(_ value: PropertyListValue, _ declaration: FieldDeclaration) -> PropertyListValue? {
        var result: PropertyListValue?
        switch (declaration.kind, value) {
        case (.any, _), (.string, .string), (.string, .utf16), (.boolean, .boolean), (.data, .data), (.array, .array),
            (.dictionary, .dictionary), (.number, .integer), (.number, .wideInteger), (.number, .real),
            (.number, .single), (.integer, .integer), (.integer, .wideInteger), (.real, .real):
            result = value
        case (.string, .integer), (.string, .wideInteger), (.string, .real), (.string, .single):
            result = .string(FieldValidation.describe(value))
        case (.integer, .real(let real)): result = Int64(exactly: real).map { .integer($0) }
        case (.integer, .single(let real)): result = Int64(exactly: real).map { .integer($0) }
        case (.real, .integer(let number)): result = Double(exactly: number).map { .real($0) }
        case (.real, .wideInteger(let number)): result = Double(exactly: number).map { .real($0) }
        case (.real, .single(let number)): result = .real(Double(number))
        case (.date, .date(let date)):
            result = .date(declaration.format == .day ? date.startOfDay : date)
        default: result = nil
        }
        guard let result else { return nil }
        if declaration.isRequired, result == .string("") { return nil }
        if declaration.least != nil {
            let number: Double
            switch result {
            case .integer(let value): number = Double(value)
            case .wideInteger(let value): number = Double(value)
            case .real(let value): number = value
            case .single(let value): number = Double(value)
            default: return nil
            }
            if number < -50 || number > 50 { return nil }
        }
        return result
    }

    private enum WayIn: CaseIterable { case creation, assignment, update }

    @Test("each value comes back, or an error names it and nothing has changed")
    func values() throws {
        var foreign = ForeignValues(seed: 38)
        var (taken, errors) = (0, 0)
        while taken + errors < Accounting.values {
            let store = ItemStore()
            let declaration = declaration(&foreign)
            try store.declare([declaration])
            let filler = declaration.isRequired ? filler(declaration) : nil
            let item = try? store.createItem(ItemFields(name: "first", custom: filler.map { ["f": $0] } ?? [:]))
            for _ in 0..<12 {
                let value = foreign.value(depth: 2)
                let way = foreign.pick(WayIn.allCases)
                let before = try store.allItems.map { try $0.allFields.values }
                var wanted = expected(value, declaration)
                if let known = wanted, declaration.isUnique, way == .creation, known != .string(""),
                    try store.allItems.contains(where: {
                        try $0.value(forField: "f").map { FieldDeclaration.areEqual($0, known) } ?? false
                    })
                {
                    wanted = nil
                }
                do {
                    let changed: Item?
                    switch way {
                    case .creation: changed = try store.createItem(ItemFields(name: "n", custom: ["f": value]))
                    case .assignment:
                        guard let item else { continue }
                        try item.setValue(value, forField: "f")
                        changed = item
                    case .update:
                        guard let item, store.count == 1 || !declaration.isUnique else { continue }
                        try store.query(FormatPredicate(format: "name = 'first'")).update(["f": value])
                        changed = item
                    }
                    let stored = try changed?.value(forField: "f")
                    #expect(wanted == nil || stored == wanted, "\(declaration) \(value)")
                    if wanted == nil { Issue.record("\(declaration) took \(value)") }
                    taken += 1
                } catch {
                    guard let error = error as? StoreError else { throw error }
                    errors += 1
                    let isDuplicate = declaration.isUnique && error.message.contains("is unique")
                    #expect(wanted == nil || isDuplicate, "\(error) \(value)")
                    #expect(error.message.contains("f "), "\(error)")
                    #expect(try store.allItems.map { try $0.allFields.values } == before)
                }
            }
        }
        #expect(taken > 100 && errors > 100)
    }

    private func filler(_ declaration: FieldDeclaration) -> PropertyListValue {
        switch declaration.kind {
        case .string, .any: .string("filler")
        case .integer, .number: .integer(1)
        case .real: .real(1)
        case .boolean: .boolean(true)
        case .date: .date(PropertyListDate(secondsSinceReferenceDate: 0))
        case .data: .data([1])
        case .array: .array([])
        case .dictionary: .fields([:])
        }
    }

    @Test("of an import's cells each is a value of the declared kind, or its row is rejected and counted")
    func imports() throws {
        var foreign = ForeignValues(seed: 39)
        var cells = 0
        while cells < Accounting.values {
            let store = ItemStore()
            let kind = foreign.pick([FieldDeclaration.Kind.string, .integer, .real, .number, .boolean, .date])
            try store.declare([FieldDeclaration("f", kind)])
            let texts = (0..<8).map { _ in
                switch foreign.random.number(5) {
                case 0: "\(foreign.integer())"
                case 1: "\(foreign.real())"
                case 2: foreign.pick(["true", "false", "2024-01-31", "2024-02-30", "13", "13.0", "2006.10", "007"])
                default: foreign.pick(["x", "n/a", "1,5", " 7", "2019-03-02T10:00:00Z"])
                }
            }
            var writer = try CSVWriter()
            writer.appendRow(["name", "f"])
            for (place, text) in texts.enumerated() { writer.appendRow(["\(place)", text]) }
            var options = ItemFileOptions(format: .csv)
            var rejected = 0
            options.skipsRow = { _, _, message in
                #expect(message.contains("f "), "\(message)")
                rejected += 1
                return true
            }
            let report = try store.importReport(writer.take(), path: "t.csv", options)
            #expect(report.rejected == rejected && report.created + report.rejected == texts.count)
            for item in store.allItems {
                let text = texts[try #require(Int(item.name))]
                let value = try #require(try item.value(forField: "f"))
                switch (kind, value) {
                case (.string, .string(let stored)): #expect(stored == text)
                case (.integer, .integer(let stored)): #expect(Double(stored) == Double(text))
                case (.real, .real(let stored)): #expect(stored == Double(text))
                case (.number, .integer(let stored)): #expect(Int64(text) == stored || Double(text) == Double(stored))
                case (.number, .wideInteger(let stored)): #expect(Int128(text) == stored)
                case (.number, .real(let stored)): #expect(stored == Double(text))
                case (.boolean, .boolean(let stored)):
                    #expect((stored ? ["true", "x", "1"] : ["false", "0"]).contains(text))
                case (.date, .date(let stored)): #expect(stored == ISO8601.parse(text))
                default: Issue.record("\(kind) has \(value)")
                }
            }
            cells += texts.count
        }
    }
}
