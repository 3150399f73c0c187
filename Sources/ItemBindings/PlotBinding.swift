import Images
import Items
import Lua
import Plots
import PropertyList
import Scripting
import Wording

extension Plot.Kind: LuaRepresentable {}
extension Plot.Order: LuaRepresentable {}

/// `query:plot`, `groups:plot`, and the plots that they return.
enum PlotBinding {
    /// Options of `plot`.
    private struct Options: LuaOptions {
        var x: String?
        var y: String?
        var kind: Plot.Kind?
        var order: Plot.Order?

        static var luaOptions: [LuaOption<Options>] {
            LuaOption("x", \.x, doc: "the field or expression across")
            LuaOption("y", \.y, doc: "the field or expression upwards; bars add it up")
            LuaOption(
                "kind", \.kind,
                doc:
                    "default: a number alone is a histogram, a date and a number a line, a text and a number bars, two numbers a scatter plot"
            )
            LuaOption("order", \.order, doc: "the order of bars (default: data)")
        }
    }

    /// Options of `groups:plot`.
    private struct GroupOptions: LuaOptions {
        var y: String?
        var kind: Plot.Kind?
        var order: Plot.Order?

        static var luaOptions: [LuaOption<GroupOptions>] {
            LuaOption("y", \.y, doc: "the field or expression to add up (default: the number of items)")
            LuaOption("kind", \.kind, doc: "default: a line for dates, otherwise bars")
            LuaOption("order", \.order, doc: "the order of bars (default: data)")
        }
    }

    /// Options of `plot:text`.
    private struct TextSize: LuaOptions {
        var width = 80
        var height = 20

        static var luaOptions: [LuaOption<TextSize>] {
            LuaOption("width", \.width, doc: "in characters, 20 to 1000 (default: 80)")
            LuaOption("height", \.height, doc: "the maximum number of lines, 8 to 500 (default: 20)")
        }
    }

    /// Options of `plot:save`.
    private struct PictureSize: LuaOptions {
        var width = 800
        var height = 480

        static var luaOptions: [LuaOption<PictureSize>] {
            LuaOption("width", \.width, doc: "in pixels, 200 to 8192 (default: 800)")
            LuaOption("height", \.height, doc: "in pixels, 120 to 8192 (default: 480)")
        }
    }

    // MARK: The class

    static func declareClass(in host: ScriptHost) {
        let cls = LuaClass<Plot>(
            Plot.luaName, doc: "A picture of numbers. The prompt draws it, and print writes it as text.",
            in: host.state,
            kind: .box)
        cls.property("kind", doc: "What is drawn.", get: { $0.kind })
        cls.property("title", doc: "One line.", get: { $0.title })
        cls.property(
            "remarks", doc: "What is left out and why, a sentence each: shown below the picture.", get: { $0.remarks })
        cls.method(
            "text", ["options": "the size"], doc: "The plot as lines of text, without colours.",
            example:
                "items:randomItem() return items:query():plot{ x = \"valueInDollars\" }:text{ width = 60, height = 12 }"
        ) { (plot, size: TextSize) in
            try check(size.width, 20...1000, "width")
            try check(size.height, 8...500, "height")
            return plot.text(width: size.width, height: size.height)
        }
        cls.method(
            "save",
            ["path": "the file's path, which ends in .svg or .png", "options": "the size of the picture"],
            doc: "Writes the plot to a file, atomically; true, or nil and an error. PNG needs libvips and a font.",
            example:
                "items:randomItem() return items:query():plot{ x = \"valueInDollars\" }:save(app.container.tmp .. \"/plot.svg\")"
        ) { [unowned host] (plot, path: String, size: PictureSize) in
            try check(size.width, 200...8192, "width")
            try check(size.height, 120...8192, "height")
            return try save(plot, path, size, host)
        }
        cls.metamethod("__tostring") { plot, call in call.returns(plot.summary) }
    }

    private static func check(_ number: Int, _ range: ClosedRange<Int>, _ option: String) throws(LuaMismatch) {
        guard !range.contains(number) else { return }
        throw LuaMismatch(
            "option '\(option)': \(range.lowerBound) to \(range.upperBound) expected, got \(number)",
            argument: "options")
    }

