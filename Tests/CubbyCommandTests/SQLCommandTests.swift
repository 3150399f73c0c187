import CommandTestSupport
import Foundation
import TestSupport
import Testing

/// `cubby sql TEXT`: statements of the command line.
@Suite("The command sql")
struct SQLCommandTests {
    let program: Program

    init() throws {
        program = try Program()
        let setUp = """
            items:createItem{ name = "Lamp", room = "Attic", valueInDollars = 65 }
            items:createItem{ name = "Chair", room = "Kitchen", valueInDollars = 40 }
            items:createItem{ name = "Box | 2" }
            """
        #expect(try program("-e", setUp).status == .exited(0))
    }

    private static let statement = "select name, room, valueInDollars v from items order by v desc"

    @Test(
        "each format has every column of every row in the statement's order",
        arguments: [
            (
                "table",
                " #  name     room      v\n 1  Lamp     Attic    65\n 2  Chair    Kitchen  40\n 3  Box | 2  NULL      0\n3 rows\n"
            ),
            ("csv", "name,room,v\r\nLamp,Attic,65\r\nChair,Kitchen,40\r\nBox | 2,,0\r\n"),
            ("tsv", "name\troom\tv\r\nLamp\tAttic\t65\r\nChair\tKitchen\t40\r\nBox | 2\t\t0\r\n"),
            (
                "jsonl",
                "{\"name\":\"Lamp\",\"room\":\"Attic\",\"v\":65}\n{\"name\":\"Chair\",\"room\":\"Kitchen\",\"v\":40}\n{\"name\":\"Box | 2\",\"room\":null,\"v\":0}\n"
            ),
            (
                "markdown",
                "| name | room | v |\n| --- | --- | ---: |\n| Lamp | Attic | 65 |\n| Chair | Kitchen | 40 |\n| Box \\| 2 |  | 0 |\n"
            ),
        ])
    func formats(format: String, text: String) throws {
        let output = try program("sql", Self.statement, "--format", format)
        #expect(output.stdout == text && output.stderr.isEmpty && output.status == .exited(0), "\(output.stderr)")
        // From standard input it is the same.
        #expect(try program("sql", "--format", format, "-", input: Self.statement + ";\n").stdout == text)
    }

    @Test("json is an array, also of nothing")
    func json() throws {
        let output = try program("sql", "select room from items where room is null", "--format", "json")
        #expect(output.stdout == "[\n  {\n    \"room\" : null\n  }\n]\n")
        #expect(try program("sql", "select room from items where 0", "--format", "json").stdout == "[\n\n]\n")
        #expect(try program("sql", "select room from items where 0").stdout == "no rows\n")
    }

    @Test("an infinity is an error that names the option, by which it is null; a table has it")
    func infinities() throws {
        let statement = "select 9e999 a, 1 b"
        for format in ["json", "csv"] {
            let refused = try program("sql", statement, "--format", format)
            #expect(refused.status == .exited(1) && refused.stdout.isEmpty)
            #expect(refused.stderr.contains("row 1, column a: ") && refused.stderr.contains("--nan null"))
        }
        let written = try program("sql", statement, "--format", "jsonl", "--nan", "null")
        #expect(written.stdout == "{\"a\":null,\"b\":1}\n" && written.status == .exited(0))
        #expect(written.stderr.contains("1 number infinite: written as null"), "\(written.stderr)")
        #expect(try program("sql", statement, "--format", "csv", "--nan", "null").stdout == "a,b\r\n,1\r\n")
        #expect(try program("sql", statement).stdout.contains("inf"))
        for wrong in [
            ["--nan", "null"], ["--nan", "0", "--format", "json"], ["--param", "a=1", "--param", "$a=2"],
        ] {
            #expect(try program(["sql", statement] + wrong).status == .exited(64))
        }
    }

    @Test(
        "parameters are numbers or texts, by name or by number",
        arguments: [
            (["select typeof($x) t, $x v", "--param", "x=12"], "integer,12"),
            (["select typeof($x) t, $x v", "--param", "$x=1.50"], "real,1.5"),
            (["select typeof($x) t, $x v", "--param", "x=-3e2"], "real,-300.0"),
            (["select typeof($x) t, $x v", "--param", "x=007"], "text,007"),
            (["select typeof($x) t, $x v", "--param", "x=99999999999999999999"], "text,99999999999999999999"),
            (["select typeof($x) t, $x v", "--param", "x=9007199254740993.0"], "text,9007199254740993.0"),
            (["select typeof($x) t, $x v", "--param", "x=0.99999999999999999"], "text,0.99999999999999999"),
            (["select typeof($x) t, $x v", "--param", "x=1e-400"], "text,1e-400"),
            (["select typeof($x) t, $x v", "--param", "x=0.1"], "real,0.1"),
            (["select typeof($x) t, $x v", "--param", "x='12'"], "text,12"),
            (["select typeof($x) t, $x v", "--param", "x=a=b"], "text,a=b"),
            (["select typeof($x) t, $x v", "--param", "x="], "text,"),
            (["select ? || ? t, :n v", "--param", "1=a", "--param", "2=b", "--param", "3=c"], "ab,c"),
            (["select :a t, @b v", "--param", "a=1", "--param", "b=it's"], "1,it's"),
        ])
    func parameters(words: [String], row: String) throws {
        let output = try program(["sql"] + words + ["--format", "csv"])
        #expect(output.stdout == "t,v\r\n\(row)\r\n", "\(output.stderr)")
    }

