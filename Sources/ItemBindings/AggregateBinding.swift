import Items
import Lua
import PropertyList
import Scripting

/// Functions of many items: the same methods for queries and for groups, and tables of functions.
enum AggregateBinding {
    /// What `aggregate` takes.
    static let functions: LuaArguments = [
        "functions": """
        by the results' names: count(), count(condition), and sum, average, median, min, max, stddev, variance of a field \
        or an expression, as sum(f), and percentile(f, 90); each may have a condition as its last argument: \
        sum(f, room == 'Attic')
        """
    ]

    /// Declares the methods on a class.
    ///
    /// - Parameters:
    ///   - cls: queries, or groups.
    ///   - key: the argument that all of them take.
    ///   - example: makes a value of the class.
    ///   - values: converts results.
    ///   - store: the items' store.
    ///   - text: the key's text.
    static func declare<Owner: ItemAggregating, Key: LuaRepresentable>(
        on cls: LuaClass<Owner>, _ key: LuaArguments, example: String, _ values: ValueBridge,
        store: @escaping (Owner) -> ItemStore, text: @escaping (Key) -> String
    ) {
        let example = "items:randomItem() return \(example)"
        cls.method(
            "sum", key, returns: [.number],
            doc:
                "The sum of a key's numbers; an integer if all are integers and it fits 64 bits. Other values are left out, with a warning.",
            example: example + ":sum(\"valueInDollars\")"
        ) { (value, key: Key) in try values.readOnly(value.sum(text(key))) }
        cls.method(
            "average", key,
            doc: "The mean of a key's numbers; nil without any. Other values are left out, with a warning.",
            example: example + ":average(\"valueInDollars\")"
        ) { (value, key: Key) in try value.average(text(key)) }
        cls.method(
            "median", key, returns: [.optional(.number)],
            doc:
                "The median of a key's numbers: one of them, or the mean of the two in the middle; nil without any. Other values are left out, with a warning.",
            example: example + ":median(\"valueInDollars\")"
        ) { (value, key: Key) in try values.readOnly(value.value(of: ItemAggregate(.median, text(key)))) }
        cls.method(
            "stddev", key,
            doc:
                "The standard deviation of what a key's numbers are a sample of; nil for fewer than two. Other values are left out, with a warning.",
            example: example + ":stddev(\"valueInDollars\")"
        ) { (value, key: Key) in try value.standardDeviation(text(key)) }
        cls.method(
            "variance", key, doc: "The square of stddev; nil for fewer than two numbers.",
            example: example + ":variance(\"valueInDollars\")"
        ) { (value, key: Key) in try value.variance(text(key)) }
        cls.method(
            "min", key, returns: [.any],
            doc: "The least value of a key, of its most frequent kind; nil without items.",
            example: example + ":min(\"valueInDollars\")"
        ) { (value, key: Key) in
            let key = text(key)
            return try values.readOnly(value.min(key), isDay: store(value).hasDays(key))
        }
        cls.method(
            "max", key, returns: [.any],
            doc: "The greatest value of a key, of its most frequent kind; nil without items.",
            example: example + ":max(\"dateCreated\")"
        ) { (value, key: Key) in
            let key = text(key)
            return try values.readOnly(value.max(key), isDay: store(value).hasDays(key))
        }
        cls.method(
            "percentile",
            ["key": "a field, or an expression such as width * height", "percent": "a percentage from 0 to 100"],
            returns: [.optional(.number)],
            doc:
                "The number below which a percentage of a key's numbers are, interpolated between two of them; nil without any. Other values are left out, with a warning.",
            example: example + ":percentile(\"valueInDollars\", 90)"
        ) { (value, key: String, percent: Double) in
            guard percent >= 0, percent <= 100 else {
                throw LuaMismatch("a percentage from 0 to 100 expected, got \(percent)", argument: "percent")
            }
            return try values.readOnly(value.value(of: ItemAggregate(.percentile, key, percent: percent)))
        }
        cls.method(
            "aggregate", functions, returns: [.table], doc: "A table with the results of several functions.",
            example: example + ":aggregate{ n = \"count(valueInDollars > 50)\", middle = \"median(valueInDollars)\" }.n"
        ) { (value, functions: LuaTable) in
            let functions = try parsed(functions)
            let row = values.state.makeTable(fields: functions.count)
            let aggregates = functions.map { ItemAggregate($0.text) }
            let results = try value.values(of: aggregates)
            let haveDays = try store(value).haveDays(aggregates)
            for (place, result) in results.enumerated() {
                row[functions[place].name] = try values.readOnly(result, isDay: haveDays[place])
            }
            return row
        }
    }

    /// The functions of a table, by the results' names.
    static func parsed(_ functions: LuaTable) throws -> [(name: LuaValue, text: String)] {
        var found: [(name: LuaValue, text: String)] = []
        try functions.forEach { name, function in
            guard let text = function.textValue else {
                throw LuaMismatch("a function's text expected, such as \"sum(valueInDollars)\"", argument: "functions")
            }
            found.append((name, text))
            return true
        }
        return found
    }
}