    private static func save(
        _ plot: Plot, _ path: String, _ size: PictureSize, _ host: ScriptHost
    ) throws -> OrError<Bool> {
        let name = String(decoding: path.utf8.suffix(8), as: UTF8.self).lowercased()
        if name.hasSuffix(".svg") {
            return try host.write(Array(plot.svg(width: size.width, height: size.height).utf8), to: path)
        }
        guard name.hasSuffix(".png") else {
            throw LuaMismatch(
                "the extension of '\(path.shortened(to: 4096))' names no picture: write .svg or .png", argument: "path")
        }
        let bytes: [UInt8]
        do throws(ImageError) {
            let drawn = try plot.picture(width: size.width, height: size.height, limits: host.images.limits)
            bytes = try drawn.image.pngData()
            report(drawn.missingCharacters, path, host)
        } catch { return .failure(error) }
        return try host.write(bytes, to: path)
    }

    /// Tells of the characters that no font has.
    private static func report(_ characters: [Unicode.Scalar], _ path: String, _ host: ScriptHost) {
        if characters.isEmpty { return }
        let shown = characters.prefix(8).map { VisibleText.line(String($0)) }.joined(separator: " ")
        let rest = characters.count > 8 ? " …" : ""
        host.report([
            "\(path.shortened(to: 200)): no installed font has \(characters.count.counted("character")) of the texts, and boxes are in their place: \(shown)\(rest)"
        ])
    }

    /// Makes a plot; a script's mistake is one of its options.
    static func checked<Value>(_ make: () throws(PlotError) -> Value) throws -> Value {
        do throws(PlotError) { return try make() } catch {
            let option = error.option.map { "option '\($0)': " } ?? ""
            throw LuaMismatch("\(option)\(error.description)", argument: "options")
        }
    }

    // MARK: Queries

    static func declare(on cls: LuaClass<ItemQuery>, _ classes: ItemClasses) {
        cls.method(
            "plot", ["options": "what to draw"],
            doc:
                "A picture of the items' values. What is not given is chosen by their kinds, and said below it, as are items that are left out.",
            example:
                "items:createItem{ name = \"Lamp\", room = \"Study\", valueInDollars = 9 } print(items:query():plot{ x = \"room\", y = \"valueInDollars\" })"
        ) { [unowned host = classes.host] (query, options: Options) in try plot(of: query, options, host) }
    }

    private static func plot(of query: ItemQuery, _ options: Options, _ host: ScriptHost) throws -> Plot {
        try plot("item", options, host, among: { try candidates(of: query) }) { names in
            let values = try query.values(of: names.map { name throws(StoreError) in try query.store.key(name) })
            return zip(names, values).map { name, values in
                PlotColumn(name: name, values: values, unit: query.store.plotUnit(of: name))
            }
        }
    }

    /// A plot of the columns that options name, or else of those chosen among candidates.
    private static func plot(
        _ noun: String, _ options: Options, _ host: ScriptHost, pairs: Bool = false,
        among candidates: () throws -> [(name: String, kind: PlotValueKind)],
        columns: (_ names: [String]) throws -> [PlotColumn]
    ) throws -> Plot {
        var choice: PlotChoice?
        if options.x == nil || options.y == nil && (options.kind == .line || options.kind == .scatter) {
            let candidates = try candidates()
            choice = try checked { () throws(PlotError) in
                try PlotChoice(x: options.x, y: options.y, kind: options.kind, among: candidates, pairs: pairs)
            }
        }
        let (x, y) = (choice?.x ?? options.x, choice.map(\.y) ?? options.y)
        let columns = try columns((x == y ? [x] : [x, y]).compactMap(\.self))
        return try checked { () throws(PlotError) in
            try Plot(
                columns: columns, x: x, y: y, kind: choice?.kind ?? options.kind, order: options.order ?? .data,
                noun: noun, isChosen: choice?.isChosen ?? false, offset: { host.values.clock.offset(at: $0) })
        }
    }

    /// The fields to choose from, the preferred first: the value, fields of the user's, the date; those with several
    /// values before those with one.
    private static func candidates(of query: ItemQuery) throws -> [(name: String, kind: PlotValueKind)] {
        var fields = try query.describe().filter { !["itemKey", "serialNumber", "images"].contains($0.field) }
        let rank = ["valueInDollars": 0, "dateCreated": 2, "name": 3]
        fields = fields.enumerated().sorted {
            let ranks = [$0, $1].map { ($0.element.distinct > 1 ? 0 : 1, rank[$0.element.field] ?? 1, $0.offset) }
            return ranks[0] < ranks[1]
        }.map(\.element)
        if fields.isEmpty { return [("valueInDollars", .nothing)] }
        return fields.map { field in
            let kind: PlotValueKind =
                switch field.kind {
                case .integer, .real, .number: .number
                case .date: .date
                case .string, .boolean: .category
                case .data, .array, .dictionary, .any, nil: .nothing
                }
            return (field.field, kind)
        }
    }