    @Test("a dry run shows what would change, and changes nothing; rows are those of the statement")
    func dryRun() throws {
        let shown = try program("sql", "--dry-run", "delete from items where room = 'Attic'")
        #expect(shown.status == .exited(0) && shown.stdout.contains("Lamp"), "\(shown.stdout)\(shown.stderr)")
        let counted = try program("sql", "select count(*) n from items", "--format", "csv", "--dry-run")
        #expect(counted.stdout == "n\r\n3\r\n")
    }

    @Test("a change is saved, and says how many")
    func changes() throws {
        let changed = try program("sql", "update items set room = 'Cellar' where room is not null")
        #expect(changed.stdout == "2 items changed\n" && changed.status == .exited(0), "\(changed.stderr)")
        #expect(program.isSaved)
        #expect(try program("-e", "items:query(\"room == 'Cellar'\"):count()").stdout == "2\n")
        #expect(try program("sql", "delete from items where 0").stdout == "0 items changed\n")
    }

    @Test("a read leaves a running container alone, a change does not get in")
    func running() throws {
        let host = try program.host("items:createItem{ name = 'Fresh' } app:run()")
        defer { host.terminate() }
        let output = try program("sql", "select count(*) n from items", "--format", "csv")
        #expect(output.stdout == "n\r\n4\r\n" && output.status == .exited(0), "\(output.stderr)")
        let denied = try program("sql", "delete from items")
        #expect(denied.status == .exited(75) && denied.stderr.contains("is in use"), "\(denied.stderr)")
        #expect(try program("attach", "-e", "select count(*) n from items").stdout.hasSuffix(" 4\n1 row\n"))
    }

    @Test(
        "a mistake has its place, a hint and a status",
        arguments: [
            (
                "select nmae from items", 64,
                ["no such column: nmae; did you mean 'name'? (column 8)", "\n           ^"]
            ),
            ("select name form items", 64, ["syntax error", "select name form items"]),
            ("select", 64, ["not complete"]), ("", 64, []), ("select $x", 64, ["1 parameter"]),
            ("drop table items", 64, []), ("select * from csv('/etc/passwd')", 74, ["--allow-read"]),
        ])
    func mistakes(text: String, status: Int32, words: [String]) throws {
        let output = try program("sql", text)
        #expect(output.status == .exited(status) && output.stdout.isEmpty, "\(output.stderr)")
        #expect(output.stderr.hasPrefix("cubby: "), "\(output.stderr)")
        for word in words { #expect(output.stderr.contains(word), "\(output.stderr)") }
        #expect(!output.stderr.contains("traceback"))
    }

    @Test(
        "an option that is none is refused", arguments: [["--format", "xml"], ["--param", "x"], ["--param", "2=a"]])
    func options(words: [String]) throws {
        #expect(try program(["sql", "select 1"] + words).status == .exited(64))
    }

    @Test("a file is a table where reading it is allowed")
    func files() throws {
        let path = try program.scratch.write("name,n\nLamp,2\nNone,3\n", to: "a.csv")
        let output = try program(
            "sql", "--allow-read", path, "--format", "csv",
            "select i.room, f.n from csv('\(path)') f join items i on i.name = f.name")
        #expect(output.stdout == "room,n\r\nAttic,2\r\n", "\(output.stderr)")
    }

    @Test(
        "a stream is a table, also where the container is only read",
        arguments: [["csv('-')"], ["csv('/dev/stdin')"], ["csv('-')", "--read-only"]])
    func streams(words: [String]) throws {
        let statement = "select i.room, f.n from \(words[0]) f join items i on i.name = f.name"
        let output = try program(
            ["sql", statement, "--format", "csv"] + words.dropFirst(), input: "name,n\nLamp,2\nNone,3\n")
        #expect(output.stdout == "room,n\r\nAttic,2\r\n" && output.status == .exited(0), "\(output.stderr)")
    }

    @Test("the doctor tells the version of SQLite")
    func doctor() throws {
        let lines = try program("doctor").stdout.split(separator: "\n")
        #expect(lines.contains { $0.hasPrefix("SQL ") && $0.contains("SQLite 3.") }, "\(lines)")
    }

    @Test("it begins with nothing, and writes nothing for a read of a new container's items")
    func fresh() throws {
        let other = try Program()
        #expect(try other("sql", "select count(*) n from items", "--format", "csv").stdout == "n\r\n0\r\n")
        #expect(try other("sql", "--container", ":memory:", "select 1 + 1 n", "--format", "csv").stdout == "n\r\n2\r\n")
    }
}
