import Cubby
import Foundation
import Items
import Lua
import PredicateFormat
import Scripting
import TestSupport
import Testing

/// `Tests/Soak/functions.txt` names each function, operator and format, with a call for `scripts/soak limits`: one that is
/// added without a row is not tried with large and hostile arguments.
@Suite("The table of calls under limits")
struct LimitTableTests {
    /// The names of the table's rows.
    private static let rows: [String] =
        ((try? String(contentsOfFile: "\(Project.root)/Tests/Soak/functions.txt", encoding: .utf8)) ?? "")
        .split(separator: "\n").filter { !$0.hasPrefix("#") }
        .compactMap { $0.components(separatedBy: " | ").first }

    private func expect(_ names: [String], _ what: String) {
        let missing = Set(names).subtracting(Self.rows).sorted()
        #expect(
            missing.isEmpty, "\(what) without a row in Tests/Soak/functions.txt: \(missing.joined(separator: ", "))")
    }

    @Test("each function of the reference has a row, and no row is twice or of nothing")
    func functions() throws {
        let declared = try APIReference.standard().declarations.flatMap { declaration in
            declaration.functions.map { function in
                function.name.isEmpty
                    ? declaration.name + (declaration.kind == .module ? "()" : "")
                    : declaration.name + declaration.separator(of: function) + function.name
            }
        }
        expect(declared, "functions")
        let library = try Self.library()
        expect(library, "functions of Lua")
        #expect(Set(Self.rows).count == Self.rows.count)
        let known = Set(declared + library)
        let unknown = Self.rows.filter { row in
            !known.contains(row) && !["predicate ", "format "].contains(where: row.hasPrefix)
        }
        #expect(unknown.isEmpty, "rows of no function: \(unknown.joined(separator: ", "))")
    }

    /// The functions of Lua's library that a script sees, and the methods of its files.
    private static func library() throws -> [String] {
        let scratch = try TemporaryDirectory()
        let embedding = try Embedding(scratch.file("container"))
        let names = embedding.run(
            """
            local names = {}
            local function add(prefix, table)
                for name, value in pairs(table) do
                    if type(value) == "function" and not name:find("^__") then names[#names + 1] = prefix .. name end
                end
            end
            for _, module in ipairs{ "coroutine", "debug", "io", "math", "os", "string", "table", "utf8" } do
                add(module .. ".", _G[module])
            end
            for _, name in ipairs{ "assert", "collectgarbage", "error", "getmetatable", "ipairs", "load", "next", "pairs",
                "pcall", "rawequal", "rawget", "rawlen", "rawset", "select", "setmetatable", "tonumber", "tostring", "type",
                "xpcall" } do
                names[#names + 1] = name
            end
            add("file:", getmetatable(io.stdout).__index)
            return table.concat(names, " ")
            """)
        return names.split(separator: " ").map(String.init)
    }

    @Test("each operator and option of predicates has a row")
    func operators() {
        expect(
            PredicateOperator.allCases.map { "predicate \($0.rawValue)" }
                + ["c", "d", "n", "l"].map { "predicate ==[\($0)]" }
                + ["ANY", "ALL", "NONE", "SUBQUERY", "FUNCTION"].map { "predicate \($0)" }, "operators")
    }

    @Test("each format that is read has a row")
    func formats() {
        expect(ItemFileFormat.allCases.map { "format \($0.rawValue)" } + ["format picture"], "formats")
    }
}
