import ItemsTestSupport
import PredicateFormat
import PropertyList
import Testing

@testable import ColumnEngine
@testable import ItemArchive
@testable import Items

/// A query's plan: what is drawn of it, without times, and what its counts are.
@Suite("Plans of queries")
struct ItemQueryPlanTests {
    let store = ItemStore()

    /// 1,000 items: 4 departments, years from 1900 to 1999, real widths, a title each; every fortieth is signed.
    init() throws {
        for number in 0..<1000 {
            var custom: PropertyListFields = [
                "department": .string("department \(number % 4)"), "year": .integer(Int64(1900 + number % 100)),
                "width": .real(Double(number) / 8), "title": .string("Title of the object \(number) of a thousand"),
                "size": .dictionary(["w": .integer(Int64(number % 7))]),
            ]
            if number % 40 == 0 { custom["signed"] = .string("yes") }
            try store.createItem(
                ItemFields(
                    name: "n\(number)", valueInDollars: Int64(number % 100), itemKey: "k\(number)", custom: custom))
        }
    }

    private func drawn(_ query: ItemQuery) throws -> String {
        ItemQueryPlanPrinter(showsTimes: false).text(of: try query.explain())
    }

    private func expect(
        _ query: ItemQuery, _ expected: String, sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        let text = try drawn(query)
        #expect(text == expected, sourceLocation: sourceLocation)
    }

    // MARK: Conditions

    @Test(
        "a condition says what it reads",
        arguments: [
            ("year > 1989", 100, "column of integers"),
            ("width > 100", 199, "column of reals"),
            ("dateCreated != nil", 1000, "presence in a column of dates"),
            ("department == \"department 1\"", 250, "column of texts, dictionary of 4"),
            ("title CONTAINS \"99\"", 19, "column of texts, dictionary of 1,000"),
            ("name ENDSWITH \"9\"", 100, "column of texts"),
            ("year != nil", 1000, "presence in a column of integers"),
            ("width * 2 > 200", 199, "computed from columns"),
            ("size.w == 3", 143, "item by item: key path"),
            ("name == department", 0, "item by item: no constant on either side"),
            ("itemKey ENDSWITH \"00\"", 9, "item by item: keys"),
            ("ANY size == 3", 143, "item by item: ANY of a collection"),
        ])
    func conditions(format: String, kept: Int, note: String) throws {
        let plan = try store.query(FormatPredicate(format: format)).explain()
        #expect(plan.operation == .filter && plan.detail == format && plan.remark == note)
        #expect(plan.rowsIn == 1000 && plan.rowsOut == kept)
        #expect(plan.children.map(\.operation) == [.scan])
    }

    @Test("a field that few items have")
    func rareField() throws {
        let query = try store.query(FormatPredicate(format: "signed == 'yes'"))
        #expect(try query.explain().rowsOut == 25)
        #expect(try query.explain().remark == "item by item: rare field, in the items' own blocks")
    }

    @Test("joined conditions are in the order of their evaluation, and each has only what those before it left")
    func joined() throws {
        try expect(
            store.query(
                FormatPredicate(
                    format: "title CONTAINS '9' AND year > 1989 AND (department == 'department 1' OR NOT width < 100)")
            ).sorted("year", descending: true).sorted("name").offset(2).limit(10),
            """
            limit 10                                   10 →    10 rows
            └ offset 2                                 12 →    10 rows
              └ sort by year descending, name          36 →    12 rows  column of integers; column of texts
                └ filter                            1,000 →    36 rows  1 thread
                  ├ year > 1989                     1,000 →   100 rows  column of integers
                  ├ title CONTAINS "9"                100 →   100 rows  column of texts, dictionary of 1,000
                  ├ any of                            100 →    36 rows
                  │ ├ department == "department 1"    100 →    20 rows  column of texts, dictionary of 4
                  │ └ not                              80 →    16 rows
                  │   └ width < 100                    80 →    64 rows  column of reals
                  └ scan of all items                       1,000 rows
            """)
    }

