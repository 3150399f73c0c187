internal import CLuaShim

/// Makes tables of globals over frozen libraries, copied from a state's current globals.
struct EnvironmentFactory {
    private let make: LuaFunction
    /// Puts a function into the namespace of an environment.
    private let place: LuaFunction
    /// Declares `require`.
    private let provide: LuaFunction

    /// The name of the chunk whose functions are the environments', which no message shows (`clua_where`).
    static let chunkName = "(environment)"

    /// - Parameters:
    ///   - state: the state, with the libraries in its globals.
    ///   - output: receives the output of scripts.
    /// - Throws: ``LuaError`` for lack of memory.
    init(_ state: LuaState, _ output: EngineOutput) throws(LuaError) {
        // Returns whether the text was accepted.
        let write = state.makeFunction(LuaFunctionDeclaration("write", [LuaParameter("text", .string)])) { call in
            guard let sink = output.current, case .string(let text) = call.value(0) else { return call.returns(false) }
            if try call.state.countOutput(text.bytes.count) {
                sink(text.bytes.span)
                if let buffer = ThreadHandover.take() as? OutputBuffer, output.mayWait {
                    return try call.waits(for: {
                        await buffer.waitForCapacity()
                        return { call in call.returns(true) }
                    })
                }
            }
            return call.returns(true)
        }
        let L = try state.enter(capacity: 3)
        clua_pushenvironmenttools(L)
        let newRandom = LuaFunction(state: state, reference: state.takeReference(on: L))
        let copy = LuaFunction(state: state, reference: state.takeReference(on: L))
        let error = LuaFunction(state: state, reference: state.takeReference(on: L))
        let made = try state.load(Self.source.utf8, name: "=" + Self.chunkName).call(
            .table(state.globals), .function(write), .function(copy), .function(newRandom), .function(error))
        guard made.count == 3, case .function(let make) = made[0], case .function(let place) = made[1],
            case .function(let provide) = made[2]
        else { throw LuaError(.runtime, "no environment can be made") }
        self.make = make
        self.place = place
        self.provide = provide
    }

    /// Gives an environment a function that has been put into tables of the state's globals.
    ///
    /// - Parameters:
    ///   - function: the function.
    ///   - path: the names of the tables, then its own.
    ///   - environment: its table of globals; nil for the libraries of environments that are made later.
    /// - Throws: ``LuaError`` for lack of memory.
    func place(_ function: LuaValue, at path: [String], in environment: LuaTable?) throws(LuaError) {
        _ = try place.call(arguments: [environment.map { .table($0) } ?? .nil, function] + path.map(LuaValue.text))
    }

    /// Declares `require` in all environments, also in later ones.
    ///
    /// - Parameter find: takes a module's name and the environment; returns its chunk and its origin, or nil and a
    ///   message.
    /// - Throws: ``LuaError`` for lack of memory.
    func provide(_ find: LuaFunction) throws(LuaError) { try provide.call(.function(find)) }

    /// Makes a new table of globals.
    func callAsFunction() throws(LuaError) -> LuaTable {
        guard case .table(let globals) = try make.call().first else {
            throw LuaError(.runtime, "no environment can be made")
        }
        return globals
    }

    /// A frozen library is an empty table in front of a copy of the library that scripts cannot access: its metatable
    /// is hidden, and `rawset` refuses it.
    private static let source = #"""
        local globals, take, copy, newRandom, error = ...
        local next, type, select, tostring, rawset = next, type, select, tostring, rawset
        local rawequal = rawequal
        local load, setmetatable, getmetatable, collectgarbage = load, setmetatable, getmetatable, collectgarbage
        local concat, sub, toProcess, pcall = globals.table.concat, globals.string.sub, globals.io.write, pcall
        local running, find = globals.coroutine.running, nil
        local random, randomseed = globals.math.random, globals.math.randomseed
        local frozen = setmetatable({}, { __mode = "k" })
        local copies = setmetatable({}, { __mode = "k" })
        -- The frozen libraries of each environment by name: its own, and at 1 those that it shares with others.
        local libraries = setmetatable({}, { __mode = "k" })
        local harmless = { collect = true, count = true, isrunning = true, step = true }

