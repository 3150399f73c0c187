import Application
import Files
import Images
import Items
import KeyedArchive
import PropertyList
import Scripting
import TestSupport
import Testing

/// An archive whose items have a decimal, a real and an NSNumber for a field of integers, and one no date.
@Suite("Fields of every item with an application's own values, in scripts")
struct DomainFieldTests {
    let scratch: TemporaryDirectory

    init() throws {
        scratch = try TemporaryDirectory()
        let date = ArchivedObject.FieldValue.object(.date(PropertyListDate(secondsSinceReferenceDate: 5)))
        let decimal = ArchivedDecimal(mantissa: 1250, exponent: -2)
        let items: [(String, ArchivedObject.FieldValue, ArchivedObject.FieldValue?)] = [
            ("A", .object(.value(.decimal(decimal))), date), ("B", .inline(.real(12.5)), date),
            ("C", .object(.integer(12)), nil),
        ]
        let objects = items.map { name, value, date in
            let object = ArchivedObject(ArchivedClass("Item"))
            object["name"] = .object(.string(name))
            object["valueInDollars"] = value
            object["dateCreated"] = date
            return ArchiveValue?.some(.unknown(object))
        }
        let graph = ArchiveGraph(root: .collection(ArchivedCollection(elements: objects)))
        defer { graph.dismantle() }
        let documents = "\(scratch.path)/container/Documents"
        try PosixFileLayer().makeDirectories(documents)
        try AtomicFile.write(try graph.encoded(), to: "\(documents)/items.archive", using: PosixFileLayer())
    }

    private func embedding(_ change: (inout ScriptHostOptions) -> Void = { _ in }) throws -> Embedding {
        try Embedding("\(scratch.path)/container", change)
    }

    @Test("are the values as they are: read, found, summed, grouped, described, exported")
    func values() throws {
        let embedding = try embedding()
        defer { embedding.end() }
        let expected = [
            "items[1].valueInDollars, items[2].valueInDollars, items[3].valueInDollars": "12.5 12.5 12",
            "items[3].dateCreated, tostring(items[1].dateCreated)": "nil 2001-01-01 00:00:05 +0000",
            "items:query('valueInDollars == 12.5'):count()": "2",
            "items:query('dateCreated == nil'):count(), items:query('dateCreated != nil'):count()": "1 2",
            "items:query():sum('valueInDollars'), items:query():min('valueInDollars')": "37.0 12",
            "#items:query():groupBy('valueInDollars'), #items:query():distinct('dateCreated')": "2 1",
            "items:query():sorted('valueInDollars'):first().name": "C",
            "items:query():sorted('dateCreated'):first().name": "C",
            "tostring(items[3])": "C (): Worth $12, recorded on nil",
            "json.encode(items[2]):find('12.5', 1, true) ~= nil, json.encode(items[3]):find('dateCreated')": "true nil",
        ]
        for (code, result) in expected {
            #expect(embedding.run("return " + code) == result, "\(code)")
        }
        let kinds = embedding.run(
            "local t = {} for _, f in ipairs(items:describe()) do t[#t + 1] = f.field .. ' ' .. f.kind .. ' ' .. f.count end "
                + "return table.concat(t, ', ')")
        #expect(kinds.contains("valueInDollars real 3") && kinds.contains("dateCreated date 2"), "\(kinds)")
        let csv = embedding.run(
            "local path = app.container.tmp .. '/a.csv' items:export(path, { columns = { 'name', 'valueInDollars', 'dateCreated' } }) "
                + "return fs.read(path)")
        #expect(csv.contains("A,12.5,2001-01-01T00:00:05Z") && csv.contains("C,12,"), "\(csv)")
    }

    @Test("are replaced only by values that fit; copies, undo and dry runs carry them")
    func changes() throws {
        let embedding = try embedding()
        defer { embedding.end() }
        #expect(embedding.run("items[1].valueInDollars = 78.5").hasPrefix("error: "))
        #expect(embedding.run("items[3].dateCreated = nil").hasPrefix("error: "))
        #expect(embedding.run("items[1].valueInDollars = 78 return items[1].valueInDollars") == "78")
        #expect(embedding.run("items:undo() return items[1].valueInDollars") == "12.5")
        #expect(embedding.run("local c = items[3]:copy() return c.dateCreated, c.valueInDollars") == "nil 12")
        #expect(
            embedding.run("items:dryRun(function() items[2].valueInDollars = 1 end) return items[2].valueInDollars")
                == "12.5")
        #expect(
            embedding.run("items:removeItem(items[2]) return #items").hasPrefix("3"))
        #expect(embedding.run("items:undo() return items[2].valueInDollars, items[4].dateCreated") == "12.5 nil")
    }

    @Test("are said: at opening, by the check, by an export")
    func said() throws {
        let embedding = try embedding()
        let words = [
            "valueInDollars is not an integer in 2 items: 12.5 in \"A\", 12.5 in \"B\"",
            "dateCreated is not a date in 1 item: nil in \"C\"",
        ]
        #expect(embedding.host.items.carriedNotices == words.map { $0 + ": carried as it is, until it is changed" })
        let export = "return items:export(app.container.tmp .. '/a.json', { columns = { 'valueInDollars' } })"
        #expect(embedding.run(export) == "3")
        let errors = embedding.recorder.errors
        #expect(errors.contains(words[0] + ": exported as it is") && !errors.contains(words[1]), "\(errors)")
        embedding.end()
        let container = ApplicationContainer(path: "\(scratch.path)/container")
        let check = StoreCheck(container, using: try container.openExisting(), logger: embedding.host.logger)
        for word in words {
            let severity = word.contains("nil") ? StoreFinding.Severity.note : .warning
            #expect(
                check.findings.contains { $0.severity == severity && $0.message.hasPrefix(word) }, "\(check.findings)")
        }
        #expect(!check.hasErrors)
    }
}