    // MARK: Order

    @Test("a sort says by what, and how many it kept")
    func sorts() throws {
        try expect(
            store.query().sorted("title").limit(3),
            """
            limit 3                    3 →     3 rows
            └ sort by title        1,000 →     3 rows  column of texts, dictionary of 1,000
              └ scan of all items          1,000 rows
            """)
        try expect(
            store.query().sorted("width * 2").sorted("name", descending: true),
            """
            sort by width * 2, name descending  1,000 → 1,000 rows  computed; column of texts
            └ scan of all items                         1,000 rows
            """)
        try expect(
            store.query(FormatPredicate(format: "year == 1999")).sorted(store.key { try $0.value(forField: "title") }),
            """
            sort by a function        10 →    10 rows  item by item
            └ filter year == 1999  1,000 →    10 rows  column of integers, 1 thread
              └ scan of all items          1,000 rows
            """)
    }

    // MARK: Item by item

    @Test("a limit stops the search, and a function is asked of one item after another")
    func itemByItem() throws {
        try expect(
            store.query(FormatPredicate(format: "year > 1949")).offset(1).limit(2),
            """
            limit 2                   2 →  2 rows
            └ offset 1                3 →  2 rows
              └ filter year > 1949   53 →  3 rows  item by item: stops at the limit, 1 thread
                └ scan of all items       53 rows
            """)
        try expect(
            store.query(FormatPredicate(format: "year > 1949")).filter { try $0.name.hasSuffix("7") },
            """
            filter               1,000 →    50 rows  1 thread
            ├ year > 1949        1,000 →   500 rows  item by item: a function may change items
            ├ a function           500 →    50 rows  item by item: a function
            └ scan of all items          1,000 rows
            """)
        try expect(
            store.query().limit(0),
            """
            limit 0              0 → 0 rows
            └ scan of all items      0 rows
            """)
    }

    // MARK: Indexes

    @Test("an index says which conditions it answers, and the range of it that is taken")
    func indexes() throws {
        try store.createIndex("valueInDollars")
        try store.createIndex("name")
        for (format, expected) in [
            (
                "valueInDollars > 97",
                """
                index valueInDollars > 97     20 rows  ranks 981 to 1,000 of 1,000
                """
            ),
            (
                "valueInDollars > 97 AND name ENDSWITH '8'",
                """
                filter                       20 → 10 rows  1 thread
                ├ valueInDollars > 97        20 → 20 rows  column of integers
                ├ name ENDSWITH "8"          20 → 10 rows  column of texts
                └ index valueInDollars > 97       20 rows  ranks 981 to 1,000 of 1,000
                """
            ),
            (
                "valueInDollars > 50 AND name == 'n77'",
                """
                filter                 1 → 1 row   1 thread
                ├ valueInDollars > 50  1 → 1 row   column of integers
                ├ name == "n77"        1 → 1 row   column of texts
                └ index name == "n77"      1 row   rank 746 of 1,000
                """
            ),
            (
                "name IN {'n1', 'n2', 'x'}",
                """
                index name IN {"n1", "n2", "x"}     2 rows  rank 2 and 1 other range of 1,000
                """
            ),
            (
                "valueInDollars == 5000",
                """
                index valueInDollars == 5000     0 rows  no rank of 1,000
                """
            ),
            (
                "itemKey == 'k7'",
                """
                filter itemKey == "k7"   1 → 1 row   item by item: keys, 1 thread
                └ keys: itemKey == "k7"      1 row
                """
            ),
            (
                "itemKey IN {'k7', 'k9'} AND name == 'n9'",
                """
                filter                           2 → 1 row   1 thread
                ├ name == "n9"                   2 → 1 row   column of texts
                ├ itemKey IN {"k7", "k9"}        1 → 1 row   item by item: keys
                └ keys: itemKey IN {"k7", "k9"}      2 rows
                """
            ),
            (
                "name CONTAINS '7'",
                """
                filter name CONTAINS "7"  1,000 →   271 rows  column of texts, 1 thread
                └ scan of all items               1,000 rows
                """
            ),
        ] {
            try expect(store.query(FormatPredicate(format: format)), expected)
        }
    }