        local function entries(proxy)
            local contents = frozen[proxy]
            return function(_, key) return next(contents, key) end
        end

        local function length(proxy) return #frozen[proxy] end

        -- An empty table in front of the contents.
        local function front(contents, index, refuse)
            local proxy = setmetatable({}, {
                __index = index,
                __newindex = refuse,
                __pairs = entries,
                __len = length,
                __metatable = false,
            })
            frozen[proxy] = contents
            return proxy
        end

        local function refusal(name)
            return function() error(name .. " is read-only") end
        end

        local function freeze(library, name)
            local proxy = copies[library]
            if proxy then return proxy end
            local contents = {}
            proxy = front(contents, getmetatable(library) == nil and contents or library, refusal(name))
            copies[library] = proxy
            for key, value in next, library do
                if type(value) == "table" then value = freeze(value, name .. "." .. tostring(key)) end
                contents[key] = value
            end
            return proxy
        end

        local function guardedRawset(table, key, value)
            if frozen[table] then error("a library is read-only") end
            return rawset(table, key, value)
        end

        local function guardedCollector(option, argument)
            option = option or "collect"
            if not harmless[option] then error("collectgarbage '" .. tostring(option) .. "' is not allowed here") end
            return collectgarbage(option)
        end

        local function write(text) if not take(text) then toProcess(text) end end

        local function print(...)
            local texts = { ... }
            local count = select("#", ...)
            for position = 1, count do texts[position] = tostring(texts[position]) end
            write(concat(texts, "\t", 1, count) .. "\n")
        end

        local function writeAll(...)
            for position = 1, select("#", ...) do
                local text = select(position, ...)
                if type(text) == "userdata" then
                    -- An error of the host passes for its text.
                    local isText, its = pcall(sub, text, 1)
                    if isText then text = its end
                end
                if type(text) ~= "string" and type(text) ~= "number" then
                    error("bad argument #" .. position .. " to 'write' (string expected, got " .. type(text) .. ")")
                end
                write(tostring(text))
            end
        end

        -- The library with random numbers of the environment. What the host has put in the place of Lua's own functions
        -- stays.
        local refuseMath = refusal("math")
        local function makeMath(library)
            local contents, tables = copy(library)
            local ownRandom, ownSeed = newRandom(random, randomseed)
            if rawequal(contents.random, random) then contents.random = ownRandom end
            if rawequal(contents.randomseed, randomseed) then contents.randomseed = ownSeed end
            for _, key in next, tables do contents[key] = freeze(contents[key], "math." .. tostring(key)) end
            return front(contents, getmetatable(library) == nil and contents or library, refuseMath)
        end

        -- The library with a `write` that the host receives; made again when the host has changed the library.
        local lastIO, lastIOEntries, lastIOCount
        local function freezeIO(library)
            local count, isSame = 0, lastIO ~= nil
            for key, value in next, library do
                count = count + 1
                if isSame and not rawequal(lastIOEntries[key], value) then isSame = false end
            end
            if isSame and count == lastIOCount then return lastIO end
            lastIOEntries, lastIOCount = copy(library), count
            local changed = copy(library)
            changed.write = writeAll
            lastIO = freeze(changed, "io")
            return lastIO
        end

        local function libraryOf(environment, name)
            local own = libraries[environment]
            return own[name] or own[1][name]
        end

        -- Each environment runs a module once. What is being loaded is of a coroutine: when a module waits while it is
        -- loaded, other runs do not wait for it; they load it, too, and the first to end is everyone's.
        local function makeRequire(environment)
            local loaded, loading = {}, setmetatable({}, { __mode = "k" })
            return function(...)
                local name = ...
                if type(name) == "number" then name = tostring(name) end
                if type(name) ~= "string" then
                    local got = select("#", ...) == 0 and "no value" or type(name)
                    error("bad argument #1 to 'require' (string expected, got " .. got .. ")")
                end
                local value = loaded[name] or libraryOf(environment, name)
                if value then return value end
                local thread = running()
                local names = loading[thread] or {}
                if names[name] then
                    error("module '" .. name .. "' requires itself, by way of what it requires")
                end
                local chunk, origin = find(name, environment)
                if not chunk then error(origin) end
                loading[thread], names[name] = names, true
                local ended <close> = setmetatable({}, { __close = function() names[name] = nil end })
                value = chunk(name, origin)
                if loaded[name] then return loaded[name], origin end
                if value == nil then value = true end
                loaded[name] = value
                return value, origin
            end
        end