    // MARK: Rows of a statement

    static func declare(on cls: LuaClass<SQLRows>, in host: ScriptHost) {
        cls.method(
            "plot", ["options": "what to draw, by the names of columns"],
            doc:
                "A picture of the rows' values: of a name or a date and a number, as a grouping statement gives them, a bar or a point for each row. What is not given is chosen by their kinds, and said below it.",
            example:
                "items:createItem{ name = \"Lamp\", valueInDollars = 9 } print(sql(\"select name, sum(valueInDollars) total from items group by name\"):plot())"
        ) { [unowned host] (rows: SQLRows, options: Options) in try plot(of: rows, options, host) }
    }

    private static func plot(of rows: SQLRows, _ options: Options, _ host: ScriptHost) throws -> Plot {
        // A statement's first columns are what it is about.
        let candidates = {
            rows.columns.prefix(16).map { ($0, column($0, of: rows, host)?.kind ?? .nothing) }
        }
        return try plot("row", options, host, pairs: true, among: candidates) { names in
            try names.map { name in
                if let column = column(name, of: rows, host) { return column }
                throw LuaMismatch(
                    "the rows have no column '\(name)'\(NearestNames.hint(for: name, among: rows.columns))",
                    argument: "options")
            }
        }
    }

    /// A column of the rows; nil for a name that none has. A money field keeps its format.
    private static func column(_ name: String, of rows: SQLRows, _ host: ScriptHost) -> PlotColumn? {
        guard let place = rows.columns.firstIndex(where: { $0.utf8.elementsEqual(name.utf8) }) else { return nil }
        let values = (0..<rows.count).map { row in rows.withCell(row, place) { cell in cell.value } }
        return PlotColumn(name: name, values: values, unit: host.items.plotUnit(of: name)).readingDates
    }

    // MARK: Groups

    static func declare(on cls: LuaClass<GroupsValue>, _ classes: ItemClasses) {
        cls.method(
            "plot", ["options": "what to draw"],
            doc: "A picture of the groups: the number of the items of each, or the sum of a field.",
            example:
                "items:randomItem() print(items:query():groupBy(\"name\"):plot{ y = \"valueInDollars\", order = \"value\" })"
        ) { [unowned host = classes.host] (groups, options: GroupOptions) in try plot(of: groups, options, host) }
    }

    private static func plot(of value: GroupsValue, _ options: GroupOptions, _ host: ScriptHost) throws -> Plot {
        var across = PlotColumn(name: value.keys.joined(separator: ", "), values: value.groups.map(\.key))
        if value.keyCount > 1 {
            across.values = value.groups.map { group in
                .string(group.keys.map { $0.map { host.plotLabel($0) } ?? "–" }.joined(separator: ", "))
            }
        }
        var upwards = PlotColumn(name: "count", values: value.groups.map { .integer(Int64($0.count)) })
        if let field = options.y {
            let sums = try value.groups.aggregate(["sum(\(field))"]).map { $0[0] }
            upwards = PlotColumn(name: "sum of \(field)", values: sums, unit: host.items.plotUnit(of: field))
        }
        // A key may have the same name.
        while upwards.name == across.name { upwards.name += " " }
        let isDate = across.kind == .date
        return try checked { () throws(PlotError) in
            try Plot(
                columns: [across, upwards], x: across.name, y: upwards.name,
                kind: options.kind ?? (isDate ? .line : .bar),
                order: options.order ?? .data, noun: "group", offset: { host.values.clock.offset(at: $0) })
        }
    }
}

extension ScriptHost {
    /// A key of a group of several keys, as part of a category's name.
    fileprivate func plotLabel(_ value: PropertyListValue) -> String {
        switch value {
        case .string(let text): text
        case .date(let date): shortText(date)
        case .real(let number): LuaValueText.text(number)
        case .boolean(let flag): flag ? "true" : "false"
        case .integer(let number): String(number)
        case .wideInteger(let number): String(number)
        case .single(let number): "\(number)"
        default: value.text ?? "…"
        }
    }
}