    @Test("an index that gives the order")
    func indexOrder() throws {
        try store.createIndex("valueInDollars")
        _ = try store.query().sorted("valueInDollars").explain()
        try expect(
            store.query().sorted("valueInDollars", descending: true).sorted("itemKey", descending: true).offset(1)
                .limit(3),
            """
            limit 3                                                              3 → 3 rows
            └ offset 1                                                           4 → 3 rows
              └ index in order of valueInDollars descending, itemKey descending      4 rows  ranks 997 to 1,000 of 1,000
            """)
        try expect(
            store.query(FormatPredicate(format: "valueInDollars < 50 AND name ENDSWITH '3'")).sorted("valueInDollars")
                .limit(2),
            """
            limit 2                                                    10 →   2 rows
            └ filter valueInDollars < 50 AND name ENDSWITH "3"        131 →  10 rows  item by item: in the index's order, 1 thread
              └ index valueInDollars < 50 in order of valueInDollars        131 rows  ranks 1 to 500 of 1,000
            """)
    }

    // MARK: Mapped archives, times

    @Test("texts in a mapped archive are read where they lie the first time")
    func mapped() throws {
        let folder = try StoreFolder()
        let first = try folder.open(mapped: true)
        for number in 0..<2000 { try first.createItem(ItemFields(name: "Item \(number)")) }
        try first.saveChanges()
        let store = try folder.open(mapped: true)
        let query = try store.query(FormatPredicate(format: "name ENDSWITH '7'"))
        let notes = try [query.explain().remark, query.explain().remark]
        #expect(
            notes == [
                "texts in the mapped archive, read where they lie", "texts in the mapped archive, kept once read",
            ])
    }

    @Test("times are told where they were measured")
    func times() throws {
        let plan = try store.query(FormatPredicate(format: "year > 1949 AND width > 2")).sorted("title").explain()
        #expect(plan.operation == .sort && plan.duration != nil)
        let filter = try #require(plan.children.first)
        #expect(filter.duration != nil && filter.children.dropLast().allSatisfy { $0.duration != nil })
        #expect(filter.children.last?.duration == nil)
        let timed = ItemQueryPlan(
            operation: .sort, detail: "year", rowsIn: 2, rowsOut: 1, duration: .milliseconds(1234),
            children: [
                ItemQueryPlan(operation: .scan, detail: "", rowsOut: 2, duration: .microseconds(50))
            ])
        #expect(
            timed.description == """
                sort by year         2 → 1 row   1,234.00 ms
                └ scan of all items      2 rows      0.05 ms
                """)
    }

    @Test("a plan that is asked for is the plan that answers", arguments: [false, true])
    func agrees(isIndexed: Bool) throws {
        if isIndexed { try store.createIndex("year") }
        for format in ["year > 1990", "year > 1990 AND title CONTAINS '5'", "size.w == 2 OR year == 1950"] {
            let query = try store.query(FormatPredicate(format: format))
            #expect(try query.explain().rowsOut == query.all().count)
            #expect(try query.sorted("title").limit(5).explain().rowsOut == query.sorted("title").limit(5).all().count)
        }
    }

    @Test("a text of data cannot break the drawing")
    func texts() throws {
        let plan = try store.query(FormatPredicate(format: "name == $x", variables: ["x": .string("a\n\u{1b}[2J")]))
            .explain()
        #expect(plan.description.split(separator: "\n").count == 2)
        #expect(!plan.description.contains("\u{1b}"))
        let long = try store.query(
            FormatPredicate(format: "name == $x", variables: ["x": .string(String(repeating: "x", count: 1000))]))
        #expect(try long.explain().description.split(separator: "\n").allSatisfy { $0.count < 140 })
    }
}
