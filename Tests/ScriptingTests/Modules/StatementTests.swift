import Foundation
import Scripting
import TestSupport
import Testing

/// The household's statements of SQL, whose answers DuckDB gave.
@Suite("Statements of SQL that DuckDB answered, too")
struct StatementTests {
    private static let fixtures = Project.root + "/Tests/Fixtures/statements/household"

    @Test("the same rows")
    func same() throws {
        let scratch = try TemporaryDirectory()
        let embedding = try Embedding(scratch.file("container")) { $0.readable = [Project.root] }
        defer { embedding.end() }
        let imported = embedding.run("items:import('\(Project.root)/examples/data/household.csv')")
        #expect(!imported.hasPrefix("error"), "\(imported)")
        let statements = try String(contentsOfFile: Self.fixtures + ".sql", encoding: .utf8).split(separator: ";\n")
        let answers = try String(contentsOfFile: Self.fixtures + ".jsonl", encoding: .utf8).split(separator: "\n")
        try #require(statements.count == answers.count && statements.count == 12)
        for (statement, answer) in zip(statements, answers) {
            // Reals were added in another order.
            let said = embedding.run(
                """
                local function same(one, other)
                  if math.type(one) == "float" or math.type(other) == "float" then
                    return math.abs(one - other) <= 1e-9 * math.abs(other)
                  end
                  return one == other
                end
                local answer, rows = json.decode([==[\(answer)]==]).rows, sql([==[\(statement)]==])
                if #rows ~= #answer then return #rows .. " rows" end
                for number, row in ipairs(rows) do
                  for place, column in ipairs(rows.columns) do
                    local wanted, found = answer[number][place], row[column]
                    if wanted == null then wanted = nil end
                    if not same(found, wanted) then return ("row %d: %s, not %s"):format(number, found, wanted) end
                  end
                end
                return "same"
                """)
            #expect(said == "same", "\(statement)")
        }
    }
}
