import Application
import Files
import Items
import Lua
import PropertyList
import SQLite
package import Scripting

/// `sqlite`: databases in files.
package enum SQLiteModule: ScriptModule {
    package static let name = "sqlite"

    private static let statement = [
        LuaParameter("sql", .text, "one statement"),
        LuaParameter(
            "parameters", .optional(.table),
            "values for ? in order, or for :name by name; a date is bound as ISO 8601 text, data as a blob"),
    ]

    package static func declare(in host: ScriptHost) -> [Global] {
        let cls = LuaClass<SQLiteDatabase>("Database", doc: "A SQLite database in a file.", in: host.state)
        declareStatements(on: cls, host)
        cls.method(
            "transaction", ["body": .callback("() → any", "the function that changes the database")],
            doc: "Runs a function as a transaction; an error rolls back its changes and is raised again.",
            example:
                "local db = sqlite.open(app.container.tmp .. \"/a.sqlite\") db:transaction(function() db:execute(\"create table if not exists t(x)\") end) db:close()"
        ) { (database, body: LuaFunction) in
            LuaVariadic<LuaValue>(try stoppable { try database.transaction { try body.call() } })
        }
        cls.method(
            "close", doc: "Closes the database; reading further rows raises an error.",
            example: "sqlite.open(app.container.tmp .. \"/a.sqlite\"):close()"
        ) { $0.close() }
        cls.metamethod("__tostring") { database, call in
            call.returns(database.isOpen ? "Database" : "Database (closed)")
        }
        let module = LuaModule("sqlite", doc: "SQLite databases, within the sandbox's grants.", in: host.state)
        module.function(
            "open",
            [
                LuaParameter("path", .text, "the file's path"),
                LuaParameter(
                    "options",
                    .optional(
                        .options([LuaParameter("readOnly", .boolean, "open an existing database read-only")])),
                    "options for opening"),
            ], returns: LuaType.orError(.object("Database")),
            doc: "Opens a database, or creates it; nil and an error if that fails or the file is not a database.",
            example:
                "local db = assert(sqlite.open(app.container.tmp .. \"/a.sqlite\")) for row in db:rows(\"select 1 + ? as sum\", { 2 }) do print(row.sum) end db:close()"
        ) { [unowned host] call in
            let path = try call.text(0)
            let isReadOnly = try call.option("readOnly", of: 1).isTruthy
            return try failing(call) {
                let access: FenceAccess = isReadOnly ? .read : .readWrite
                let database = try host.recreatingFolders(path, access) {
                    try DatabaseFile.open(host, path, isReadOnly: isReadOnly)
                }
                return call.returns(database, cls)
            }
        }
        return [module.global]
    }

    private static func declareStatements(on cls: LuaClass<SQLiteDatabase>, _ host: ScriptHost) {
        let memory = host.rowMemory
        cls.method(
            "rows", statement, returns: [.callback("() → table")],
            doc:
                "An iterator over the rows of a statement: tables keyed by column name; NULL is nil. A name that an earlier column has is numbered: id, id_2.",
            example:
                "local db = sqlite.open(app.container.tmp .. \"/a.sqlite\") for row in db:rows(\"select :a as a, 'text' as b\", { a = 1.5 }) do print(row.a, row.b) end db:close()"
        ) { [unowned host] database, call in
            let statement = try stoppable { try SQLiteStatement(database, try call.text(0)) }
            try bind(statement, call, host)
            let names = SQLRows.distinct(statement.columns).map(LuaValue.text)
            return call.returns(ownedFunction: { call in
                memory.collect()
                guard try stoppable({ try statement.step() }) else { return call.returns(LuaValue.nil) }
                return call.returns(.table(try row(of: statement, names, host, memory)))
            })
        }
        cls.method(
            "execute", statement, returns: LuaType.orError(.integer),
            doc: "Runs a statement; returns the number of rows inserted, changed or removed, or nil and an error.",
            example:
                "local db = sqlite.open(app.container.tmp .. \"/a.sqlite\") db:execute(\"create table if not exists t(x)\") return db:execute(\"insert into t values(?)\", { 5 })"
        ) { [unowned host] database, call in
            try failing(call) {
                let statement = try SQLiteStatement(database, try call.text(0))
                try bind(statement, call, host)
                return call.returns(try statement.run())
            }
        }
    }

    // MARK: Values

    private static func row(
        of statement: SQLiteStatement, _ names: [LuaValue], _ host: ScriptHost, _ memory: RowMemory
    ) throws(SQLiteError) -> LuaTable {
        let table = host.state.makeTable(fields: names.count)
        for (column, name) in names.enumerated() {
            switch statement.cell(column) {
            case .null: continue
            case .integer(let number): table[name] = .integer(number)
            case .real(let number): table[name] = .number(number)
            case .text(let bytes):
                // On its way, and in Lua.
                try memory.take(bytes.count * 2, for: name)
                table[name] = .string(LuaString(Array(bytes)))
            case .blob(let bytes):
                try memory.take(bytes.count, for: name)
                table[name] = host.values.datas.value(DataValue(Array(bytes)))
            }
        }
        return table
    }

    private static func bind(_ statement: SQLiteStatement, _ call: LuaCall, _ host: ScriptHost) throws {
        let names = statement.parameterNames
        guard case .table(let table) = call.value(1) else { return try statement.bind(names.map { _ in .null }) }
        var byName: NameTable<LuaValue> = [:]
        try table.forEach { key, value in
            if case .integer(let place) = key {
                if place < 1 || place > Int64(names.count) {
                    throw call.refuse(
                        1, "the statement has \(names.count) parameters, and there is a value for number \(place)")
                }
            } else if let name = key.textValue {
                guard names.contains(where: { $0?.dropFirst() == name[...] }) else {
                    throw call.refuse(1, "the statement has no parameter '\(name)'")
                }
                byName[name] = value
            }
            return true
        }
        try statement.bind(
            try names.enumerated().map { index, name in
                let value = name.flatMap { byName[String($0.dropFirst())] } ?? table[index + 1]
                return try self.value(value, name.map { String($0) } ?? "\(index + 1)", call, host)
            })
    }

    private static func value(
        _ value: LuaValue, _ name: String, _ call: LuaCall, _ host: ScriptHost
    ) throws -> SQLiteValue {
        switch value {
        case .nil: return .null
        case .boolean(let flag): return .integer(flag ? 1 : 0)
        case .integer(let number): return .integer(number)
        case .number(let number): return .real(number)
        case .string(let string):
            guard string.text != nil else {
                throw call.refuse(1, "parameter \(name) is not UTF-8 text: data(…) holds other bytes")
            }
            return .text(Array(string.bytes))
        default: break
        }
        if let date = host.values.dates.object(of: value) { return .text(Array(date.exchangeText.utf8)) }
        if let data = host.values.datas.object(of: value) { return .blob(data.bytes) }
        if host.values.nulls.object(of: value) != nil { return .null }
        throw call.refuse(1, "parameter \(name): \(call.state.describe(value)) is not a value of a database")
    }

    // MARK: Errors

    /// Returns the body's results, or nil and an error of the database or the file system.
    private static func failing(_ call: LuaCall, _ body: () throws -> LuaResults) throws -> LuaResults {
        do {
            return try stoppable(body)
        } catch let error as SQLiteError where !error.isStatementsFault {
            return call.returns(failure: error)
        } catch let error as FileError {
            return call.returns(failure: error)
        }
    }

    /// Runs a body; an interrupted statement ends the script.
    private static func stoppable<Result>(_ body: () throws -> Result) throws -> Result {
        do { return try body() } catch let error as SQLiteError where error.code == .interrupted { throw WorkStopped() }
    }
}

extension RowMemory {
    /// Counts a value, and refuses a long one that the limit has no room for, before it is copied.
    fileprivate func take(_ count: Int, for name: LuaValue) throws(SQLiteError) {
        add(count)
        guard count >= 1 << 16, !hasCapacity(for: count) else { return }
        throw SQLiteError(
            .noMemory,
            "not enough memory: the value of \(name.textValue ?? "") is larger than what is left of the limit")
    }
}