        -- What takes the place of a value of the globals in all environments: functions, and frozen libraries.
        local others = setmetatable({}, { __mode = "k" })
        others[globals.print], others[rawset], others[collectgarbage] = print, guardedRawset, guardedCollector
        local shared

        local function make()
            local environment, tables = copy(globals, others)
            local own = { math = false, io = false }
            own.math, own.io = nil, nil
            libraries[environment] = own
            for _, name in next, tables do
                local library = globals[name]
                if library == globals then
                    environment[name] = nil
                elseif name == "math" then
                    own.math = makeMath(library)
                elseif name == "io" and rawequal(library.write, toProcess) then
                    own.io = freezeIO(library)
                else
                    local proxy = freeze(library, tostring(name))
                    others[library], environment[name], shared = proxy, proxy, nil
                end
            end
            if not shared then
                shared = {}
                for name, library in next, globals do
                    if type(library) == "table" then shared[name] = others[library] end
                end
            end
            own[1] = shared
            for name, library in next, own do
                if name ~= 1 then environment[name] = library end
            end
            if rawequal(environment.load, load) then
                function environment.load(chunk, name, mode, ...)
                    if select("#", ...) == 0 then return load(chunk, name, mode, environment) end
                    return load(chunk, name, mode, ...)
                end
            end
            if globals._G == globals then environment._G = environment end
            if find and environment.require == nil then environment.require = makeRequire(environment) end
            return environment
        end

        local function provide(found)
            find, globals.require = found, nil
            for environment in next, libraries do rawset(environment, "require", makeRequire(environment)) end
        end

        -- The namespace is the host's in each environment, whatever a script has put there.
        local function place(environment, value, ...)
            local count, name = select("#", ...), (...)
            local library = globals[name]
            local proxy = copies[library]
            if environment then
                local own = libraries[environment]
                proxy = libraryOf(environment, name) or freeze(library, name)
                own[name] = proxy
                rawset(environment, name, proxy)
            elseif not proxy then
                return
            end
            for position = 2, count - 1 do
                local inner = select(position, ...)
                name, library = name .. "." .. inner, library[inner]
                local contents = frozen[proxy]
                if not frozen[contents[inner]] then contents[inner] = freeze(library, name) end
                proxy = contents[inner]
            end
            frozen[proxy][select(count, ...)] = value
        end

        return make, place, provide
        """#
}

/// The tables of globals of an engine.
final class EngineEnvironments {
    private let state: LuaState
    private let make: EnvironmentFactory
    /// The globals of runs without an environment, made on first use.
    private var own: LuaTable?
    /// The globals of environments in use.
    private var environments: [Weak] = []

    private struct Weak { weak var reference: LuaReference? }

    init(_ state: LuaState, _ output: EngineOutput) throws(LuaError) {
        self.state = state
        make = try EnvironmentFactory(state, output)
    }

    /// Makes an environment. Its globals are the engine's memory: no script makes them.
    func makeEnvironment(memoryLimit: Int? = nil) throws(LuaError) -> LuaEnvironment {
        clua_end_accounts(state.host)
        let account = try memoryLimit.map { limit throws(LuaError) in try MemoryAccount(state, limit: limit) }
        let environment = LuaEnvironment(reference: try make().reference, account: account)
        environments.removeAll { $0.reference == nil }
        environments.append(Weak(reference: environment.reference))
        return environment
    }

    /// The globals of an environment; for nil, the engine's own.
    func globals(of environment: LuaEnvironment?) throws(LuaError) -> LuaTable {
        if let environment {
            try check(environment)
            return LuaTable(state: state, reference: environment.reference)
        }
        if let own { return own }
        let globals = try make()
        own = globals
        return globals
    }

    /// Throws if an environment is of another engine.
    func check(_ environment: LuaEnvironment) throws(LuaError) {
        guard environment.reference.releases === state.releases else {
            throw LuaError(.argument, "the environment is of another LuaEngine")
        }
    }

    /// Declares `require` in existing and future environments.
    func provide(_ find: LuaFunction) throws(LuaError) { try make.provide(find) }

    /// Declares a global function, or `a.b` in a table, in existing and future environments, whatever had its name.
    func declare(
        _ function: TypedFunction, body: @escaping (LuaCall) throws -> LuaResults
    ) throws(LuaError) {
        let path = function.declaration.name.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
        let table = try namespace(of: path)
        let value = state.declareGlobal(function.declaration, body: body)
        table[path[path.count - 1]] = value
        let tables = environments.lazy.compactMap(\.reference).map { LuaTable(state: self.state, reference: $0) }
        let all = (own.map { [$0] } ?? []) + tables
        guard path.count > 1 else { return all.forEach { $0[path[0]] = value } }
        try make.place(value, at: path, in: nil)
        for globals in all { try make.place(value, at: path, in: globals) }
    }

    /// The table for a function in the state's globals, with those on the way; none is made if one cannot be.
    private func namespace(of path: [String]) throws(LuaError) -> LuaTable {
        let name = path.joined(separator: ".")
        guard !path.contains("") || path.count == 1 else {
            throw LuaError(.argument, "'\(name)' cannot be registered: it has a part without a name")
        }
        var table = state.globals
        for (position, part) in path.dropLast().enumerated() {
            switch table[part] {
            case .table(let inner): table = inner
            case .nil:
                for part in path[position..<(path.count - 1)] {
                    let inner = state.makeTable()
                    table[part] = .table(inner)
                    table = inner
                }
                return table
            case let value:
                let taken = path[...position].joined(separator: ".")
                throw LuaError(
                    .argument,
                    "'\(name)' cannot be registered: '\(taken)' is \(value.typeName.withArticle), not a table; choose another name"
                )
            }
        }
        return table
    }

    /// Releases references to the state.
    func forget() { own = nil }
}

/// Libraries for the scripts of a ``LuaEngine``, in addition to the basic functions, `print` and `io.write`.
public struct LuaLibraries: OptionSet, Sendable {
    public let rawValue: Int
    public init(rawValue: Int) { self.rawValue = rawValue }

    /// `coroutine`.
    public static let coroutine = LuaLibraries(rawValue: 1)
    /// `table`.
    public static let table = LuaLibraries(rawValue: 2)
    /// `string`, and the methods of strings.
    public static let string = LuaLibraries(rawValue: 4)
    /// `math`.
    public static let math = LuaLibraries(rawValue: 8)
    /// `utf8`.
    public static let utf8 = LuaLibraries(rawValue: 16)
    /// `os.clock`, `os.date`, `os.difftime` and `os.time`.
    public static let time = LuaLibraries(rawValue: 32)
    /// `debug.traceback` and `debug.getinfo`, for trusted scripts.
    public static let debug = LuaLibraries(rawValue: 64)
    /// All of `io` and `os`, for trusted scripts: file access is not restricted, and environments share the methods of
    /// file objects.
    public static let files = LuaLibraries(rawValue: 128)

    /// Libraries without access beyond the engine; the default.
    public static let standard: LuaLibraries = [.coroutine, .table, .string, .math, .utf8, .time]

    /// Removes the libraries that are not in the set from a state's globals.
    func narrow(_ globals: LuaTable) {
        let named: [(LuaLibraries, LuaValue)] = [
            (.coroutine, "coroutine"), (.table, "table"), (.string, "string"), (.math, "math"), (.utf8, "utf8"),
            (.debug, "debug"),
        ]
        for (library, name) in named where !contains(library) { globals[name] = nil }
        guard !contains(.files), case .table(let system) = globals["os"] else { return }
        let time = globals.state.makeTable(fields: 4)
        for name: LuaValue in ["clock", "date", "difftime", "time"] { time[name] = system[name] }
        globals["os"] = contains(.time) ? .table(time) : nil
        guard case .table(let files) = globals["io"] else { return }
        globals["io"] = .table(globals.state.makeTable(["write": files["write"]]))
    }
}
